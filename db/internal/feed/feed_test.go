package feed_test

import (
	"errors"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/feed"
	"kith/db/internal/record"
	"kith/index"
)

// document returns a change that names three nodes, the last of which is new.
func document() *feed.Document {
	return &feed.Document{
		Format: 2, Database: "A", Version: 7, IDs: []index.ID{2, 5, 9}, Names: []any{int64(1), "two", "three"}, New: 1,
		Change: index.Change{First: 9, Edges: []index.EdgeChange{{U: 2, V: 9, Weight: 1}}},
	}
}

func TestBinaryForm(t *testing.T) {
	t.Parallel()
	b, err := document().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	d, err := feed.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if d.Key(2) != index.Int(1) || d.Key(5) != index.Str("two") || len(d.Keys) != 1 || d.Keys[0] != index.Str("three") || len(d.Edges) != 1 {
		t.Errorf("read %+v", d)
	}
	b[10] ^= 1
	if _, err := feed.Unmarshal(b); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("altered bytes: %v", err)
	}
}

// A document that is not consistent is refused where it is read.
func TestInconsistentDocuments(t *testing.T) {
	t.Parallel()
	observation, err := msgpack.Marshal(&record.Observation{Source: 2, Target: 8})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*feed.Document)
		want   error
	}{
		"another format":              {func(d *feed.Document) { d.Format = 1 }, index.ErrMismatch},
		"a key too few":               {func(d *feed.Document) { d.Names = d.Names[:2] }, index.ErrCorrupt},
		"a name that is no key":       {func(d *feed.Document) { d.Names[1] = 1.5 }, index.ErrCorrupt},
		"an empty key":                {func(d *feed.Document) { d.Names[1] = "" }, index.ErrCorrupt},
		"ids that do not ascend":      {func(d *feed.Document) { d.IDs[1] = 2 }, index.ErrCorrupt},
		"an edge of no relation":      {func(d *feed.Document) { d.Edges[0].Relation = 1 }, index.ErrCorrupt},
		"an edge of an unknown node":  {func(d *feed.Document) { d.Edges[0].U = 3 }, index.ErrCorrupt},
		"too many new nodes":          {func(d *feed.Document) { d.New = 4 }, index.ErrCorrupt},
		"an outcome of unknown nodes": {func(d *feed.Document) { d.Observed = []msgpack.RawMessage{observation} }, index.ErrCorrupt},
		"a decision of no candidates": {func(d *feed.Document) { d.Decisions = []msgpack.RawMessage{{0x80}} }, index.ErrCorrupt},
	} {
		d := document()
		c.change(d)
		b, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		read, err := feed.Unmarshal(b)
		if err == nil {
			_, _, err = read.Outcomes()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
