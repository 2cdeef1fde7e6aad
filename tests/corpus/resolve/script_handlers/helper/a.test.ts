import { App } from '..'
import type { Context } from '../context'

describe('x', () => {
  let app: App
  const app2 = new App<{ Bindings: {} }>()
  beforeEach(() => {
    app = new App()
  })
  it('y', async () => {
    app.get('/a', (c) => c.json({})) //! Context.json; AppBase.get
    app2.post('/b', async (c) => { //! AppBase.post
      const id = c.req.param('id') //! Context.req; Req.param
      c.header('a', 'b') //! Context.header
      const { req } = c //! Context.req
      req.header('x') //! Req.header
      return c.json({ id }) //! Context.json
    })
    app.onError((err, c) => c.json({})) //! AppBase.onError; Context.json
    const res = await app.request('/x') //! AppBase.request
    app.get((c) => c.json(1)).get('/z', (c) => c.json(2)) //! AppBase.get; Context.json
  })
})
const handler = (c: Context) => {
  const v = c.req.raw //! Context.req; Req.raw
  return c.json(v) //! Context.json
}
