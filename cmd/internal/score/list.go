package score

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"kith/db"
	"kith/db/edgelist"
)

// list holds the sources of a file, or its pairs.
type list struct {
	sources []db.Key
	targets map[db.Key][]any // of each source; nil if the file has sources only
}

// after yields the sources after the first skip, with their targets.
func (l *list) after(skip int64) iter.Seq2[db.Key, []any] {
	return func(yield func(db.Key, []any) bool) {
		for _, k := range l.sources[min(skip, int64(len(l.sources))):] {
			if !yield(k, l.targets[k]) {
				return
			}
		}
	}
}

// readList reads the nodes of a file, or its pairs, all of which must exist. A repeated source counts once, at its first
// place.
func readList(tx *db.Tx, name string, pairs bool) (*list, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	l := &list{}
	if pairs {
		l.targets = map[db.Key][]any{}
		err = l.readPairs(tx, f, name)
	} else {
		err = l.readNodes(tx, f, name)
	}
	if err == nil && len(l.sources) == 0 {
		err = errors.New("no nodes")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func (l *list) readNodes(tx *db.Tx, f io.Reader, name string) error {
	r, err := edgelist.NewNodes(f, edgelist.Options{Name: name})
	if err != nil {
		return err
	}
	known := map[db.Key]bool{}
	for n, err := range r.All() {
		if err != nil {
			return err
		}
		k, err := find(tx, n.Key, n.Line)
		if err != nil {
			return err
		}
		if !known[k] {
			l.sources = append(l.sources, k)
		}
		known[k] = true
	}
	return nil
}

func (l *list) readPairs(tx *db.Tx, f io.Reader, name string) error {
	r, err := edgelist.NewReader(f, edgelist.Options{Name: name})
	if err != nil {
		return err
	}
	for e, err := range r.Edges() {
		if err != nil {
			return err
		}
		source, err := find(tx, e.Src, e.Line)
		if err != nil {
			return err
		}
		target, err := find(tx, e.Dst, e.Line)
		if err != nil {
			return err
		}
		if _, known := l.targets[source]; !known {
			l.sources = append(l.sources, source)
		}
		l.targets[source] = append(l.targets[source], target)
	}
	return nil
}

// find returns the key of a node on a line of a file.
func find(tx *db.Tx, t edgelist.Token, line int64) (db.Key, error) {
	k := db.Str(t.Str)
	if t.IsInt {
		k = db.Int(t.Int)
	}
	if tx.Has(k) {
		return k, nil
	}
	_, err := tx.Node(k)
	return k, fmt.Errorf("line %d: %w", line, err)
}
