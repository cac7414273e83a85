package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// Snapshot is the graph at one version, with its keys, labels, feature vectors, log and events. It is immutable and
// safe for concurrent use; a [Batch] builds the next version.
//
// INVARIANT: the base of Graph has the edges of the generation that Meta names, and its overlay the changes of the log
// since; Verify compares both. Only a salvaged snapshot may differ, until it is written with Restart and opened again.
type Snapshot struct {
	Meta   Meta
	Graph  *Graph
	Log    Log
	Events Events // the newest events
	Dict   *Dict  // may know keys of later versions: use ID and Key

	nodes    nodeRecords
	features pages[[]float32]
	// featureBytes is the memory of the vectors in bytes.
	featureBytes int64
}

// New returns an empty graph with the options of meta.
func New(meta Meta) *Snapshot {
	meta.Format = Format
	meta.Labels = []Label{{}}
	d, _ := newDict(nil) // an empty list has no duplicates
	return &Snapshot{Meta: meta, Graph: NewGraph(meta.Directed), Dict: d}
}

// ID returns the id of the node with key k and whether there is one.
func (s *Snapshot) ID(k Key) (ID, bool) {
	id, ok := s.Dict.ID(k)
	return id, ok && s.Live(id)
}

// Key returns the key of id, which must be below Graph.NumNodes.
func (s *Snapshot) Key(id ID) Key { return s.Dict.Key(id) }

// Live reports whether id is a node that is not deleted.
func (s *Snapshot) Live(id ID) bool {
	return int(id) < s.Graph.nodes && !s.nodes.at(id).deleted
}

// Nodes yields the ids of the nodes that are not deleted, ascending.
func (s *Snapshot) Nodes() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ID(s.Graph.nodes) {
			if !s.nodes.at(id).deleted && !yield(id) {
				return
			}
		}
	}
}

// Label returns the number of id's label, 0 for none.
func (s *Snapshot) Label(id ID) uint16 { return s.nodes.at(id).label }

// Labelled yields the ids of the nodes with the label number l > 0, ascending.
func (s *Snapshot) Labelled(l uint16) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id, n := range s.nodes.all(s.Graph.nodes) {
			if n.label == l && !n.deleted && !yield(id) {
				return
			}
		}
	}
}

// CountLabels returns the number of nodes of each label, by label number. Number 0 counts the nodes without a
// label.
func (s *Snapshot) CountLabels() []int64 {
	n := make([]int64, len(s.Meta.Labels))
	n[0] = s.Meta.Live
	for i, l := range s.Meta.Labels[1:] {
		n[i+1] = l.Nodes
		n[0] -= l.Nodes
	}
	return n
}

// Features returns id's feature vector, or nil. The caller must not modify the slice.
func (s *Snapshot) Features(id ID) []float32 { return s.features.at(id) }

// Bytes returns the approximate memory that the graph, its dictionary, its log and the vectors hold, in bytes.
func (s *Snapshot) Bytes() int64 {
	return s.Graph.Bytes() + s.Dict.Bytes() + s.featureBytes + 16*int64(s.Log.Len())
}

// Load reads all keys and rows of the base into memory. All versions with this base use them from then on. It returns
// ErrCorrupt, which Err returns from then on, too, or the error of ctx.
func (s *Snapshot) Load(ctx context.Context) error {
	if err := cmp.Or(s.Graph.Load(ctx), s.Dict.load(ctx)); err != nil || s.nodes.base == nil {
		return err
	}
	return s.nodes.base.load(ctx)
}

// Err returns the error of the first block that could not be read, after which answers may be wrong.
func (s *Snapshot) Err() error {
	err := cmp.Or(s.Graph.Err(), s.Dict.err())
	if err == nil && s.nodes.base != nil {
		err = s.nodes.base.cache.err()
	}
	return err
}

// Check verifies that the parts of the snapshot are consistent: the dictionary in both directions, rows in order
// and symmetric, degrees, counters. It returns each violation it finds, up to 20, as ErrCorrupt, or the error of
// ctx.
func (s *Snapshot) Check(ctx context.Context) (breaches []error, err error) {
	c := &checker{s: s}
	if err := s.Dict.Check(ctx); err != nil && ctx.Err() == nil {
		c.report("dictionary: %v", err)
	}
	err = cmp.Or(c.rows(ctx), c.counters(ctx))
	return c.found, err
}

const maxFindings = 20

type checker struct {
	s     *Snapshot
	found []error
}

func (c *checker) report(format string, args ...any) {
	if len(c.found) < maxFindings {
		c.found = append(c.found, fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...))
	}
}

// nodesPerCheck is the number of nodes visited between two checks of a context.
const nodesPerCheck = 1 << 10

// rows checks that each row ascends, has valid weights and the stated degree, and that each edge also appears in
// the row of its other endpoint.
func (c *checker) rows(ctx context.Context) error {
	g := c.s.Graph
	for u := range ID(g.nodes) {
		if u%nodesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		to, w := g.Out(u)
		for i, v := range to {
			if (i+1)%edgesPerCheck == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			weight := planeAt(w, i, 1)
			if i > 0 && to[i-1] >= v || int(v) >= g.nodes || !ValidWeight(weight) {
				c.report("row of node %d: entry %d is node %d with weight %v", u, i, v, weight)
				continue
			}
			back, wb := g.In(v)
			if j, ok := slices.BinarySearch(back, u); !ok || planeAt(wb, j, 1) != weight {
				c.report("edge %d -> %d is not known to node %d", u, v, v)
			}
		}
		if d := sum(w, len(to)); d != g.Degree(u) {
			c.report("degree of node %d is %v, its row sums to %v", u, g.Degree(u), d)
		}
		if len(to) > 0 && c.s.nodes.at(u).deleted {
			c.report("node %d is deleted and has %d edges", u, len(to))
		}
	}
	return nil
}

func (c *checker) counters(ctx context.Context) error {
	s, m := c.s, &c.s.Meta
	var edges, loops, live int64
	for e := range s.Graph.Edges() {
		if edges++; edges%edgesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.U == e.V {
			loops++
		}
	}
	labelled := make([]int64, len(m.Labels))
	for id := range s.Nodes() {
		live++
		labelled[s.Label(id)]++
	}
	for i, l := range m.Labels {
		if i > 0 && l.Nodes != labelled[i] {
			c.report("label %q has %d nodes, %d are counted", l.Name, labelled[i], l.Nodes)
		}
	}
	if edges != m.Edges || loops != m.Loops || live != m.Live || int64(s.Graph.nodes) != m.Nodes {
		c.report("counters say %d ids, %d nodes, %d edges, %d loops; there are %d, %d, %d, %d",
			m.Nodes, m.Live, m.Edges, m.Loops, s.Graph.nodes, live, edges, loops)
	}
	if n := s.Dict.Len(); n < s.Graph.nodes {
		c.report("%d keys for %d nodes", n, s.Graph.nodes)
	}
	for id, v := range s.features.all() {
		if label := s.Label(id); v != nil && (int(label) >= len(m.Labels) || len(v) != m.Labels[label].Features) {
			c.report("node %d has %d features, its label has another number", id, len(v))
		}
	}
	return ctx.Err()
}
