public final class Shape: Base {   //? class Shape
    var size: Int = 0

    func area(of other: Shape) -> Int {   //? function Shape.area
        return size
    }
}

protocol Drawable {   //? interface Drawable
}
