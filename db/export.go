package db

import (
	"context"
	"fmt"
	"io"
	"strings"

	"kith/db/edgelist"
)

// ListOptions says how a list is written. The zero value writes CSV.
type ListOptions struct {
	Format edgelist.Format // CSV, TSV or SNAP: text between blanks
	// Progress is called now and then with the lines written.
	Progress func(lines int64)
}

// ListReport says what was written.
type ListReport struct {
	Lines   int64           `json:"lines"`
	Format  edgelist.Format `json:"format"`
	Columns string          `json:"columns"` // their names, between commas
}

// ParseFile returns the format that the name of a file asks for, .csv, .tsv or .txt, and its packing: .gz,
// .zst or none. It returns ErrInput for a name that says nothing.
func ParseFile(name string) (f edgelist.Format, packing string, err error) {
	if f, packing, err = edgelist.FormatOf(name); err != nil {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	return f, packing, err
}

// Pack returns what packs what is written to it into w, as [ParseFile] says. It must be closed.
func Pack(w io.Writer, packing string) (io.WriteCloser, error) { return edgelist.Compress(w, packing) }

// WriteEdges writes every edge for [DB.Load] to read back with the format and the columns reported:
// weights where one is not 1, times where there is one. Times are in seconds; those after the year 5138 are read
// back as such with LoadOptions.Times alone. It returns ErrInput for a key that such a list
// cannot hold: a string that would be read as an integer, or that has the end of a line in it.
func (tx *Tx) WriteEdges(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	weights, times := false, false
	for e := range tx.view().Graph.Edges() {
		weights, times = weights || e.Weight != 1, times || e.Time != 0
	}
	columns := []string{"source", "target"}
	if weights {
		columns = append(columns, "weight")
	}
	if times {
		columns = append(columns, "time")
	}
	l, err := newListWriter(w, o, columns)
	if err != nil {
		return ListReport{}, err
	}
	for e := range tx.view().Graph.Edges() {
		err := l.key(tx.key(e.U))
		if err == nil {
			err = l.key(tx.key(e.V))
		}
		if weights {
			l.to.Float(e.Weight)
		}
		if times {
			l.to.Int(e.Time)
		}
		if err = l.end(ctx, err); err != nil {
			return l.report, err
		}
	}
	l.report.Columns = edgelist.ColumnsOf(weights, times).String()
	return l.finish()
}

// WriteNodes writes the key of every node, and its label where it has one, for [DB.LoadNodes] to read
// back with the format reported. It returns ErrInput as WriteEdges does.
func (tx *Tx) WriteNodes(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	l, err := newListWriter(w, o, []string{"node", "label"})
	if err != nil {
		return ListReport{}, err
	}
	v := tx.view()
	for id := range v.Nodes() {
		err := l.key(tx.key(id))
		if label := v.Meta.Labels[v.Label(id)].Name; label != "" && err == nil {
			err = l.to.Text(label)
		}
		if err = l.end(ctx, err); err != nil {
			return l.report, err
		}
	}
	return l.finish()
}

// WriteFeatures writes the key and the numbers of every node that has a feature vector, for
// [DB.LoadFeatures] to read back with the format reported. It returns ErrInput as WriteEdges does.
func (tx *Tx) WriteFeatures(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	l, err := newListWriter(w, o, []string{"node", "features"})
	if err != nil {
		return ListReport{}, err
	}
	v := tx.view()
	for id := range v.Nodes() {
		features := v.Features(id)
		if features == nil {
			continue
		}
		err := l.key(tx.key(id))
		for _, x := range features {
			l.to.Float(x)
		}
		if err = l.end(ctx, err); err != nil {
			return l.report, err
		}
	}
	return l.finish()
}

// listWriter writes a list, and tells what it did.
type listWriter struct {
	to      *edgelist.Writer
	options ListOptions
	report  ListReport
}

func newListWriter(w io.Writer, o ListOptions, columns []string) (*listWriter, error) {
	l := &listWriter{options: o, report: ListReport{Format: orDefault(o.Format, edgelist.CSV), Columns: strings.Join(columns, ",")}}
	var err error
	if l.to, err = edgelist.NewWriter(w, l.report.Format, columns...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return l, nil
}

func (l *listWriter) key(k Key) error {
	if n, isInt := k.Int(); isInt {
		l.to.Int(n)
		return nil
	}
	s, _ := k.Str()
	return l.to.Key(edgelist.Token{Str: s})
}

// end ends a line unless there was an error.
func (l *listWriter) end(ctx context.Context, err error) error {
	if err != nil {
		return fmt.Errorf("%w: line %d: %w; a backup keeps everything", ErrInput, l.report.Lines+2, err)
	}
	if l.report.Lines%checkEvery == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.options.Progress != nil {
			l.options.Progress(l.report.Lines)
		}
	}
	l.report.Lines++
	return l.to.End()
}

func (l *listWriter) finish() (ListReport, error) { return l.report, l.to.Flush() }
