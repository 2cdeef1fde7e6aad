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
