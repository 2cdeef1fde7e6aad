import type { Env, HandlerInterface, MiddlewareHandler, H } from './types'
import { Context } from './context'
class AppBase<E extends Env = Env> {
  get!: HandlerInterface<E, 'get'>
  post!: HandlerInterface<E, 'post'>
  use: MiddlewareHandlerInterface
  onError = (handler: (err: Error, c: Context<E>) => Response): AppBase<E> => { return this }
  request = (input: string): Response | Promise<Response> => { return null as any }
  route(path: string, app: AppBase): AppBase<E> { return this }
}
export { AppBase }
