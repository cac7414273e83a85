// Package chart writes pictures in formats that package draw does not write.
package chart

import (
	"fmt"
	"io"

	"kith/query/draw"
)

// Render writes a picture in the format "png". It is a query.Session's Render.
func Render(w io.Writer, p *draw.Picture, format string) error {
	if format != "png" {
		return fmt.Errorf("no pictures of the format %s", format)
	}
	return PNG(w, p)
}
