package db

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"kith/db/edgelist"
	"kith/index"
)

// ListOptions says how a list is written. The zero value writes CSV.
type ListOptions struct {
	Format edgelist.Format // CSV, TSV, SNAP, which separates fields by blanks, or Parquet; zero means CSV
	Tables edgelist.Tables // writes Parquet files: a parquet.Format; nil means that they are refused
	// Progress, if not nil, is called regularly with the number of lines written.
	Progress func(lines int64)
}

// ListReport describes a list that was written.
type ListReport struct {
	Lines   int64           `json:"lines"`
	Format  edgelist.Format `json:"format"`
	Columns string          `json:"columns"` // names of the columns, separated by commas
}

// WriteEdges writes every edge so that [DB.Load] reads it back with the format and columns in the
// report. It writes weights if one is not 1, and times if there is one. Times are in seconds. Times
// after the year 5138 are read back as seconds only if LoadOptions.Times says so. WriteEdges
// returns ErrInput for a key that a text cannot hold: a string that would be read as an integer, or
// that contains a line break.
//
// A Parquet file has columns of strings if a node has a string for a key, otherwise of integers. In
// a column of strings, 7 is an integer key and '7', in single quotes, a string. Times are
// timestamps in milliseconds; an edge without a time has a null.
func (tx *Tx) WriteEdges(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	if tx.ended {
		return ListReport{}, ErrClosed
	}
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
	keys := tx.keyType(o)
	columns := []edgelist.Field{{Name: "source", Type: keys}, {Name: "target", Type: keys}}
	if weights {
		columns = append(columns, edgelist.Field{Name: "weight", Type: edgelist.Single})
	}
	if times {
		columns = append(columns, edgelist.Field{Name: "time", Type: edgelist.Timestamp})
	}
	report, err := writeList(ctx, w, o, columns, tx.view().Graph.Edges(), func(to edgelist.RowWriter, e index.Edge) error {
		err := writeKey(to, tx.key(e.U))
		if err == nil {
			err = writeKey(to, tx.key(e.V))
		}
		if weights {
			to.Float(e.Weight)
		}
		if times {
			to.Time(e.Time)
		}
		return err
	})
	report.Columns = edgelist.ColumnsOf(weights, times).String()
	return report, err
}

// WriteNodes writes the key of every node, and its label if it has one, so that [DB.LoadNodes]
// reads them back with the format in the report. It returns ErrInput as WriteEdges does.
func (tx *Tx) WriteNodes(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	if tx.ended {
		return ListReport{}, ErrClosed
	}
	v := tx.view()
	columns := []edgelist.Field{{Name: "node", Type: tx.keyType(o)}, {Name: "label", Type: edgelist.String}}
	return writeList(ctx, w, o, columns, v.Nodes(), func(to edgelist.RowWriter, id index.ID) error {
		err := writeKey(to, tx.key(id))
		if err == nil {
			err = to.Text(v.Meta.Labels[v.Label(id)].Name)
		}
		return err
	})
}

// WriteFeatures writes the key and the vector of every node with features, so that
// [DB.LoadFeatures] reads them back with the format in the report. It returns ErrInput as
// WriteEdges does.
func (tx *Tx) WriteFeatures(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	if tx.ended {
		return ListReport{}, ErrClosed
	}
	v := tx.view()
	withFeatures := func(yield func(index.ID) bool) {
		for id := range v.Nodes() {
			if v.Features(id) != nil && !yield(id) {
				return
			}
		}
	}
	columns := []edgelist.Field{{Name: "node", Type: tx.keyType(o)}, {Name: "features", Type: edgelist.Floats}}
	return writeList(ctx, w, o, columns, withFeatures, func(to edgelist.RowWriter, id index.ID) error {
		err := writeKey(to, tx.key(id))
		to.Floats(v.Features(id))
		return err
	})
}

// writeList writes a list with a line for each of rows. write writes the fields of a line.
func writeList[T any](
	ctx context.Context, w io.Writer, o ListOptions, columns []edgelist.Field, rows iter.Seq[T], write func(edgelist.RowWriter, T) error,
) (ListReport, error) {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	report := ListReport{Format: cmp.Or(o.Format, edgelist.CSV), Columns: strings.Join(names, ",")}
	to, err := o.newWriter(w, report.Format, columns, names)
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
	return report, to.Close()
}

func writeKey(to edgelist.RowWriter, k Key) error {
	n, isInt := k.Int()
	s, _ := k.Str()
	return to.Key(edgelist.Token{Int: n, Str: s, IsInt: isInt})
}

// newWriter returns a writer of a list in a format.
func (o *ListOptions) newWriter(w io.Writer, f edgelist.Format, columns []edgelist.Field, names []string) (edgelist.RowWriter, error) {
	switch {
	case f != edgelist.Parquet:
		return edgelist.NewWriter(w, f, names...)
	case o.Tables == nil:
		return nil, errors.New("this program writes no Parquet files: use .csv, or kith shell. In a program that embeds kith, set Tables to a parquet.Format of kith/db/edgelist/parquet")
	}
	return o.Tables.Create(w, columns)
}

// keyType returns the type of a column of keys: integers if no node has a string. Text has no
// types. It looks at all nodes up to the first with a string.
func (tx *Tx) keyType(o ListOptions) edgelist.Type {
	if o.Format != edgelist.Parquet {
		return edgelist.String
	}
	for id := range tx.view().Nodes() {
		if _, isInt := tx.key(id).Int(); !isInt {
			return edgelist.String
		}
	}
	return edgelist.Integer
}
