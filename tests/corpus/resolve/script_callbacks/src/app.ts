export class Context<E = any> {
  body: string = ''
  answer(text: string): string {
    return text
  }
}

export type Next = () => Promise<void>

export type Handler<E = any, R = unknown> = (c: Context<E>, next: Next) => R

export type MiddlewareHandler<E = any> = (c: Context<E>, next: Next) => Promise<unknown>

export type H<E = any> = Handler<E> | MiddlewareHandler<E>

export interface HandlerInterface<E = any> {
  // a path, then handlers
  <P extends string, R>(
    path: P,
    ...handlers: [H<E>, H<E>]
  ): App
  <P extends string>(path: P, handler: H<E>): App
}

export class App {
  fetch!: HandlerInterface<any>

  mount(path: string, run: (c: Context, name: string) => void): App {
    return this
  }
}

export const logging = (): MiddlewareHandler => {
  return async function logging(c, next) {
    c.answer('seen') //! Context.answer
  }
}

export const plain: Handler = (c) => c.answer('plain') //! Context.answer
