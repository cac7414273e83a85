package db

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/index"
)

// A reader with an overlay reads what the store holds after the records are written to it.
func TestOverlay(t *testing.T) {
	t.Parallel()
	g := openTest(t, "")
	defer func() { must(t, g.Close()) }()
	ts := g.store.maxVersion()
	rapid.Check(t, func(t *rapid.T) {
		want, over := map[string][]byte{}, overlay{}
		draw := func(w index.Writer) error {
			for range rapid.IntRange(0, 10).Draw(t, "changes") {
				k, v := fmt.Sprint("x", rapid.IntRange(0, 15).Draw(t, "key")), []byte(rapid.StringN(1, 3, -1).Draw(t, "value"))
				if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
					delete(want, k)
					must2(t, w.Delete([]byte(k)))
					continue
				}
				want[k] = v
				must2(t, w.Set([]byte(k), v))
			}
			return nil
		}
		ts++
		must2(t, g.store.commit(ts, func(w index.Writer) error {
			for k := range 16 {
				must2(t, w.Delete([]byte(fmt.Sprint("x", k))))
			}
			return draw(w)
		}))
		for range rapid.IntRange(0, 3).Draw(t, "commits") {
			r := newRecords(g.store.badger)
			must2(t, draw(r))
			over = append(over, r)
		}
		r := g.store.read(ts)
		defer r.close()
		r.over = over
		from := fmt.Sprint("x", rapid.IntRange(0, 15).Draw(t, "from"))
		var got, wanted []string
		for e, err := range r.Scan([]byte("x"), []byte(from)) {
			must2(t, err)
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

func must2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
