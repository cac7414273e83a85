package query_test

import (
	"errors"
	"os"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A picture is SVG, and its file is named so. A session that only looks draws nothing.
func TestPictures(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	t.Chdir(t.TempDir())
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4"); err != nil {
		t.Fatal(err)
	}
	s, looking := &query.Session{DB: g}, &query.Session{DB: g, ReadOnly: true}
	for _, c := range []struct {
		session    *query.Session
		text, file string
		err        error
		want       string // the beginning of the file; "" means no file
	}{
		{s, "DRAW 1 TO 'a.svg'", "a.svg", nil, "<?xml"},
		{s, "DRAW 1 TO 'b.SVG' WITH (width = 333)", "b.SVG", nil, "<?xml"},
		{s, "DRAW 1 TO 'c.png'", "c.png", db.ErrInput, ""},
		{s, "DRAW 1 TO 'svg'", "svg", db.ErrInput, ""},
		{looking, "DRAW 1 TO 'd.svg'", "d.svg", db.ErrReadOnly, ""},
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
