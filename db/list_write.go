package db

import (
	"cmp"
	"context"
	"io"
	"iter"
	"strings"

	"kith/db/edgelist"
	"kith/index"
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
	weights, times, read := false, false, 0
	for e := range tx.view().Graph.Edges() {
		if read++; read%checkEvery == 0 && ctx.Err() != nil {
			return ListReport{}, ctx.Err()
		}
		weights, times = weights || e.Weight != 1, times || e.Time != 0
		if weights && times {
			break
		}
	}
	columns := []string{"source", "target"}
	if weights {
		columns = append(columns, "weight")
	}
	if times {
		columns = append(columns, "time")
	}
	report, err := writeList(ctx, w, o, columns, tx.view().Graph.Edges(), func(to *edgelist.Writer, e index.Edge) error {
		err := writeKey(to, tx.key(e.U))
		if err == nil {
			err = writeKey(to, tx.key(e.V))
		}
		if weights {
			to.Float(e.Weight)
		}
		if times {
			to.Int(e.Time)
		}
		return err
	})
	report.Columns = edgelist.ColumnsOf(weights, times).String()
	return report, err
}

// WriteNodes writes the key of every node, and its label if it has one, so that [DB.LoadNodes] reads them back with the
// format in the report. It returns ErrInput as WriteEdges does.
func (tx *Tx) WriteNodes(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	v := tx.view()
	return writeList(ctx, w, o, []string{"node", "label"}, v.Nodes(), func(to *edgelist.Writer, id index.ID) error {
		err := writeKey(to, tx.key(id))
		if label := v.Meta.Labels[v.Label(id)].Name; label != "" && err == nil {
			err = to.Text(label)
		}
		return err
	})
}

// WriteFeatures writes the key and the vector of every node with features, so that [DB.LoadFeatures] reads them back
// with the format in the report. It returns ErrInput as WriteEdges does.
func (tx *Tx) WriteFeatures(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	v := tx.view()
	withFeatures := func(yield func(index.ID) bool) {
		for id := range v.Nodes() {
			if v.Features(id) != nil && !yield(id) {
				return
			}
		}
	}
	return writeList(ctx, w, o, []string{"node", "features"}, withFeatures, func(to *edgelist.Writer, id index.ID) error {
		err := writeKey(to, tx.key(id))
		for _, x := range v.Features(id) {
			to.Float(x)
		}
		return err
	})
}

// writeList writes a list with a line for each of rows. write writes the fields of a line.
func writeList[T any](
	ctx context.Context, w io.Writer, o ListOptions, columns []string, rows iter.Seq[T], write func(*edgelist.Writer, T) error,
) (ListReport, error) {
	report := ListReport{Format: cmp.Or(o.Format, edgelist.CSV), Columns: strings.Join(columns, ",")}
	to, err := edgelist.NewWriter(w, report.Format, columns...)
	if err != nil {
		return ListReport{}, inputf("%w", err)
	}
	for row := range rows {
		if err := write(to, row); err != nil {
			return report, inputf("line %d: %w; a backup keeps everything", report.Lines+2, err)
		}
		if report.Lines%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return report, err
			}
			if o.Progress != nil {
				o.Progress(report.Lines)
			}
		}
		report.Lines++
		if err := to.End(); err != nil {
			return report, err
		}
	}
	return report, to.Flush()
}

func writeKey(to *edgelist.Writer, k Key) error {
	if n, isInt := k.Int(); isInt {
		to.Int(n)
		return nil
	}
	s, _ := k.Str()
	return to.Key(edgelist.Token{Str: s})
}
