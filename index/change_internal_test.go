package index

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// replay repeats a change on s and writes the next version to store.
func replay(s *Snapshot, store *memory, c *Change) (*Snapshot, error) {
	b := s.Begin()
	if err := b.Replay(c); err != nil {
		return nil, err
	}
	if err := b.Write(store, Commit{Time: c.Time, Decisions: c.Decisions, Expect: c.After}); err != nil {
		return nil, err
	}
	return b.Snapshot(), nil
}

// A copy that replays each change has the same version with the same ids and the same bytes in its
// store. It refuses a change that was made to any other version, and one that was altered, and is
// then as before.
func TestReplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t, rapid.Bool().Draw(t, "directed"))
		h.now.Meta.KeepBytes = 1 << 20
		store, now := h.store.clone(), New(h.now.Meta) // with a dictionary of its own
		for range rapid.IntRange(1, 8).Draw(t, "commits") {
			before := len(h.ever)
			if h.commit(t); len(h.ever) == before {
				continue
			}
			c, err := GetChange(h.store, h.now.Meta.Version)
			if err != nil {
				t.Fatal(err)
			}
			if now, err = replay(now, store, c); err != nil {
				t.Fatal(err)
			}
			h.want.agree(t, now)
			if err := h.now.Same(now); err != nil || !reflect.DeepEqual(now.Meta, h.now.Meta) {
				t.Fatalf("%v: meta %+v, want %+v", err, now.Meta, h.now.Meta)
			}
			again, err := GetChange(store, now.Meta.Version)
			if err != nil || !reflect.DeepEqual(again, c) {
				t.Fatalf("the change of the copy is %+v (%v), want %+v", again, err, c)
			}
			if !maps.EqualFunc(store.entries, h.store.entries, func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Fatalf("the records of version %d differ", now.Meta.Version)
			}
			h.refuses(t, c)
		}
	})
}

// refuses fails t unless the change of the present version is refused by every other version, and
// by its own if an edge was altered.
func (h *history) refuses(t *rapid.T, c *Change) {
	versions := append([]past{{h.now, h.want}}, h.past...)
	last := len(versions) - 1
	for i, p := range versions {
		altered := *c
		if i == last && i > 0 { // the version that it was made to
			if len(c.Edges) == 0 {
				continue
			}
			altered.Edges = append([]EdgeChange{}, c.Edges...)
			altered.Edges[0].Weight = 3 + 2*altered.Edges[0].Weight
		}
		if _, err := replay(p.s, h.store.clone(), &altered); err == nil || i == last && !errors.Is(err, ErrMismatch) {
			t.Fatalf("version %d, altered: %v, replays the change of version %d: %v", p.s.Meta.Version, i == last, h.now.Meta.Version, err)
		}
		p.w.agree(t, p.s)
	}
}
