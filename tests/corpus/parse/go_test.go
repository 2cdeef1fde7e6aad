// Package shapes draws.
package shapes  //? package shapes

import (
	"fmt"  //? import fmt
	f "example.org/far/away"  //? import example.org/far/away as f
	. "example.org/dot"  //? import example.org/dot *
	_ "example.org/side"  //? import example.org/side as _
)

const Limit, other = 3, 4  //? constant Limit; constant other internal

var (
	registry = map[string]*Shape{}  //? variable registry internal; type Shape
	ErrBad   = fmt.Errorf("bad %d", Limit)  //? variable ErrBad; read fmt; call Errorf on fmt; read Limit
)

// Shape has sides.
//
// More about it.
type Shape[T any] struct {  //? struct Shape bases=Base,f.Mixin doc="Shape has sides."
	*Base  //? field Shape.Base; inherit Base
	f.Mixin  //? field Shape.Mixin; read f; inherit Mixin on f
	Name  string `json:"name"`  //? field Shape.Name
	sides []Side  //? field Shape.sides internal; type Side
}

type Drawer interface {  //? interface Drawer bases=Named
	Named  //? inherit Named
	Draw(c *Canvas) error  //? method Drawer.Draw; type Canvas
}

type Key = string  //? type Key
type Handler func(Shape[int]) error  //? type Handler; type Shape

// Area is twice the sides.
func (s *Shape[T]) Area(factor int, rest ...Option) (area float64, err error) {  //? method Shape.Area doc="Area is twice the sides."; type Shape; type T; type Option
	local := s.compute(factor)  //? call compute on s
	for i, side := range s.sides {  //? read sides on s
		local += side.Length * float64(i)  //? read Length on side
	}
	if shape, ok := registry["a"]; ok {  //? read registry
		return shape.Draw(f.New(rest...)), nil  //? call Draw on shape; read f; call New on f
	}
	switch v := any(local).(type) {
	case fmt.Stringer:  //? read fmt; type Stringer on fmt
		return v.String(), nil  //? call String on v
	}
	go func(x int) { helper[int](x) }(1)  //? type helper
	return Base{Name: "a", Size: Limit}.area, ErrBad  //? call Base; write Name on Base{}; write Size on Base{}; read Limit; read area on Base{}; read ErrBad
}

func helper[T Number](x T) Handler {  //? function helper internal; type Number; type Handler
	var inner Drawer = &Shape[T]{}  //? type Drawer; type Shape
	s := Shape[T]{sides: nil}  //? type Shape; write sides on Shape{}
	s.Name = "b"  //? write Name on s
	return func(Shape[int]) error { return inner.Draw(nil) }  //? type Shape; call Draw on inner
}

func TestArea(t *testing.T) {  //? function TestArea test; read testing; type T on testing
	t.Run("one", func(t *testing.T) { helper(1) })  //? call Run on t; read testing; type T on testing; call helper
}
