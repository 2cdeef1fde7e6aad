package org.example.shapes
import org.example.far.Away as Near  //? import org.example.far Away as Near
import org.example.all.*  //? import org.example.all *

/** A shape. */
@Service  //? decorator Service
sealed class Shape<T>(private val size: Int, name: T) : Base<T>(size), Drawable {  //? class Shape sealed bases=Base,Drawable doc="A shape."; field Shape.size private; inherit Base; read size; inherit Drawable
    companion object {  //? object Shape.Companion companion
        const val LIMIT = 10  //? constant Shape.Companion.LIMIT const
    }

    protected lateinit var late: Side  //? field Shape.late protected lateinit; type Side
    val area: Int  //? field Shape.area
        get() = size * LIMIT  //? read size; read LIMIT

    constructor(size: Int) : this(size, null)  //? constructor Shape.constructor

    override suspend fun <R> draw(on: R?): List<R> {  //? method Shape.draw override suspend; type List
        val local = on?.measure(size) ?: return emptyList()  //? call measure on on; read size; call emptyList
        local.sides.forEach { it.run(Near()) }  //? read sides on local; call forEach on local.sides; call run on it; call Near
        late.length = 3  //? read late; write length on late
        for (side in local) {
            when (side) {
                is Circle -> throw Failure("bad")  //? type Circle; call Failure
            }
        }
        return Shape.of<R>(local)  //? read Shape; call of on Shape
    }
}

interface Drawable {  //? interface Drawable
    fun draw()  //? method Drawable.draw
}

object Registry : Drawable {  //? object Registry bases=Drawable; inherit Drawable
    internal fun add(shape: Shape<*>) = shapes.add(shape)  //? method Registry.add internal; type Shape; read shapes; call add on shapes
}

enum class Color(val code: Int) {  //? enum Color; field Color.code
    RED(1),  //? constant Color.RED
    GREEN(2)  //? constant Color.GREEN
}

data class Pair(val left: Int, var right: Drawable)  //? class Pair data; field Pair.left; field Pair.right; type Drawable

typealias Key = String  //? type Key

fun Shape<Int>.twice(factor: Int = 2): Int {  //? function Shape.twice; type Shape
    return this.area * factor  //? read area on this
}

val registry by lazy { Registry }  //? variable registry; call lazy; read Registry

class ShapeTest {  //? class ShapeTest test
    @Test  //? decorator Test
    fun hasArea() {  //? method ShapeTest.hasArea test
        assertEquals(1, Shape(1).twice())  //? call assertEquals; call Shape; call twice on Shape()
    }
}
