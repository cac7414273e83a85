package web

import (
	"errors"
	"net/http/httptest"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A client that asks for it hears of the progress of a statement, and then of its answer or error.
func TestProgress(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	h := Options{Token: "secret"}.handler(g)
	h.tellEvery = 0
	s := httptest.NewServer(h.multiplexer())
	defer s.Close()
	c, err := Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var told []query.Progress
	c.Token, c.Progress = "secret", func(p query.Progress) { told = append(told, p) }
	for _, statement := range []string{"INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 5, 5 -> 1", "CREATE MODEL m"} {
		if _, err := c.Run(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	told = nil
	rows, err := c.Run(t.Context(), "TRAIN MODEL m")
	if err != nil || len(rows.Rows) != 1 || len(told) == 0 {
		t.Fatalf("%v, error %v, progress %v", rows, err, told)
	}
	if p := told[0]; p.What == "" || !p.Timed || p.Total != 1000 {
		t.Errorf("the progress is %+v", p)
	}
	c.Progress = nil
	if _, err := c.Run(t.Context(), "TRAIN MODEL m"); err != nil {
		t.Error(err)
	}
}

// An error after a line of progress is the same error, although the status is 200.
func TestProgressThenError(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	told := &teller{w: w}
	told.tell(query.Progress{What: "lines", Done: 3})
	if !told.end() {
		t.Fatal("no line was written")
	}
	told.tell(query.Progress{What: "lines", Done: 4})
	writeFault(w, &query.Error{Msg: "no node 7", Err: db.ErrNotFound})
	var last query.Progress
	_, err := readRows(w.Body, func(p query.Progress) { last = p })
	if !errors.Is(err, db.ErrNotFound) || last != (query.Progress{What: "lines", Done: 3}) || w.Code != 200 {
		t.Errorf("status %d, error %v, progress %v", w.Code, err, last)
	}
}
