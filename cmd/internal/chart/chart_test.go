package chart

import (
	"bytes"
	"image/png"
	"io"
	"testing"

	"kith/query/draw"
)

func TestRender(t *testing.T) {
	t.Parallel()
	line := []draw.Series{{Name: "line", Points: []draw.Point{{X: 1, Y: 1}, {X: 2, Y: 3}}, Band: []float64{0.1, 0.2}}}
	write := func(format string) ([]byte, error) {
		var b bytes.Buffer
		o := draw.Options{Title: "a line", Width: 680, Height: 450}
		o.Render = func(w io.Writer, p *draw.Picture) error { return Render(w, p, format) }
		err := draw.Curve(&b, line, "x", "y", o)
		return b.Bytes(), err
	}
	b, err := write("png")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
	if _, err := write("bmp9"); err == nil {
		t.Error("an unknown format was written")
	}
}
