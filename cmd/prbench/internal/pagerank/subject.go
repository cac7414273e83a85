package pagerank

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"kith/cmd/prbench/internal/benchfmt"
	"kith/db/edgelist"
	"kith/index"
	"kith/ppr"
)

// Parameters of the states.
const (
	benchAlpha = 0.85
	benchEps   = 1e-5 // unless a line says otherwise
)

// subject is a graph being measured.
type subject struct {
	*bench
	name   string // parameter of lines that names the graph
	snap   *index.Snapshot
	linked []index.ID // nodes with edges
	solver *ppr.Solver
}

// subject reads a graph and prints the line of reading it.
func (b *bench) subject(ctx context.Context, file string, directed bool) (*subject, error) {
	s := &subject{bench: b, name: benchfmt.Graph(file), solver: ppr.NewSolver()}
	l := s.line("Read")
	if err := l.Time(func() (err error) {
		s.snap, err = readSnapshot(ctx, file, directed, b.columns)
		return err
	}); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	g := s.snap.Graph
	for u := range index.ID(g.NumNodes()) {
		if g.Degree(u) > 0 {
			s.linked = append(s.linked, u)
		}
	}
	if len(s.linked) < 2 {
		return nil, fmt.Errorf("%s: no graph to measure: %d nodes with an edge", file, len(s.linked))
	}
	l.Add(float64(g.NumNodes()), "nodes")
	l.Add(float64(g.NumEdges()), "edges")
	l.Add(float64(g.Bytes()), "graph-B")
	return s, s.print(l, func() error { return nil })
}

// readSnapshot reads the edges of a file into memory as a bulk load does.
func readSnapshot(ctx context.Context, file string, directed bool, columns edgelist.Columns) (*index.Snapshot, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := edgelist.NewReader(f, edgelist.Options{Columns: columns})
	if err != nil {
		return nil, err
	}
	bulk := index.New(index.Meta{Directed: directed, Alpha: benchAlpha, Epsilon: benchEps}).Bulk(index.BulkOptions{})
	for e, err := range list.Edges() {
		if err == nil {
			err = bulk.Edge(keyOf(e.Src), keyOf(e.Dst), 0, e.Weight, e.Time)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	blocks := memoryStore{}
	s, _, err := bulk.Write(ctx, blocks, 1, &index.Stored{Source: blocks})
	if err != nil {
		return nil, err
	}
	return s, s.Load(ctx)
}

func keyOf(t edgelist.Token) index.Key {
	if t.IsInt {
		return index.Int(t.Int)
	}
	return index.Str(t.Str)
}

// line returns a new line of a benchmark of the graph. Parameters have the form key=value.
func (s *subject) line(benchmark string, parameters ...string) *benchfmt.Line {
	return benchfmt.New(benchmark, append([]string{s.name}, parameters...)...)
}

// print measures a line, if it is to be printed, and prints it, if it has a sample.
func (s *subject) print(l *benchfmt.Line, measure func() error) error {
	if !s.match.MatchString(l.Name) {
		return nil
	}
	if err := measure(); err != nil || len(l.Took) == 0 {
		return err
	}
	return l.Write(s.stdout)
}

// random returns the random numbers of a line. They do not depend on which other lines are
// measured.
func (s *subject) random() *rand.Rand { return rand.New(rand.NewPCG(s.seed, 0)) }

// draw returns a random node with edges.
func (s *subject) draw(r *rand.Rand) index.ID { return s.linked[r.IntN(len(s.linked))] }

// sources returns up to k different random nodes with edges, in ascending order.
func (s *subject) sources(r *rand.Rand, k int) []index.ID {
	all := slices.Clone(s.linked)
	k = min(k, len(all))
	for i := range k {
		j := i + r.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:k])
	return all[:k]
}

func stateOf(u index.ID) index.StateID {
	return index.StateID{Form: ppr.Column, Alpha: benchAlpha, Source: u}
}

func indicator(u index.ID) ppr.Vector { return ppr.Vector{Node: []index.ID{u}, Value: []float64{1}} }

// memoryStore is an in-memory store.
type memoryStore map[string][]byte

// Set implements index.Writer.
func (s memoryStore) Set(key, value []byte) error {
	s[string(key)] = value
	return nil
}

// Delete implements index.Writer.
func (s memoryStore) Delete(key []byte) error {
	delete(s, string(key))
	return nil
}

// Get implements index.Reader.
func (s memoryStore) Get(key []byte) (value []byte, ok bool, err error) {
	value, ok = s[string(key)]
	return value, ok, nil
}

// Read implements index.Source.
func (s memoryStore) Read(key []byte) ([]byte, bool, error) { return s.Get(key) }

// Scan implements index.Reader.
func (s memoryStore) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(s)) {
			ahead := bytes.Compare([]byte(k), from) < 0
			if strings.HasPrefix(k, string(prefix)) && !ahead && !yield(index.Entry{Key: []byte(k), Value: s[k]}, nil) {
				return
			}
		}
	}
}

func (s memoryStore) bytes() (n int) {
	for k, v := range s {
		n += len(k) + len(v)
	}
	return n
}
