package shop

import shop.util.roundPrice //! roundPrice

interface Keeper {
    fun keepItem(name: String): Boolean
}

open class Store(private val shelf: Shelf) : Keeper { //! Shelf; Keeper
    override fun keepItem(name: String): Boolean {
        shelf.putAway(name) //! Shelf.putAway
        return checkName(name) //! Store.checkName
    }

    private fun checkName(name: String): Boolean = name.isNotEmpty()
}

class Shelf {
    fun putAway(name: String) {
        roundPrice(1.0) //! roundPrice
    }
}
