#include <vector>  //? import vector
#include "near.hpp"  //? import near.hpp
using namespace far;  //? import far *
using std::vector;  //? import std vector

namespace shapes {  //? module shapes

/// A shape.
template <typename T>
class Shape : public Base<T>, private mix::In {  //? class shapes.Shape bases=Base,mix::In doc="A shape."; inherit Base; inherit mix; inherit In on mix
public:
    explicit Shape(int size) : size_(size) {}  //? constructor shapes.Shape.Shape explicit; write size_
    virtual ~Shape();  //? method shapes.Shape.~Shape virtual declaration
    int area() const override;  //? method shapes.Shape.area declaration
    static int count;  //? field shapes.Shape.count static
    T operator()(int x);  //? method shapes.Shape.operator() declaration
protected:
    enum class Color { Red, Green };  //? enum shapes.Shape.Color protected; constant shapes.Shape.Color.Red; constant shapes.Shape.Color.Green
private:
    int size_;  //? field shapes.Shape.size_ private
    Side *side_ = nullptr;  //? field shapes.Shape.side_ private; type Side
};

struct Point : Named { int x; };  //? struct shapes.Point bases=Named; field shapes.Point.x; inherit Named

using Key = vector<int>;  //? type shapes.Key; type vector

template <typename T>
int Shape<T>::area() const {  //? method shapes.Shape.area; type Shape
    auto local = this->side_->length(Point{1});  //? read side_ on this; call length on this.side_; call Point
    for (const auto& side : sides) {  //? read sides
        side.run();  //? call run on side
    }
    return far::compute<int>(local) + count;  //? read far; call compute on far; read count
}

Shape<int>* make(const Key& key, int n = LIMIT) {  //? function shapes.make; type Shape; type Key; read LIMIT
    return new Shape<int>(key.size());  //? call Shape; call size on key
}

}  // namespace shapes

int main(int argc, char** argv) {  //? function main
    shapes::Shape<int> shape{1};  //? read shapes; type Shape on shapes
    return shape.area();  //? call area on shape
}
