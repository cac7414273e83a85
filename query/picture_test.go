package query_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/draw"
)

// A session that only looks draws nothing. Formats other than SVG are those of Render, whose error
// leaves no file.
func TestPictures(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	t.Chdir(t.TempDir())
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4"); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no paint")
	s := &query.Session{DB: g, Render: func(w io.Writer, p *draw.Picture, format string) error {
		if p.Width == 333 {
			return failure
		}
		_, err := fmt.Fprintf(w, "%s of %v by %v", format, p.Width, p.Height)
		return err
	}}
	looking := &query.Session{DB: g, ReadOnly: true, Render: s.Render}
	for _, c := range []struct {
		session    *query.Session
		text, file string
		err        error
		want       string // the beginning of the file; "" means no file
	}{
		{s, "DRAW 1 TO 'a.svg'", "a.svg", nil, "<?xml"},
		{s, "DRAW 1 TO 'a.PNG'", "a.PNG", nil, "png of 960 by 640"},
		{s, "DRAW 1 TO 'b.png' WITH (width = 333)", "b.png", failure, ""},
		{s, "DRAW 1 TO 'c.pdf'", "c.pdf", db.ErrInput, ""},
		{looking, "DRAW 1 TO 'd.svg'", "d.svg", db.ErrReadOnly, ""},
		{looking, "DRAW 1 TO 'd.png'", "d.png", db.ErrReadOnly, ""},
	} {
		if _, err := c.session.Run(t.Context(), c.text); !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.text, err, c.err)
		}
		b, err := os.ReadFile(c.file)
		if (err == nil) != (c.want != "") || string(b[:min(len(b), len(c.want))]) != c.want {
			t.Errorf("%s: file %.20q, %v", c.text, b, err)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 2 {
		t.Errorf("files %v, %v", left, err)
	}
}
