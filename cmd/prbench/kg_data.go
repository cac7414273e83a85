package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kith/db"
)

// triple is an edge of a knowledge graph.
type triple struct{ source, relation, target string }

// knowledge is a knowledge graph.
type knowledge struct {
	name               string
	train, valid, test []triple
	entities           map[string]bool           // of all parts
	linked             map[string]bool           // the entities of train
	answers            map[triple][]string       // by kgQuestion.key
	apart              bool                      // no triple of valid joins nodes that train joins
	counts             map[kgSide]map[string]int // of the triples of train, by answer
	kinds              map[string]string         // of relations: 1-1, 1-n, n-1 or n-n
}

// kgSide is a side of a relation: the targets, or the sources if inverse is set.
type kgSide struct {
	relation string
	inverse  bool
}

// kgQuestion asks for the targets of a source, or for the sources of a target.
type kgQuestion struct {
	triple
	inverse bool
	among   []string // the entities that the answer is ranked among; nil means all
}

// side returns the side that the answers are on.
func (q kgQuestion) side() kgSide { return kgSide{q.relation, q.inverse} }

// key returns the triple with "" in place of the answer.
func (q kgQuestion) key() triple {
	if q.inverse {
		return triple{"", q.relation, q.target}
	}
	return triple{q.source, q.relation, ""}
}

// given returns the node that is asked about, and answer the one that is looked for.
func (q kgQuestion) given() string {
	if q.inverse {
		return q.target
	}
	return q.source
}

func (q kgQuestion) answer() string {
	if q.inverse {
		return q.source
	}
	return q.target
}

// bothWays returns the questions about triples.
func bothWays(all []triple) (questions []kgQuestion) {
	for _, t := range all {
		questions = append(questions, kgQuestion{triple: t}, kgQuestion{triple: t, inverse: true})
	}
	return questions
}

// readKnowledge reads a folder.
func readKnowledge(dir string) (*knowledge, error) {
	k := &knowledge{
		name: filepath.Base(dir), entities: map[string]bool{}, linked: map[string]bool{}, answers: map[triple][]string{}, counts: map[kgSide]map[string]int{}, kinds: map[string]string{},
	}
	for name, to := range map[string]*[]triple{"train": &k.train, "valid": &k.valid, "test": &k.test} {
		all, err := readTriples(filepath.Join(dir, name+".tsv"))
		if err != nil {
			return nil, err
		}
		*to = all
	}
	for _, t := range slices.Concat(k.train, k.valid, k.test) {
		k.entities[t.source], k.entities[t.target] = true, true
		for _, q := range bothWays([]triple{t}) {
			k.answers[q.key()] = append(k.answers[q.key()], q.answer())
		}
	}
	for q, all := range k.answers {
		slices.Sort(all)
		k.answers[q] = slices.Compact(all)
	}
	joined := map[[2]string]bool{}
	for _, t := range k.train {
		k.linked[t.source], k.linked[t.target] = true, true
		joined[[2]string{t.source, t.target}], joined[[2]string{t.target, t.source}] = true, true
		for _, q := range bothWays([]triple{t}) {
			if k.counts[q.side()] == nil {
				k.counts[q.side()] = map[string]int{}
			}
			k.counts[q.side()][q.answer()]++
		}
	}
	k.apart = !slices.ContainsFunc(k.valid, func(t triple) bool { return joined[[2]string{t.source, t.target}] })
	k.classify()
	return k, nil
}

// classify finds the kinds of the relations: n stands for a mean of at least 1.5 (Bordes et al.,
// NIPS 2013).
func (k *knowledge) classify() {
	triples := map[string]int{}
	for _, t := range k.train {
		triples[t.relation]++
	}
	for r, n := range triples {
		each := func(inverse bool) string {
			if float64(n) >= 1.5*float64(len(k.counts[kgSide{r, inverse}])) {
				return "n"
			}
			return "1"
		}
		k.kinds[r] = each(false) + "-" + each(true)
	}
}

// readTriples reads a file, or the file with .gz.
func readTriples(path string) (all []triple, err error) {
	f, err := os.Open(path)
	packed := errors.Is(err, fs.ErrNotExist)
	if packed {
		f, err = os.Open(path + ".gz")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if packed {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		p := strings.Split(s.Text(), "\t")
		if len(p) != 3 {
			return nil, fmt.Errorf("%s, line %d: %d columns, want source, relation, target", f.Name(), line, len(p))
		}
		all = append(all, triple{p[0], p[1], p[2]})
	}
	return all, s.Err()
}

// load returns a database of the training triples.
func (k *knowledge) load(ctx context.Context) (*db.DB, error) {
	return inMemory(true, func(g *db.DB) error {
		for part := range slices.Chunk(k.train, 20000) {
			err := g.Update(ctx, func(tx *db.Tx) error {
				for _, t := range part {
					if err := tx.PutEdge(db.Str(t.source), db.Str(t.target), db.Via(t.relation)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return g.Compact(ctx) // as after a load from files
	})
}
