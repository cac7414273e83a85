package store

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/index"
)

// A reader with pending records reads what the store holds after the records are written to it.
func TestPendingRecords(t *testing.T) {
	t.Parallel()
	s, err := Open("", Options{InMemory: true, Memory: 64 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ts := s.Newest()
	rapid.Check(t, func(t *rapid.T) {
		want, later := map[string][]byte{}, []*Records(nil)
		draw := func(w index.Writer) error {
			for range rapid.IntRange(0, 10).Draw(t, "changes") {
				k, v := fmt.Sprint("x", rapid.IntRange(0, 15).Draw(t, "key")), []byte(rapid.StringN(1, 3, -1).Draw(t, "value"))
				if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
					delete(want, k)
					must(t, w.Delete([]byte(k)))
					continue
				}
				want[k] = v
				must(t, w.Set([]byte(k), v))
			}
			return nil
		}
		ts++
		must(t, s.Commit(ts, func(w index.Writer) error {
			for k := range 16 {
				must(t, w.Delete([]byte(fmt.Sprint("x", k))))
			}
			return draw(w)
		}))
		for range rapid.IntRange(0, 3).Draw(t, "commits") {
			r := s.NewRecords()
			must(t, draw(r))
			later = append(later, r)
		}
		r := s.Read(ts, later...)
		defer r.Close()
		from := fmt.Sprint("x", rapid.IntRange(0, 15).Draw(t, "from"))
		var got, wanted []string
		for e, err := range r.Scan([]byte("x"), []byte(from)) {
			must(t, err)
			got = append(got, string(e.Key)+"="+string(e.Value))
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if v, ok, err := r.Get([]byte(k)); err != nil || !ok || string(v) != string(want[k]) {
				t.Fatalf("%s: %q, %v, %v, want %q", k, v, ok, err, want[k])
			}
			if k >= from {
				wanted = append(wanted, k+"="+string(want[k]))
			}
		}
		if strings.Join(got, " ") != strings.Join(wanted, " ") {
			t.Fatalf("scan from %s: %q, want %q", from, got, wanted)
		}
	})
}

func must(t rapid.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
