export class Req<P extends string = '/'> {
  raw: Request
  param(key: string): string | undefined
  param(key?: string): unknown {}
  header(name: string): string | undefined {}
}
