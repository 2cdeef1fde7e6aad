import { App } from './app'
export type { Context } from './context'
export { App }
