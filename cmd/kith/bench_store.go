package main

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"kith/index"
	"kith/ppr"
)

// store measures what a state takes in memory and in the store, where those are that are worth
// storing, and how it is taken from there after a reopen: as it was, and after changes.
func (s *subject) store(ctx context.Context) error {
	for _, c := range []change{{kind: "none"}, {kind: "insert", edges: 1000, hops: anywhere}} {
		l := s.line("Store", "eps="+decimal(benchEps), "changed="+decimal(float64(c.edges)))
		if !s.wants(l) || !c.fits(s) {
			continue
		}
		if err := s.reopen(ctx, l, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *subject) reopen(ctx context.Context, l *benchLine, c change) error {
	r, kept := s.random(), shelf{}
	sources := s.sources(r, warmed)
	cache, err := s.states(ctx, sources, benchEps)
	if err != nil {
		return err
	}
	if err := cache.Write(kept); err != nil {
		return err
	}
	stored, n := len(kept), float64(len(sources))
	next, _, err := s.apply(r, c, nil)
	if err != nil {
		return err
	}
	reopened, t := index.NewStates(benchEps, 1<<62), truth{subject: s}
	for _, u := range sources {
		loads := reopened.Stats().Loads
		var st *ppr.State
		if err := l.time(func() (err error) {
			st, err = reopened.At(ctx, next, kept, stateOf(u))
			return err
		}); err != nil {
			return err
		}
		if reopened.Stats().Loads == loads { // it was not worth storing
			l.took = l.took[:len(l.took)-1]
			continue
		}
		if err := t.state(ctx, next.Graph, st, ppr.MaxNorm); err != nil {
			return err
		}
	}
	if stored == 0 {
		return nil
	}
	t.add(l)
	l.add(float64(cache.Stats().Bytes)/n, "state-B")
	l.add(float64(kept.bytes())/float64(stored), "disk-B")
	l.add(float64(stored)/n, "stored")
	return l.write(s.stdout)
}

// shelf is a store in memory.
type shelf map[string][]byte

// Set implements index.Writer.
func (s shelf) Set(key, value []byte) error {
	s[string(key)] = value
	return nil
}

// Delete implements index.Writer.
func (s shelf) Delete(key []byte) error {
	delete(s, string(key))
	return nil
}

// Get implements index.Reader.
func (s shelf) Get(key []byte) (value []byte, ok bool, err error) {
	value, ok = s[string(key)]
	return value, ok, nil
}

// Scan implements index.Reader.
func (s shelf) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(s)) {
			ahead := bytes.Compare([]byte(k), from) < 0
			if strings.HasPrefix(k, string(prefix)) && !ahead && !yield(index.Entry{Key: []byte(k), Value: s[k]}, nil) {
				return
			}
		}
	}
}

func (s shelf) bytes() (n int) {
	for k, v := range s {
		n += len(k) + len(v)
	}
	return n
}
