package store

import "io"

type Keeper interface {
	Keep(name string) error
}

type Box struct {
	Name string
	Next *Box //! Box
}

func (b *Box) Keep(name string) error { //! Box
	b.Name = name //! Box.Name
	return nil
}

type Wide struct{}

func (w Wide) Keep(name string, size int) error { return nil }

func (b *Box) Write(data []byte) (int, error) { return 0, nil } //! Box

func Fill(k Keeper, out io.Writer) { //! Keeper
	k.Keep("a") //! Keeper.Keep; Box.Keep
	out.Write(nil) //! Box.Write
	boxes := []*Box{{Name: "b"}, {Name: "c"}} //! Box; Box.Name
	for _, box := range boxes {
		box.Keep("d") //! Box.Keep; Keeper.Keep
	}
	one := &Box{Name: "e", Next: nil} //! Box; Box.Name; Box.Next
	r := one
	func(r Wide) {
		r.Keep("f", 1) //! Wide.Keep
	}(Wide{})
	r.Keep("g") //! Box.Keep; Keeper.Keep
}
