#include "shape.hpp"

double Shape::doubled() const { //! Shape
    return 2 * surface(); //! Shape.surface  //~ Circle.surface
}

double Circle::surface() const { //! Circle
    return radius_of(); //! Circle.radius_of
}

double total() {
    Circle circle; //! Circle
    return circle.doubled(); //! Shape.doubled
}
