package store

type Index struct{}

func newIndex() *Index { return &Index{} } //! Index

func (i *Index) Touch(name string) {} //! Index

type Timer struct{}

func (t Timer) Touch(name string) {}

func SaveAll(saver Saver, names []string) { //! Saver
	for _, name := range names {
		saver.SaveItem(name) //! Saver.SaveItem; Store.SaveItem
	}
}
