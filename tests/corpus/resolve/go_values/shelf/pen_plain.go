//go:build !fancy

package shelf

type plainPen struct{}

func (p plainPen) Draw(line int) int { return line }

var pen = plainPen{}
