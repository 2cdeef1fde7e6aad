import { createStore, type Rack } from './store'
import * as all from './store'

const store = createStore(1)

export function read(): number {
  const made = createStore(2)
  const other = createStore(3) satisfies all.Store
  return made.getState() + other.getState() //! Store.getState
}

export function guess(thing, rack: Rack) {
  thing.replaceReducer(1) //! Store.replaceReducer
  rack.getState()
  return thing.getState() //! Store.getState
}
