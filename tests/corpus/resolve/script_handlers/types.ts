import type { Context } from './context'
import type { AppBase } from './app-base'

export type Env = { Bindings?: object }
export type Next = () => Promise<void>
export type Handler<
  E extends Env = any,
  P extends string = any,
  R = any
> = (c: Context<E, P>, next: Next) => R
export type MiddlewareHandler<E extends Env = any, P extends string = string> = (
  c: Context<E, P>,
  next: Next
) => Promise<Response | void>
export type H<E extends Env = any, P extends string = any, R = any> =
  | Handler<E, P, R>
  | MiddlewareHandler<E, P>
export interface HandlerInterface<E extends Env = Env, M extends string = string> {
  // app.get(handler)
  <
    P extends string = M extends never ? 'a' : M,
    R = any,
    E2 extends Env = E,
  >(
    handler: H<E2, P, R>
  ): AppBase<
    E2
  >

  // app.get(path, handler)
  <P extends string, R = any, E2 extends Env = E>(
    path: P,
    handler: H<E2, P, R>
  ): AppBase<E2>
}
