package index

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/pages"
)

// Verify compares the records of a store with the snapshot in memory. It reads them as Open does,
// but compares each key, node record, edge of the base and feature vector with the snapshot as it
// reads it, so it needs memory for the changes since the base, not for a second graph. It returns
// ErrCorrupt with the first difference, or the error of ctx.
func (s *Snapshot) Verify(ctx context.Context, r Reader) error {
	meta, err := readMeta(r, []byte{prefixMeta})
	if err != nil {
		return err
	}
	if meta == nil {
		return fmt.Errorf("%w: there is no meta record", ErrCorrupt)
	}
	if !reflect.DeepEqual(*meta, s.Meta) {
		return fmt.Errorf("%w: the meta record is %+v, the graph in memory has %+v", ErrCorrupt, *meta, s.Meta)
	}
	v := &verifier{s, &opener{ctx: ctx, r: r, by: new(pages.Owner), s: New(*meta)}}
	v.s.Meta = *meta
	for _, step := range []func() error{v.baseMeta, v.readLog, v.keys, v.nodes, v.edges, v.events, v.vectors, v.values, v.variables} {
		if err := step(); err != nil {
			return err
		}
	}
	v.redo()
	v.compareChanges()
	v.compareNodes()
	v.compareValues()
	v.compareVariables()
	if len(v.found) > 0 {
		return v.found[0]
	}
	return nil
}

// verifier compares a snapshot with its records.
type verifier struct {
	memory *Snapshot
	*opener
}

// keys compares the keys of the base and of the log.
func (v *verifier) keys() error {
	v.erase()
	known := int64(0)
	err := v.eachKeys(func(first ID, keys []Key) error {
		for i, k := range keys {
			if id := first + ID(i); v.memory.Key(id) != k {
				return fmt.Errorf("%w: the key of node %d is stored as %v", ErrCorrupt, id, k.Literal())
			}
		}
		known = max(known, int64(first)+int64(len(keys)))
		return nil
	})
	if known != v.s.Meta.Nodes {
		v.report("%w: %d keys are stored for %d nodes", ErrCorrupt, known, v.s.Meta.Nodes)
	}
	return err
}

// edges compares the stored rows of the base with the served rows, and continues with the served
// rows.
func (v *verifier) edges() error {
	served, base := v.memory.Graph, NewGraph(v.memory.Graph.directed)
	base.directions = served.directions
	base.nodes, base.edges = int(v.s.Meta.BaseNodes), v.s.Meta.BaseEdges
	base.out.base, base.in.base = served.out.base, served.in.base
	v.s.Graph = base
	err := v.rows(prefixOut, base.out.base)
	if err == nil && v.s.Meta.InRows {
		err = v.rows(prefixIn, base.in.base)
	}
	return cmp.Or(err, v.degrees(base.Degree))
}

// rows compares the blocks of rows in one direction with the rows that are served.
func (v *verifier) rows(kind byte, served *base) error {
	entries, row, at := uint64(0), ID(0), 0
	err := v.eachRow(kind, func(u ID, e block.Entries) error {
		if u != row {
			row, at = u, 0
		}
		all := served.edges(u)
		end := at + len(e.To)
		if end > len(all.To) || !e.Equal(all.Sub(at, end)) {
			return fmt.Errorf("%w: the stored row of node %d differs from the one that is served", ErrCorrupt, u)
		}
		entries, at = entries+uint64(len(e.To)), end
		return nil
	})
	if n := served.numEdges(); entries != n {
		v.report("%w: the blocks %c have %d entries, %d are served", ErrCorrupt, kind, entries, n)
	}
	return err
}

// vectors compares the feature vectors.
func (v *verifier) vectors() error {
	bytes := int64(0)
	err := v.eachVector(func(id ID, f []float32) error {
		if !slices.Equal(f, v.memory.Features(id)) {
			return fmt.Errorf("%w: the features of node %d differ", ErrCorrupt, id)
		}
		bytes += 4 * int64(len(f))
		return nil
	})
	if n := v.s.Meta.FeatureBytes; bytes != n {
		v.report("%w: %d bytes of features are stored, the meta record says %d", ErrCorrupt, bytes, n)
	}
	return err
}

// values compares the values of properties of the base with those in memory, except values that the
// log has changed.
func (v *verifier) values() error {
	return v.eachValue(func(property uint16, id ID, stored Value) error {
		if v.memory.properties.since(property, id) != nil {
			return nil
		}
		return v.compareValue(property, id, stored)
	})
}

func (v *verifier) compareValue(property uint16, id ID, stored Value) error {
	if !v.memory.properties.at(property, id).Equal(stored) {
		return fmt.Errorf("%w: the value of node %d of property %q is stored differently", ErrCorrupt, id, v.s.Meta.Properties[property].Name)
	}
	return nil
}

// compareValues compares the values that the log has changed, in both directions.
func (v *verifier) compareValues() {
	for i := range v.s.Meta.Properties {
		property := uint16(i)
		for _, p := range []*properties{&v.s.properties, &v.memory.properties} {
			for id := range p.sinceBase(property) {
				stored := v.s.properties.since(property, id)
				if stored == nil {
					continue // it was set before the base, whose values are compared
				}
				if err := v.compareValue(property, id, *stored); err != nil {
					v.report("%w", err)
				}
			}
		}
	}
}

// compareChanges compares the log and the edges that it has changed.
func (v *verifier) compareChanges() {
	if !slices.Equal(v.s.log.changes, v.memory.log.changes) {
		v.report("%w: the log has %d changes, which are not the %d in memory", ErrCorrupt, v.s.log.len(), v.memory.log.len())
	}
	if g, in := v.s.Graph, v.memory.Graph; g.nodes != in.nodes || g.edges != in.edges {
		v.report("%w: %d nodes and %d edges are stored, %d and %d are in memory", ErrCorrupt, g.nodes, g.edges, in.nodes, in.edges)
	}
	for _, g := range []*Graph{v.s.Graph, v.memory.Graph} {
		for u, r := range g.out.rows.All() {
			if r == nil {
				continue
			}
			to, _ := v.s.Graph.Out(u)
			if in, _ := v.memory.Graph.Out(u); len(in) != len(to) {
				v.report("%w: node %d is stored with %d edges, and has %d in memory", ErrCorrupt, u, len(to), len(in))
			}
			for _, w := range to {
				e, in := v.s.Graph.Between(u, w), v.memory.Graph.Between(u, w)
				if !slices.Equal(in, e) {
					v.report("%w: edge %d -> %d is stored as %v, and is %v in memory", ErrCorrupt, u, w, e, in)
				}
			}
		}
	}
}

// nodes compares the node records of the base with the records in memory, except records that the
// log has changed.
func (v *verifier) nodes() error {
	changed := map[ID]bool{}
	for _, l := range v.records {
		if l.record == nil || l.version <= v.s.Meta.Base {
			continue
		}
		for _, n := range l.nodes {
			changed[n.id] = true
		}
	}
	return v.eachNode(func(id ID, n node) error {
		if !changed[id] {
			return v.compareNode(id, n)
		}
		return nil
	})
}

func (v *verifier) compareNode(id ID, stored node) error {
	if n := v.memory.nodes.at(id); n != stored {
		return fmt.Errorf("%w: the record of node %d is stored as %+v, and is %+v in memory", ErrCorrupt, id, stored, n)
	}
	return nil
}

// compareNodes compares the node records that the log has changed, and the records of nodes that
// are newer than the base.
func (v *verifier) compareNodes() {
	for id, n := range v.s.nodes.sinceBase {
		if err := v.compareNode(id, n); err != nil {
			v.report("%w", err)
		}
	}
	for id := range v.memory.nodes.sinceBase {
		if int64(id) >= v.s.Meta.BaseNodes {
			if err := v.compareNode(id, v.s.nodes.at(id)); err != nil {
				v.report("%w", err)
			}
		}
	}
}

// compareVariables compares the variables with those in memory.
func (v *verifier) compareVariables() {
	if changed := v.s.variables.changes(v.memory.variables); len(changed) > 0 {
		v.report("%w: variable %q is stored with another value than is served", ErrCorrupt, changed[0].Name)
	}
}
