export interface Store {
  getState(): number
  replaceReducer(next: number): void
}

export interface Rack {
  getState(): string
}

export function createStore<
  State,
  Extension extends {} = {}
>(
  reducer: State,
  enhancer?: Extension
): Store
export function createStore(reducer: unknown): Store {
  return null as any
}

export const walk = (depth: number): number => {
  return depth > 0 ? walk(depth - 1) : 0 //! walk
}
