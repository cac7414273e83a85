package pagerank

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"kith/cmd/internal/benchfmt"
	"kith/index"
)

// store measures the size of states in memory and, for those that are worth storing, in the store, and reading them
// from there after a reopen, with and without changes in between.
func (s *subject) store(ctx context.Context) error {
	for _, eps := range []float64{1e-5, 1e-6} {
		w := warm{subject: s, count: s.queries, eps: eps}
		for _, c := range []change{{kind: "insert", at: anywhere}, {kind: "insert", at: anywhere, edges: 1000}} {
			l := s.line("Store", fmt.Sprintf("changed=%d", c.edges), "eps="+benchfmt.Decimal(eps))
			if !s.wants(l) || !c.fits(s) {
				continue
			}
			if err := w.up(ctx); err != nil {
				return err
			}
			if err := w.reopen(ctx, l, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// reopen reads the states from a store after a change.
func (w *warm) reopen(ctx context.Context, l *benchfmt.Line, c change) error {
	next, _, err := w.apply(w.random(), c, nil)
	if err != nil {
		return err
	}
	p := refresh{subject: w.subject, line: l, cache: index.NewStates(w.eps, unbounded), eps: w.eps}
	for _, u := range w.sources {
		if err := p.get(ctx, next, w.kept, u); err != nil {
			return err
		}
		if stored := int(p.cache.Stats().Loads); stored < len(l.Took) { // the state was not worth storing
			l.Took, p.refreshed = l.Took[:stored], p.refreshed[:stored]
		}
	}
	if len(l.Took) == 0 {
		return nil
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	n := float64(len(w.sources))
	l.Add(float64(w.cache.Stats().Bytes)/n, "state-B")
	l.Add(float64(w.kept.bytes())/float64(len(l.Took)), "disk-B")
	l.Add(float64(len(l.Took))/n, "stored")
	return l.Write(w.stdout)
}

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
