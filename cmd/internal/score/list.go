package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
	"kith/query"
)

// list holds the sources of a file, or its pairs.
type list struct {
	sources []db.Key
	targets map[db.Key][]any // of each source; none if the file has sources only
	notes   []string
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

// readList reads the nodes of a file, or its pairs. All nodes must exist. A repeated source counts
// once, at its first place.
func readList(ctx context.Context, tx *db.Tx, name string, pairs bool) (*list, error) {
	f, err := query.OpenFile(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	l := &list{targets: map[db.Key][]any{}}
	read := l.readNodes
	if pairs {
		read = l.readPairs
	}
	err = read(tx, f, edgelist.Options{Name: name, Tables: parquet.Format{}})
	if err == nil && len(l.sources) == 0 {
		err = errors.New("no nodes")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func (l *list) readNodes(tx *db.Tx, f io.Reader, o edgelist.Options) error {
	r, err := edgelist.NewNodes(f, o)
	if err != nil {
		return err
	}
	err = each(r.All(), func(n edgelist.Node) error { return l.add(tx, n.Line, n.Key) })
	l.note(r.Notes)
	return err
}

func (l *list) readPairs(tx *db.Tx, f io.Reader, o edgelist.Options) error {
	r, err := edgelist.NewReader(f, o)
	if err != nil {
		return err
	}
	err = each(r.Edges(), func(e edgelist.Edge) error { return l.add(tx, e.Line, e.Src, e.Dst) })
	l.note(r.Notes)
	return err
}

// each calls add for each line, until an error.
func each[T any](lines iter.Seq2[T, error], add func(T) error) error {
	for line, err := range lines {
		if err == nil {
			err = add(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note keeps notes about the file. The options that they name are options of a load.
func (l *list) note(notes []edgelist.Note) {
	for _, n := range notes {
		l.notes = append(l.notes, n.Msg)
	}
}

// add adds a line of the file.
func (l *list) add(tx *db.Tx, line int64, nodes ...edgelist.Token) error {
	keys := make([]any, len(nodes))
	for i, n := range nodes {
		k := db.Str(n.Str)
		if n.IsInt {
			k = db.Int(n.Int)
		}
		if !tx.Has(k) {
			_, err := tx.Node(k)
			return fmt.Errorf("line %d: %w", line, err)
		}
		keys[i] = k
	}
	source := keys[0].(db.Key)
	if _, known := l.targets[source]; !known {
		l.sources = append(l.sources, source)
	}
	l.targets[source] = append(l.targets[source], keys[1:]...)
	return nil
}
