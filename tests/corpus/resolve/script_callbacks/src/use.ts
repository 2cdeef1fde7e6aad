import { App, type Context } from './app'

const app = new App()

class Other {
  answer(text: string) {
    return text
  }
}

app.fetch('/', (c) => c.answer('one')) //! Context.answer; App.fetch

export function start(others: Other[]) {
  const inner = new App()
  inner.fetch('/', (c) => { //! App.fetch
    return c.answer(c.body) //! Context.answer; Context.body
  })
  inner.mount('/', (c, name) => c.answer(name)) //! Context.answer; App.mount
  return others.map((other) => other.answer('x')) //! Other.answer
}

export const build = () => new App()

export function assemble() {
  const made = new App()
  return made
}

export function chained() {
  build().mount('/', () => {}) //! App.mount
  assemble().mount('/', () => {}) //! App.mount
  new App().fetch('/', () => 1).mount('/', () => {}) //! App.fetch; App.mount
}
