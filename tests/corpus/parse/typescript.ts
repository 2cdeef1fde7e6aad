import Default, { one as uno, type Two } from "./near";  //? import ./near default as Default; import ./near one as uno; import ./near Two
import * as space from "../far";  //? import ../far as space
import "side-effect";  //? import side-effect
import legacy = require("legacy");  //? import legacy as legacy
export * from "./all";  //? import ./all * exported
export { a, b as c } from "./some";  //? import ./some a exported; import ./some b as c exported
export * as grouped from "./group";  //? import ./group as grouped exported
export { helper, LIMIT as MAX };  //? exports helper, MAX; import  LIMIT as MAX exported; read helper; read LIMIT; read MAX

/**
 * A shape in the plane.
 *
 * More about it.
 */
@Injectable({ scope: Scope.Root })  //? decorator Injectable; write scope on Injectable#0; read Scope; read Root on Scope
export default class Shape<T extends Base> extends space.Base<T> implements Drawable, Serial<T> {  //? class Shape exported default bases=space.Base,Drawable,Serial doc="A shape in the plane."; type Base; inherit space; inherit Base on space; inherit Drawable; inherit Serial
  private size = 1;  //? field Shape.size private
  static readonly ORIGIN: Point = new Point(0, 0);  //? field Shape.ORIGIN static readonly; type Point; call Point
  #secret?: string;  //? field Shape.#secret private
  handler = (event: Event): void => {  //? method Shape.handler; type Event
    this.size = event.detail.size;  //? write size on this; read detail on event; read size on event.detail
  };

  constructor(private readonly service: Service, @Inject(TOKEN) protected other?: Other) {  //? constructor Shape.constructor; field Shape.service private readonly; field Shape.other protected; type Service; decorator Inject; read TOKEN; type Other
    super(service);
  }

  get area(): number {  //? method Shape.area get
    const local = this.service.compute(this.size);  //? read service on this; call compute on this.service; read size on this
    return local.value ?? fallback(local);  //? read value on local; call fallback
  }

  protected static async load<K>(key: K): Promise<Shape<K>> {  //? method Shape.load protected static async; type Promise; type Shape
    const [first, { second, third: renamed }] = await fetchAll<K>(key);  //? read third; call fetchAll
    return first.map((item) => item.transform(second, renamed)).filter(Boolean);  //? call map on first; call transform on item; call filter on first.map(); read Boolean
  }
}

export abstract class Drawn {  //? class Drawn exported abstract
  abstract draw(on: Canvas): void;  //? method Drawn.draw abstract; type Canvas
}

export interface Drawable extends Named, Sized<number> {  //? interface Drawable exported bases=Named,Sized; inherit Named; inherit Sized
  readonly title: string;  //? field Drawable.title readonly
  draw(on: Canvas): void;  //? method Drawable.draw; type Canvas
}

type Key = keyof Shape<any> | Two;  //? type Key internal; type Shape; type Two

export enum Color {  //? enum Color exported
  Red,  //? constant Color.Red
  Green = "green",  //? constant Color.Green
}

// Helps.
function helper(a: number, ...rest: Two[]): asserts a is 1 {  //? function helper internal doc="Helps."; type Two
  function nested() {  //? function helper.nested
    return uno(a, rest);  //? call uno
  }
  const inner = async () => nested();  //? function helper.inner; call nested
  return inner();  //? call inner
}

export const LIMIT = 10;  //? constant LIMIT exported
export const compute = async (shape: Shape<any>): Promise<number> => {  //? function compute exported; type Shape; type Promise
  try {
    return await legacy.run({ shape, limit: LIMIT });  //? read legacy; call run on legacy; write limit on legacy.run#0; read LIMIT
  } catch (error) {
    throw new Failure(`bad ${helper(1)}`, error);  //? call Failure; call helper
  }
};

namespace Inner {  //? module Inner internal
  export function deep(): void {}  //? function Inner.deep exported
}

declare module "patched" {  //? module patched internal declare
  function extra(): Key;  //? function patched.extra; type Key
}

function over(a: string): void;  //? function over internal
function over(a: any) {  //? function over internal
  const mod = import("./lazy");  //? import ./lazy
  return Default.create<Two>(a) as Shape<Two>;  //? read Default; call create on Default; type Two; type Shape; type Two
}

export const Frame = memo(() => {  //? function Frame exported; call memo
  return null;
});

describe("shapes", () => {  //? test shapes test; call describe
  it("has an area", () => {  //? test shapes.has·an·area test; call it
    expect(compute(new Shape(stub))).toBe(1);  //? call expect; call compute; call Shape; read stub; call toBe on expect()
  });
});
