package main

import (
	"example.org/other/index"
	disk "example.org/shop/store"
)

func main() {
	s := disk.NewStore() //! NewStore
	s.SaveItem("a") //! Store.SaveItem; Saver.SaveItem
	disk.SaveAll(s, nil) //! SaveAll
	index.Touch("b")
	NewStore()
}

func NewStore() {}

func use(store *disk.Store) { //! Store
	store.SaveItem("c") //! Store.SaveItem; Saver.SaveItem
}
