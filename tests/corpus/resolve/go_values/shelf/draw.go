package shelf

func draw() int {
	// Begin here.
	return pen.Draw(1) //! plainPen.Draw
}
