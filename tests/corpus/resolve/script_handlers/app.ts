import { AppBase } from './app-base'
import type { Env } from './types'
export class App<E extends Env = Env> extends AppBase<E> {
  constructor(options = {}) { super(options) }
}
