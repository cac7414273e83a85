package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"kith/db/edgelist"
	"kith/index"
)

// Pairs reads the pairs of nodes of an edge list, in its order, with the keys that [DB.Load] would
// use, and adds nothing. The notes list the assumptions about the list. Pairs returns ErrLines if
// there are more malformed lines than the options allow, and ErrTooLarge for a list that takes more
// than a quarter of Options.Memory.
func (db *DB) Pairs(ctx context.Context, r io.Reader, o LoadOptions) (pairs []Edge, notes []edgelist.Note, err error) {
	files := &scratch{db: db}
	defer files.remove()
	if err := checkListLabels(o.SourceLabel, o.TargetLabel); err != nil {
		return nil, nil, err
	}
	list, err := db.openEdges(ctx, r, &o, false, files)
	if err != nil {
		return nil, nil, err
	}
	err = eachLine(ctx, list.Edges(), &LoadReport{}, &o, func(e edgelist.Edge) error {
		src, dst := o.ends(&e)
		pairs = append(pairs, Edge{Src: src, Dst: dst, Relation: cmp.Or(e.Relation, o.Relation), Weight: e.Weight})
		return nil
	}, func() error { return db.fitsWork("a list of pairs", listedPairBytes*int64(len(pairs))) })
	return pairs, list.Notes, err
}

// listedPairBytes is the memory of a pair of a list, without the text of its keys.
const listedPairBytes = 128

// FolderPairs reads the pairs of the parts of a split that o names, from a folder in the layout of
// the Open Graph Benchmark.
func (db *DB) FolderPairs(ctx context.Context, folder fs.FS, o LoadOptions) (all []Edge, notes []edgelist.Note, err error) {
	err = eachPart(folder, o, func(r io.Reader, p edgelist.Part, o LoadOptions) error {
		if p.Kind != edgelist.Edges {
			return nil
		}
		pairs, noted, err := db.Pairs(ctx, r, o)
		all, notes = append(all, pairs...), append(notes, noted...)
		return err
	})
	return all, notes, err
}

// LoadFolder loads a graph from a folder in the layout of the Open Graph Benchmark: its nodes,
// their labels and feature vectors, then its edges, each file as [DB.LoadNodes], [DB.LoadFeatures]
// or [DB.Load] does. The options must not name labels of sources and targets, nor another format.
// If LoadFolder returns an error, the reports cover the files that have been loaded.
func (db *DB) LoadFolder(ctx context.Context, folder fs.FS, o LoadOptions) (reports []*LoadReport, err error) {
	err = eachPart(folder, o, func(r io.Reader, p edgelist.Part, o LoadOptions) error {
		report, err := db.loadPart(ctx, r, p, o)
		if err == nil {
			report.Notes = append(report.Notes, p.Notes...)
			reports = append(reports, report)
		}
		return err
	})
	return reports, err
}

// eachPart calls f with each of the files of a folder that the options select, and with the options
// to read it with.
func eachPart(folder fs.FS, o LoadOptions, f func(io.Reader, edgelist.Part, LoadOptions) error) error {
	parts, err := FolderParts(folder, o)
	if err != nil {
		return err
	}
	for _, p := range parts {
		file, err := p.Open(folder)
		if err == nil {
			err = f(file, p, o.ForPart(p))
			file.Close() // read only
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// FolderParts returns the files that [DB.LoadFolder] loads, in order.
func FolderParts(folder fs.FS, o LoadOptions) ([]edgelist.Part, error) {
	if o.SourceLabel != "" || o.TargetLabel != "" {
		return nil, inputf("a label of sources or targets is for a file: a folder says itself of which kinds its nodes are")
	}
	if o.Format != edgelist.AnyFormat && o.Format != edgelist.Folder {
		return nil, inputf("format %v: a folder is read as %v", o.Format, edgelist.Folder)
	}
	return given(edgelist.Parts(folder, o.Split))
}

// loadPart loads one file of a folder, by its kind.
func (db *DB) loadPart(ctx context.Context, r io.Reader, p edgelist.Part, o LoadOptions) (*LoadReport, error) {
	if p.Kind == edgelist.Edges {
		return db.Load(ctx, r, o)
	}
	load := db.LoadNodes
	if p.Kind == edgelist.Features {
		load = db.LoadFeatures
	}
	return load(ctx, r, LoadNodesOptions{
		Name: o.Name, Label: p.Label, Keyless: p.Keyless, PropertyOptions: edgelist.PropertyOptions{NodeColumns: p.Columns}, Tables: o.Tables, MaxErrors: o.MaxErrors, Malformed: o.Malformed, Progress: o.Progress,
	})
}

// scratch makes temporary files in the directory of the database or, for a database that is in
// memory or read-only, in the system's directory for temporary files. If the system allows it,
// their names are removed at once, so nothing is left of them when the process dies.
type scratch struct {
	db    *DB
	files []scratchFile
}

// scratchFile is a temporary file. A write returns ErrFull while the disk still has the space that
// the store needs for its own maintenance.
type scratchFile struct {
	*os.File
	db *DB
}

func (f scratchFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.db.store.RoomToGrow(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

func (s *scratch) make() (scratchFile, error) {
	dir := ""
	if !s.db.opts.ReadOnly {
		dir = s.db.store.Dir()
	}
	f, err := os.CreateTemp(dir, "load-*.tmp")
	if err != nil {
		return scratchFile{}, fmt.Errorf("db: scratch file: %w", err)
	}
	s.files = append(s.files, scratchFile{f, s.db})
	_ = os.Remove(f.Name()) // if this fails, remove deletes the file
	return s.files[len(s.files)-1], nil
}

// remove closes and deletes the files.
func (s *scratch) remove() {
	for _, f := range s.files {
		err := f.Close()
		if left := os.Remove(f.Name()); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
		if err != nil {
			s.db.opts.Logger.Error("removing a scratch file", "err", err)
		}
	}
}

// ListOptions says how a list is written. The zero value writes CSV.
type ListOptions struct {
	Format edgelist.Format // CSV, TSV, SNAP, which separates fields by blanks, JSONLines, NTriples for edges, or Parquet; zero means CSV
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
// report. It writes relations if an edge has one with a name, weights if one is not 1, and times if
// there is one. Times are in seconds. Times after the year 5138 are read back as seconds only if
// LoadOptions.Times says so. A list does not hold what else a relation has, such as its direction.
// WriteEdges returns ErrInput for a key or a relation that a text cannot hold: a string that would
// be read as an integer, or that contains a line break. Between blanks every edge needs a relation
// or none may have one.
//
// A Parquet file has columns of strings if a node has a string for a key, otherwise of integers. In
// a column of strings, 7 is an integer key and '7', in single quotes, a string. Times are
// timestamps in milliseconds; an edge without a time has a null, as one without a relation has.
func (tx *Tx) WriteEdges(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	if tx.ended {
		return ListReport{}, ErrClosed
	}
	has, err := tx.edgeColumns(ctx)
	if err != nil {
		return ListReport{}, err
	}
	keys, named := tx.keyType(o), tx.meta().Relations
	columns := []edgelist.Field{{Name: "source", Type: keys}}
	if has.relations {
		columns = append(columns, edgelist.Field{Name: "relation", Type: edgelist.String})
	}
	columns = append(columns, edgelist.Field{Name: "target", Type: keys})
	if has.weights {
		columns = append(columns, edgelist.Field{Name: "weight", Type: edgelist.Single})
	}
	if has.times {
		columns = append(columns, edgelist.Field{Name: "time", Type: edgelist.Timestamp})
	}
	report, err := writeList(ctx, w, o, columns, tx.view().Graph.Edges(), func(to edgelist.RowWriter, e index.Edge) error {
		err := writeKey(to, tx.key(e.U))
		if err == nil && has.relations {
			err = to.Text(named[e.Relation].Name)
		}
		if err == nil {
			err = writeKey(to, tx.key(e.V))
		}
		if has.weights {
			to.Float(e.Weight)
		}
		if has.times {
			to.Time(e.Time)
		}
		return err
	})
	report.Columns = edgelist.ColumnsOf(has.relations, has.weights, has.times).String()
	return report, err
}

// edgeColumns says what edges have besides their ends.
type edgeColumns struct{ relations, weights, times bool }

// edgeColumns looks at the edges.
func (tx *Tx) edgeColumns(ctx context.Context) (has edgeColumns, err error) {
	read := 0
	for e := range tx.view().Graph.Edges() {
		if read++; read%checkEvery == 0 && ctx.Err() != nil {
			return has, ctx.Err()
		}
		has = edgeColumns{has.relations || e.Relation > 0, has.weights || e.Weight != 1, has.times || e.Time != 0}
		if has == (edgeColumns{true, true, true}) {
			break
		}
	}
	return has, nil
}

// WriteNodes writes the key of every node, its label if it has one, and the values of its
// properties so that [DB.LoadNodes] reads them back with the format in the report. The name of a
// column of a text has the type of the property, as in price:float; in lines of JSON a value shows
// it. WriteNodes returns ErrInput as WriteEdges does, and for properties between blanks.
func (tx *Tx) WriteNodes(ctx context.Context, w io.Writer, o ListOptions) (ListReport, error) {
	if tx.ended {
		return ListReport{}, ErrClosed
	}
	v := tx.view()
	columns := []edgelist.Field{{Name: "node", Type: tx.keyType(o)}, {Name: "label", Type: edgelist.String}}
	var numbers []uint16
	for i, p := range v.Meta.Properties {
		if p.Nodes > 0 {
			numbers = append(numbers, uint16(i))
			columns = append(columns, tx.propertyColumn(uint16(i), o.Format))
		}
	}
	accepted := []edgelist.Format{edgelist.CSV, edgelist.TSV, edgelist.JSONLines, edgelist.Parquet}
	if f := cmp.Or(o.Format, edgelist.CSV); !slices.Contains(accepted, f) && len(numbers) > 0 {
		return ListReport{}, inputf("properties are written as .csv, .tsv, .jsonl or .parquet, not as %v", f)
	}
	return writeList(ctx, w, o, columns, v.Nodes(), func(to edgelist.RowWriter, id index.ID) error {
		err := writeKey(to, tx.key(id))
		if err == nil {
			err = to.Text(v.Meta.Labels[v.Label(id)].Name)
		}
		for _, number := range numbers {
			if err == nil {
				err = to.Value(v.Value(number, id).Any())
			}
		}
		return err
	})
}

// propertyColumn returns the column of a property in a list.
func (tx *Tx) propertyColumn(number uint16, f edgelist.Format) edgelist.Field {
	p := tx.meta().Properties[number]
	switch f {
	case edgelist.Parquet:
	case edgelist.JSONLines:
		var t edgelist.PropertyType
		_ = t.UnmarshalText([]byte(p.Kind.String())) // the kinds have the names of the types
		return edgelist.Field{Name: edgelist.MemberName(p.Name, t, tx.texts(number))}
	default:
		return edgelist.Field{Name: p.Name + ":" + p.Kind.String()}
	}
	return edgelist.Field{Name: p.Name, Optional: true, Unit: edgelist.Microseconds, Type: map[index.Kind]edgelist.Type{
		index.BoolKind: edgelist.Bool, index.IntegerKind: edgelist.Integer, index.FloatKind: edgelist.Double,
		index.StringKind: edgelist.String, index.TimeKind: edgelist.Timestamp, index.ListKind: edgelist.Strings,
	}[p.Kind]}
}

// texts yields the values of a property of strings.
func (tx *Tx) texts(number uint16) iter.Seq[string] {
	return func(yield func(string) bool) {
		v := tx.view()
		for id := range v.Nodes() {
			if text, ok := v.Value(number, id).Any().(string); ok && !yield(text) {
				return
			}
		}
	}
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
