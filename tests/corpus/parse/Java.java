package org.example.shapes;  //? package org.example.shapes

import java.util.List;  //? import java.util List
import java.util.*;  //? import java.util *
import static org.example.Tools.helper;  //? import org.example.Tools helper

/**
 * A shape in the plane.
 * More.
 */
@Service("shape")  //? decorator Service
public abstract sealed class Shape<T extends Comparable<T>> extends Base<T> implements Drawable, Serial<T> permits Circle, Square {  //? class Shape abstract sealed bases=Base,Drawable,Serial doc="A shape in the plane. More."; type Comparable; inherit Base; inherit Drawable; inherit Serial; type Circle; type Square
    private static final int LIMIT = 10;  //? constant Shape.LIMIT private static final
    protected List<String> names, others;  //? field Shape.names protected; field Shape.others protected; type List
    int plain = compute(LIMIT);  //? field Shape.plain internal; call compute; read LIMIT

    static {
        helper();  //? call helper
    }

    public Shape(int size, Point... points) throws IOException {  //? constructor Shape.Shape; type Point; type IOException
        super(size);
        this.plain = size;  //? write plain on this
        var local = new Point(size, points);  //? call Point
        local.move(1).by(plain);  //? call move on local; call by on local.move(); read plain
    }

    @Override
    public <K> Map<K, T> area(final K key) {  //? method Shape.area override; type Map
        for (String name : names) {  //? read names
            if (name instanceof Text text && text.isLong()) {  //? type Text; call isLong on text
                return Collections.emptyMap();  //? read Collections; call emptyMap on Collections
            }
        }
        Runnable runner = new Runnable() {  //? class Shape.area.new·Runnable private anonymous bases=Runnable; type Runnable; call Runnable
            @Override
            public void run() {  //? method Shape.area.new·Runnable.run override
                Shape.this.names.forEach(item -> print(item));  //? read Shape; read this on Shape; read names on Shape.this; call forEach on Shape.this.names; call print
            }
        };
        return switch (key) {
            case Circle(int radius, var other) -> other.map(String::valueOf);  //? call Circle; call map on other; call valueOf on String
            default -> throw new IllegalStateException();  //? call IllegalStateException
        };
    }

    abstract void draw();  //? method Shape.draw internal abstract

    interface Visitor<R> extends Walker<R> {  //? interface Shape.Visitor internal bases=Walker; inherit Walker
        int DEPTH = 3;  //? constant Shape.Visitor.DEPTH
        R visit(Shape<?> shape);  //? method Shape.Visitor.visit; type Shape
        default void done() {}  //? method Shape.Visitor.done default
    }

    static final class Circle extends Shape<Integer> {  //? class Shape.Circle internal static final bases=Shape; inherit Shape; inherit Integer
        void draw() { Outer.Inner.call(); }  //? method Shape.Circle.draw internal; read Outer; read Inner on Outer; call call on Outer.Inner
    }
}

record Pair<A, B>(A left, @Nullable B right) implements Serial<A> {  //? record Pair internal bases=Serial; field Pair.left; field Pair.right; decorator Nullable; inherit Serial
    Pair {  //? constructor Pair.Pair internal
        Objects.requireNonNull(left);  //? read Objects; call requireNonNull on Objects; read left
    }
    static Pair<?, ?> empty() { return new Pair<>(null, null); }  //? method Pair.empty internal static; type Pair; call Pair
}

enum Color implements Named {  //? enum Color internal bases=Named; inherit Named
    RED("r") {  //? class Color.RED enum
        @Override String code() { return "red"; }  //? method Color.RED.code internal override
    },
    GREEN;  //? constant Color.GREEN

    private final String code;  //? field Color.code private final
    Color(String code) { this.code = code; }  //? constructor Color.Color internal; write code on this
    String code() { return code; }  //? method Color.code internal; read code
}

@interface Marker {  //? interface Marker internal annotation
    String value() default "";  //? method Marker.value
}

class ShapeTest {  //? class ShapeTest internal test
    @Test  //? decorator Test
    void hasArea() { assertEquals(1, new Circle().area(2)); }  //? method ShapeTest.hasArea internal test; call assertEquals; call Circle; call area on Circle()
}

class Noted {  //? class Noted internal
    @Deprecated // gone
    public
    // why
    final int stop() { return 1; }  //? method Noted.stop final deprecated sig="public final int stop()"
}
