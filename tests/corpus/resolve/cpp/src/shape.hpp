#pragma once

class Shape {
public:
    virtual double surface() const = 0;
    double doubled() const;
};

class Circle : public Shape { //! Shape
public:
    double surface() const override;
private:
    double radius_of() const { return 1; }
};
