<?php

namespace Example\Shapes;

use Example\Far\Away as Near;  //? import Example\Far Away as Near
use Example\Group\{One, Two as Second};  //? import Example\Group One; import Example\Group Two as Second
use function Example\helper;  //? import Example helper

require_once "legacy.php";  //? import legacy.php

/**
 * A shape.
 */
#[Entity]  //? decorator Entity
abstract class Shape extends Base implements Drawable, \Countable  //? class Shape abstract bases=Base,Drawable,Countable,Sized doc="A shape."; inherit Base; inherit Drawable; inherit Countable
{
    use Sized;  //? inherit Sized

    const LIMIT = 10;  //? constant Shape.LIMIT
    private static ?int $count = 0;  //? field Shape.count private static

    public function __construct(private readonly int $size, Near $near)  //? constructor Shape.__construct; field Shape.size private readonly; type Near
    {
        parent::__construct($size);  //? call __construct on parent
        $this->near = $near->run(self::LIMIT);  //? write near on this; call run on near; read LIMIT on self
    }

    public static function make(One ...$ones): static  //? method Shape.make static; type One
    {
        foreach ($ones as $key => $one) {
            helper($one->name);  //? call helper; read name on one
        }
        return static::build(new Circle(1))->sides()->first;  //? call build on static; call Circle; call sides on static.build(); read first on static.build().sides()
    }

    abstract protected function draw();  //? method Shape.draw protected abstract
}

interface Drawable extends Named  //? interface Drawable bases=Named; inherit Named
{
    public function draw();  //? method Drawable.draw
}

trait Sized  //? trait Sized
{
    public int $size;  //? field Sized.size
}

enum Color: string implements Named  //? enum Color bases=Named; inherit Named
{
    case Red = 'r';  //? constant Color.Red
}

function outside(Shape $shape): ?Color  //? function outside; type Shape; type Color
{
    return array_map(fn($x) => Color::from($x), $shape->all());  //? call array_map; read Color; call from on Color; call all on shape
}

const VERSION = 1;  //? constant VERSION
define('OTHER', 2);  //? constant OTHER; call define

class ShapeTest extends TestCase  //? class ShapeTest test bases=TestCase; inherit TestCase
{
    public function testArea()  //? method ShapeTest.testArea test
    {
        $this->assertSame(1, outside(null));  //? call assertSame on this; call outside
    }
}
