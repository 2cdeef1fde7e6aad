export function alone(thing) {
  return thing.getState()
}
