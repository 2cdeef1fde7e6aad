package shop.util

import shop.*

fun roundPrice(value: Double): Double = value

fun fillStore(): Boolean {
    val store = Store(Shelf()) //! Store; Shelf
    return store.keepItem("a") //! Store.keepItem
}
