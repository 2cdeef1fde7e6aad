package shelf

import "reflect"

type Book struct {
	Title string
}

type cover struct {
	colour string
}

type Album struct {
	cover
	pages int
}

type Books []*Book

type Case struct {
	rows [2]Books
}

func (b *Book) String() string { return b.Title } //! Book.Title

func (c Case) Fill(more int) Case { return c }

func paint(album *Album, value reflect.Value) string {
	_ = value.Type().String()
	return album.cover.colour //! cover.colour
}

func count(holder Case) int {
	found := make(Books, 0)
	found = append(found, new(Book))
	for _, row := range holder.rows { //! Case.rows
		_ = row[0].Title //! Book.Title
	}
	made := new(Album)
	filled := Case{}.
		Fill(1). //! Case.Fill
		Fill(2) //! Case.Fill
	_ = filled.rows //! Case.rows
	return made.pages + len(found[0].Title) //! Album.pages; Book.Title
}
