package replica

import (
	"bytes"
	"testing"

	"github.com/nats-io/nats.go"

	"kith/db"
	"kith/db/dbtest"
)

// FuzzFrame reads any bytes as a frame: an error, or the changes that its headers tell of.
func FuzzFrame(f *testing.F) {
	g := dbtest.Open(f, &db.Options{InMemory: true, ChangeBytes: 1 << 20})
	var all frame
	for i := range 5 {
		if err := g.Update(f.Context(), func(tx *db.Tx) error { return tx.PutEdge(i, i+1) }); err != nil {
			f.Fatal(err)
		}
	}
	err := g.View(f.Context(), func(tx *db.Tx) error {
		for c, err := range tx.Changes(0) {
			if err != nil {
				return err
			}
			b, err := c.MarshalBinary()
			if err != nil {
				return err
			}
			all.add(c, b)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, size := range []int{1 << 20, 100} { // the parts of a frame are put together again
		var a assembler
		var changes []db.Change
		for _, m := range all.messages("s", size) {
			h, err := readHeader(m.Header)
			if err != nil {
				f.Fatal(err)
			}
			if changes, err = a.add(h, m.Data); err != nil {
				f.Fatal(err)
			}
		}
		if len(changes) != 5 {
			f.Fatalf("%d changes", len(changes))
		}
	}
	f.Add(all.data)
	f.Add(all.data[:len(all.data)/2])
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := all.header
		h.part, h.parts = 1, 1
		changes, err := readFrame(h, b)
		if err == nil && len(changes) != 5 {
			t.Fatalf("%d changes", len(changes))
		}
	})
}

// A frame whose beginning is missing, or whose end never comes, is dropped; the next one is read.
func TestAssembler(t *testing.T) {
	t.Parallel()
	old := header{first: 7, last: 7, parts: 3, publisher: "old"}
	whole := header{first: 7, last: 6, parts: 1, part: 1, publisher: "new"}
	part := func(h header, n int) header { h.part = n; return h }
	for what, all := range map[string][]header{
		"no beginning": {part(old, 2), part(old, 3), whole}, "no end": {part(old, 1), part(old, 2), whole},
		"a hole": {part(old, 1), part(old, 3), whole}, "twice": {part(old, 1), part(old, 1), part(old, 3), whole},
	} {
		var a assembler
		for _, h := range all {
			if changes, err := a.add(h, nil); err != nil || len(changes) > 0 {
				t.Errorf("%s: %d changes, %v", what, len(changes), err)
			}
		}
		if a.data != nil {
			t.Errorf("%s: something remains", what)
		}
	}
}

// Headers that no publisher writes are refused.
func TestReadHeader(t *testing.T) {
	t.Parallel()
	good := header{first: 3, last: 5, before: "b", after: "a", part: 1, parts: 2, publisher: "p"}
	for name, values := range map[string][]string{
		headerFirst: {"", "0", "-1", "9", "x"}, headerLast: {"", "1", "99999999999999999999"}, headerPart: {"", "0", "3"}, headerParts: {"", "0", "9999999999"},
	} {
		for _, v := range values {
			m := &nats.Msg{}
			good.write(m)
			if h, err := readHeader(m.Header); err != nil || h != good {
				t.Fatalf("%+v, %v", h, err)
			}
			m.Header.Set(name, v)
			if _, err := readHeader(m.Header); err == nil {
				t.Errorf("%s %q is accepted", name, v)
			}
		}
	}
}
