package db

import (
	"cmp"
	"context"
	"io"
	"strings"

	"kith/db/edgelist"
)

// ListOptions says how a list is written. The zero value writes CSV.
type ListOptions struct {
	Format edgelist.Format // CSV, TSV or SNAP, which separates fields by blanks; zero means CSV
	// Progress, if not nil, is called regularly with the number of lines written.
	Progress func(lines int64)
}

// ListReport describes a list that was written.
type ListReport struct {
	Lines   int64           `json:"lines"`
	Format  edgelist.Format `json:"format"`
	Columns string          `json:"columns"` // names of the columns, separated by commas
}

// ParseFile returns the format for the extension of a file name, .csv, .tsv or .txt, and the compression: .gz, .zst or
// none. It returns ErrInput for any other name.
func ParseFile(name string) (f edgelist.Format, packing string, err error) {
	if f, packing, err = edgelist.FormatOf(name); err != nil {
		err = inputf("%w", err)
	}
	return f, packing, err
}

// Pack returns a writer that compresses to w, where packing is a result of [ParseFile]. The caller must close it.
func Pack(w io.Writer, packing string) (io.WriteCloser, error) { return edgelist.Compress(w, packing) }

// WriteEdges writes every edge so that [DB.Load] reads it back with the format and columns in the report. It writes
// weights if one is not 1, and times if there is one. Times are in seconds. Times after the year 5138 are read back as
// seconds only if LoadOptions.Times says so. WriteEdges returns ErrInput for a key that the list cannot hold: a string
// that would be read as an integer, or that contains a line break.
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

// WriteNodes writes the key of every node, and its label if it has one, so that [DB.LoadNodes] reads them back with the
// format in the report. It returns ErrInput as WriteEdges does.
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

// WriteFeatures writes the key and the vector of every node with features, so that [DB.LoadFeatures] reads them back
// with the format in the report. It returns ErrInput as WriteEdges does.
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

// listWriter writes a list and its report.
type listWriter struct {
	to      *edgelist.Writer
	options ListOptions
	report  ListReport
}

func newListWriter(w io.Writer, o ListOptions, columns []string) (*listWriter, error) {
	l := &listWriter{options: o, report: ListReport{Format: cmp.Or(o.Format, edgelist.CSV), Columns: strings.Join(columns, ",")}}
	var err error
	if l.to, err = edgelist.NewWriter(w, l.report.Format, columns...); err != nil {
		return nil, inputf("%w", err)
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

// end ends a line unless err is not nil.
func (l *listWriter) end(ctx context.Context, err error) error {
	if err != nil {
		return inputf("line %d: %w; a backup keeps everything", l.report.Lines+2, err)
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
