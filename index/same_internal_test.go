package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkSound fails t for each violation that Check finds.
func checkSound(t rapid.TB, s *Snapshot) {
	t.Helper()
	breaches, err := s.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range breaches {
		t.Error(err)
	}
}

// Same returns ErrCorrupt with the first difference, unless t has the same graph as s.
func (s *Snapshot) Same(t *Snapshot) error {
	if s.Meta.Version != t.Meta.Version || s.Graph.nodes != t.Graph.nodes {
		return fmt.Errorf("%w: version %d with %d ids, and version %d with %d", ErrCorrupt,
			s.Meta.Version, s.Graph.nodes, t.Meta.Version, t.Graph.nodes)
	}
	if !slices.Equal(s.events.all(), t.events.all()) {
		return fmt.Errorf("%w: the newest events differ", ErrCorrupt)
	}
	if changed := s.variables.changes(t.variables); len(changed) > 0 {
		return fmt.Errorf("%w: the variables differ: %q", ErrCorrupt, changed)
	}
	for id := range ID(s.Graph.nodes) {
		if row := s.Graph.out.row(id); !row.Equal(t.Graph.out.row(id)) {
			return fmt.Errorf("%w: the rows of node %d differ", ErrCorrupt, id)
		}
		if s.Key(id) != t.Key(id) || s.nodes.at(id) != t.nodes.at(id) || !slices.Equal(s.Features(id), t.Features(id)) {
			return fmt.Errorf("%w: the records of node %d differ", ErrCorrupt, id)
		}
		for i := range s.Meta.Properties {
			if !s.Value(uint16(i), id).Equal(t.Value(uint16(i), id)) {
				return fmt.Errorf("%w: the values of node %d differ", ErrCorrupt, id)
			}
		}
	}
	return nil
}

func wantCorrupt(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("%s: got error %v, want ErrCorrupt", what, err)
	}
}
