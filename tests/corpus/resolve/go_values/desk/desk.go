package desk

type lamp struct {
	Title string
}

func label(things []lamp) string {
	return things[0].Title //! lamp.Title
}
