// Package chart writes pictures in formats that package draw does not write.
package chart

import (
	"fmt"
	"io"

	"kith/model/trial"
	"kith/query/draw"
)

// Write writes the regret curves of a result in the format "svg" or "png".
func Write(w io.Writer, r *trial.Result, title, format string) error {
	o := draw.Options{Title: title, Standalone: true, Width: 680, Height: 450}
	if format != "svg" {
		o.Render = func(w io.Writer, p *draw.Picture) error { return Render(w, p, format) }
	}
	return draw.Regret(w, r, o)
}

// Render writes a picture in the format "png". It is a query.Session's Render.
func Render(w io.Writer, p *draw.Picture, format string) error {
	if format != "png" {
		return fmt.Errorf("no pictures of the format %s", format)
	}
	return PNG(w, p)
}
