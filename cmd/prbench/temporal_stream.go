package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"kith/db/edgelist"
	"kith/model"
)

// event is a link at a time.
type event struct {
	model.Pair
	time int64 // seconds since 1970
}

// stream is a list of events in the order of their times.
type stream struct {
	name    string // name of its file without extensions
	sum     string // checksum of the file
	events  []event
	nodes   int
	targets []model.ID // nodes that some event leads to, ascending
}

// readStream reads an edge list with the given columns. Nodes are numbered in the order of their
// keys.
func readStream(name string, columns edgelist.Columns) (*stream, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := edgelist.NewReader(f, edgelist.Options{Name: name, Columns: columns})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var edges []edgelist.Edge
	for e, err := range r.Edges() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		edges = append(edges, e)
	}
	if len(edges) < 20 {
		return nil, fmt.Errorf("%s: %d events, at least 20 are needed", name, len(edges))
	}
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	s := newStream(base, edges)
	s.sum, err = sumFile(name)
	return s, err
}

// newStream numbers the nodes of the edges and sorts the events by time.
func newStream(name string, edges []edgelist.Edge) *stream {
	s := &stream{name: name}
	var keys []edgelist.Token
	for _, e := range edges {
		keys = append(keys, e.Src, e.Dst)
	}
	slices.SortFunc(keys, func(a, b edgelist.Token) int {
		return cmp.Or(cmp.Compare(a.Int, b.Int), strings.Compare(a.Str, b.Str))
	})
	keys = slices.Compact(keys)
	number := make(map[edgelist.Token]model.ID, len(keys))
	for i, k := range keys {
		number[k] = model.ID(i)
	}
	s.nodes = len(keys)
	for _, e := range edges {
		s.events = append(s.events, event{model.Pair{Source: number[e.Src], Target: number[e.Dst]}, e.Time})
		s.targets = append(s.targets, number[e.Dst])
	}
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	first := s.events[0].time
	for i := range s.events {
		s.events[i].time += 1 - min(first, 1) // 0 means no time in a graph
	}
	slices.Sort(s.targets)
	s.targets = slices.Compact(s.targets)
	return s
}

// quantile returns the time below which a share of the events lies, interpolated between two events
// as numpy.quantile does.
func (s *stream) quantile(share float64) float64 {
	at := share * float64(len(s.events)-1)
	i := int(math.Floor(at))
	lo, hi := s.events[i].time, s.events[min(i+1, len(s.events)-1)].time
	return float64(lo) + (at-float64(i))*float64(hi-lo)
}

// until returns the number of events that are not later than the quantile.
func (s *stream) until(share float64) int {
	t := s.quantile(share)
	return sort.Search(len(s.events), func(i int) bool { return float64(s.events[i].time) > t })
}

// span returns the range of the events of a part. The test part begins after the 85 % quantile of
// time, the valid part lies between the 70 and 85 % quantiles.
func (s *stream) span(part string) (from, to int) {
	if part == partValid {
		return s.until(0.70), s.until(0.85)
	}
	return s.until(0.85), len(s.events)
}

// The parts of a stream.
const (
	partTest  = "test"
	partValid = "valid"
)

// moment returns the end of the range of events that have the same time as the event at from.
func (s *stream) moment(from int) (to int) {
	for to = from + 1; to < len(s.events) && s.events[to].time == s.events[from].time; to++ {
	}
	return to
}
