import type { Env } from './types'
import { Req } from './request'
interface JSONRespond {
  <T>(
    object: T,
    status?: number
  ): Response
}
export class Context<E extends Env = any, P extends string = any> {
  #req: Req<P> | undefined
  env: E['Bindings'] = {}
  get req(): Req<P> {
    return this.#req!
  }
  json: JSONRespond = <T>(object: T) => { return this.newResponse(object) }
  header = (name: string, value?: string): void => {}
  newResponse(a: any): any {}
}
