package index

import (
	"encoding/binary"
	"fmt"
	"slices"

	"kith/ppr"
)

// StateOf names a cached PageRank state: that of one source, in one form. Undirected graphs keep
// column states alone, which serve both forms.
type StateOf struct {
	Form   ppr.Form
	Source ID
}

// storedState is what is kept of a state: its estimate y. The residual is recomputed against the
// graph that it is loaded for, so a stored state is exact whatever has changed since.
type storedState struct {
	version uint64 // the state stood at
	nodes   []ID
	y       []float32
}

// encode writes the version, the number of nodes, the nodes as differences less one, then the
// values.
func (s *storedState) encode() []byte {
	b := binary.AppendUvarint(nil, s.version)
	b = binary.AppendUvarint(b, uint64(len(s.nodes)))
	next := ID(0)
	for _, u := range s.nodes {
		b = binary.AppendUvarint(b, uint64(u-next))
		next = u + 1
	}
	for _, y := range s.y {
		b = appendFloat32(b, y)
	}
	return b
}

func decodeState(b []byte) (*storedState, error) {
	d := &decoder{b: b}
	s := &storedState{version: d.uvarint()}
	n := d.count()
	s.nodes = make([]ID, 0, n)
	for next := uint64(0); n > 0 && d.err == nil; n-- {
		next += d.uvarint()
		if next > maxEntries {
			return nil, fmt.Errorf("%w: node %d of a state", ErrCorrupt, next)
		}
		s.nodes = append(s.nodes, ID(next))
		next++
	}
	s.y = make([]float32, 0, min(len(s.nodes), len(d.b)/4))
	for range s.nodes {
		s.y = append(s.y, d.float32())
	}
	if slices.ContainsFunc(s.y, infinite) {
		return nil, fmt.Errorf("%w: a value of a state is not finite", ErrCorrupt)
	}
	return s, d.end()
}

func putState(w Writer, of StateOf, s *storedState) error {
	return putSplit(w, stateKey(of.Form, of.Source), s.encode())
}

// getState reads a stored state, nil if there is none that stands at version or before.
func getState(r Reader, of StateOf, version uint64) (*storedState, error) {
	b, ok, err := getSplit(r, stateKey(of.Form, of.Source))
	if err != nil || !ok {
		return nil, err
	}
	s, err := decodeState(b)
	if err != nil {
		return nil, fmt.Errorf("state of node %d: %w", of.Source, err)
	}
	if s.version > version {
		return nil, nil
	}
	return s, nil
}
