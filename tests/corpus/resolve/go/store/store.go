package store

import "fmt"

type Saver interface {
	SaveItem(name string) error
}

type Store struct {
	items []string
	index *Index //! Index
}

func NewStore() *Store { //! Store
	return &Store{index: newIndex()} //! Store; newIndex
}

func (s *Store) SaveItem(name string) error { //! Store
	fmt.Println(name)
	s.index.Touch(name) //! Index.Touch
	return s.check(name) //! Store.check
}

func (s *Store) check(name string) error { return nil } //! Store
