package index

import (
	"bytes"
	"encoding/binary"
)

// Restart writes to w all records of s except those of WriteBase, at the same version, under a generation number
// that was never used. The log begins with the next version. States and damaged feature blocks are deleted.
func (s *Snapshot) Restart(r Reader, w Writer, generation uint32) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.BaseNodes, m.BaseEdges, m.BaseEvents = m.Nodes, m.Edges, int64(len(s.Events.All()))
	if err := deleteRange(r, w, []byte{prefixState}, nil, nil); err != nil {
		return nil, err
	}
	if err := s.restartFeatures(r, w); err != nil {
		return nil, err
	}
	return &next, s.WriteGeneration(w, generation)
}

// restartFeatures writes the blocks of feature vectors of s and deletes all others.
func (s *Snapshot) restartFeatures(r Reader, w Writer) error {
	blocks := map[uint32]bool{}
	for id, x := range s.features.all() {
		if x != nil {
			blocks[id/featureBlock] = true
		}
	}
	for e, err := range r.Scan([]byte{prefixFeature}, nil) {
		if err != nil {
			return err
		}
		if key, _, ok := splitKey(e.Key); ok && len(key) == 5 && blocks[binary.BigEndian.Uint32(key[1:])] {
			continue
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	for no := range blocks {
		if err := s.writeFeatures(w, no); err != nil {
			return err
		}
	}
	return nil
}
