package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// dictionary collects the keys of the base and of the log. Each list of keys states its first id, so lost keys do
// not shift others.
func (v *salvager) dictionary() error {
	keys := make([]Key, v.s.Meta.Nodes)
	known := make([]bool, len(keys))
	add := func(first ID, list []Key) error {
		if int64(first)+int64(len(list)) > int64(len(keys)) {
			return fmt.Errorf("%w: keys of nodes %d to %d of %d", ErrCorrupt, first, int(first)+len(list)-1, len(keys))
		}
		for i, k := range list {
			keys[int(first)+i], known[int(first)+i] = k, true
		}
		return nil
	}
	err := v.each(prefixDict, func(first uint32, block []byte) error {
		list, err := decodeKeys(block)
		if err != nil {
			return err
		}
		return add(first, list)
	})
	if err != nil {
		return err
	}
	for _, l := range v.records {
		if l.record == nil {
			continue
		}
		if err := add(l.first, l.keys); err != nil {
			v.report("log of version %d: %w", l.version, err)
		}
	}
	v.assignLostKeys(keys, known)
	v.s.Dict, err = newDict(keys)
	return err
}

// assignLostKeys assigns unused keys to the ids whose keys are lost, and records these ids in v.lost.
func (v *salvager) assignLostKeys(keys []Key, known []bool) {
	taken := map[Key]bool{}
	for i, ok := range known {
		if ok && len(keys[i].str) > 0 {
			taken[keys[i]] = true
		}
	}
	for i, ok := range known {
		if ok {
			continue
		}
		for name := fmt.Sprintf("lost:%d", i); ; name += "'" {
			if k := Str(name); !taken[k] {
				keys[i] = k
				break
			}
		}
		if n := len(v.lost); n > 0 && v.lost[n-1].end == ID(i) {
			v.lost[n-1].end++
		} else {
			v.lost = append(v.lost, idRange{ID(i), ID(i) + 1})
		}
	}
	for _, s := range v.lost {
		v.report("%w: the keys of nodes %d to %d are lost, and with them the nodes", ErrCorrupt, s.first, s.end-1)
	}
}

// each passes the blocks of one kind to visit, and reports the errors of visit.
func (v *salvager) each(kind byte, visit func(no uint32, block []byte) error) error {
	return v.blocks(kind, func(no uint32, block []byte) error {
		if err := visit(no, block); err != nil {
			v.damaged = true
			v.report("block %c %d of generation %d: %w", kind, no, v.s.Meta.Generation, err)
		}
		return nil
	})
}

func (v *salvager) nodes() error {
	lose := func(no uint32, err error) error {
		r := idRange{ID(no * nodeBlock), ID(min(int64(no+1)*nodeBlock, v.s.Meta.BaseNodes))}
		v.maybeDeleted = append(v.maybeDeleted, r)
		return fmt.Errorf("the labels of nodes %d to %d are lost, and which of them were deleted: %w", r.first, r.end-1, err)
	}
	next := uint32(0)
	missing := func(end uint32) {
		for end = min(end, v.s.Meta.nodeBlocks()); next < end; next++ {
			v.damaged = true
			v.report("%w", lose(next, missingBlock(prefixNode, next)))
		}
		next = end + 1
	}
	err := v.each(prefixNode, func(no uint32, block []byte) error {
		missing(no)
		if err := v.nodeBlock(no, block, v.setNode); err != nil {
			return lose(no, err)
		}
		return nil
	})
	missing(v.s.Meta.nodeBlocks())
	return err
}

// adjacency reads the readable blocks into the base.
func (v *salvager) adjacency() error {
	var blocks [][]byte
	var last Edge
	next := uint32(0)
	err := v.each(prefixAdjacency, func(no uint32, block []byte) error {
		if no > next {
			v.damaged = true
			v.report("%w: the edges from node %d on are lost", missingBlock(prefixAdjacency, next), last.U)
		}
		next = no + 1
		err := eachEdge(block, func(e Edge) error {
			last = e
			return nil
		})
		if err != nil {
			return fmt.Errorf("the edges from node %d on are lost: %w", last.U, err)
		}
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	if err != nil {
		return err
	}
	v.s.Graph, err = newBase(v.s.Meta.Directed, int(v.s.Meta.BaseNodes), func(visit func(Edge) error) error {
		for _, b := range blocks {
			if err := eachEdge(b, visit); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && v.s.Graph.edges != v.s.Meta.BaseEdges {
		v.damaged = true
	}
	return err
}

// features reads the readable blocks of feature vectors.
func (v *salvager) features() error {
	for f, err := range scanSalvage(v.r, prefixFeature, 5, nil) {
		if err != nil {
			return err
		}
		if len(f.Key) != 5 {
			v.report("%w", f.err)
			continue
		}
		no := binary.BigEndian.Uint32(f.Key[1:])
		if f.err == nil {
			f.err = v.featureBlock(no, f.Value, v.setVector)
		}
		if f.err != nil {
			v.report("features of nodes %d to %d are lost: %w", no*featureBlock, (no+1)*featureBlock-1, f.err)
		}
	}
	return nil
}

// events reads the readable blocks of events.
func (v *salvager) events() error {
	n := int64(0)
	err := v.each(prefixEvent, func(_ uint32, block []byte) error {
		list, err := decodeEvents(block, v.s.Meta.Nodes)
		if err != nil {
			return err
		}
		n += int64(len(list))
		v.s.Events = v.s.Events.add(list...)
		return nil
	})
	if most := v.s.Meta.BaseEvents; err == nil && n != most {
		v.report("%w: %d of the %d newest events of the base are lost", ErrCorrupt, most-n, most)
	}
	return err
}
