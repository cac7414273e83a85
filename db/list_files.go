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
	"kith/db/internal/ctxio"
	"kith/index"
)

// LoadNodes adds all nodes of a list or, if it returns an error, none: one key a line, with the
// labels next to the keys. The further columns of a list with a header, and the further members of
// objects of JSON, are properties, whose types are detected from the whole list; an empty field and
// null set none. A node that exists gets the label and the properties. Of a node that is repeated,
// the last label and the last value of each property count. LoadNodes returns ErrInput for a column
// that cannot be a property, and for one of another type than the property has, and the errors of
// Load.
//
// A list of up to 8192 lines is a transaction. A longer list is stored as [DB.Load] stores edges:
// the graph with the nodes is written as a new generation of blocks, in the same memory, and the
// load is no change that can be kept.
func (db *DB) LoadNodes(ctx context.Context, r io.Reader, o LoadNodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewNodes, (*nodeLoad).storeNodes)
}

// LoadFeatures sets the feature vectors of the nodes of a list, and adds missing nodes. It commits
// as it goes: if it returns an error, the lines up to some point have been stored, and loading them
// again does no harm. A vector whose length differs from the other vectors of its label counts as a
// malformed line. LoadFeatures returns the errors of Load.
func (db *DB) LoadFeatures(ctx context.Context, r io.Reader, o LoadNodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewFeatures, (*nodeLoad).storeFeatures)
}

// nodesPerCommit and numbersPerCommit bound the lines, and the numbers of their features, in one
// commit.
const (
	nodesPerCommit   = 1 << 13
	numbersPerCommit = 1 << 17
)

// nodeLoad loads a list of nodes or of features.
type nodeLoad struct {
	db     *DB
	list   *edgelist.Nodes
	o      *LoadNodesOptions
	report *LoadReport
	files  *scratch
}

// loadNodes opens a list, and stores its nodes.
func (db *DB) loadNodes(
	ctx context.Context, r io.Reader, o LoadNodesOptions,
	open func(io.Reader, edgelist.Options) (*edgelist.Nodes, error), store func(*nodeLoad, context.Context) error,
) (*LoadReport, error) {
	if err := checkListLabels(o.Label); err != nil {
		return nil, err
	}
	files := &scratch{db: db}
	defer files.remove()
	list, err := open(ctxio.Reader(ctx, r), edgelist.Options{
		Format: o.Format, Name: o.Name, Dialect: o.Dialect, Keyless: o.Keyless, Labelled: o.Label != "",
		Properties: o.PropertyOptions, PropertyType: db.listedType(),
		Tables: o.Tables, Memory: db.opts.memory(workPart) / tableFraction,
		Spool: func() (edgelist.Spool, error) { return files.make() },
	})
	if refused := (*edgelist.Refusal)(nil); errors.As(err, &refused) {
		return nil, inputError(err)
	}
	if err != nil {
		return nil, listError(err)
	}
	l := &nodeLoad{db, list, &o, &LoadReport{Name: o.Name}, files}
	err = store(l, ctx)
	l.report.Detected = *list.Detected
	return l.report, err
}

// skip counts a malformed line. It returns the error that ends the load, if any.
func (l *nodeLoad) skip(err error) error { return l.report.skip(err, l.o.MaxErrors, l.o.Malformed) }

// storeFeatures stores the nodes in some commits.
func (l *nodeLoad) storeFeatures(ctx context.Context) error {
	var some []edgelist.Node
	numbers := 0
	for n, err := range l.list.All() {
		if err != nil {
			if err := l.skip(err); err != nil {
				return err
			}
			continue
		}
		some = append(some, n)
		if numbers += len(n.Features); len(some) < nodesPerCommit && numbers < numbersPerCommit {
			continue
		}
		if err := l.commit(ctx, some); err != nil {
			return err
		}
		some, numbers = some[:0], 0
	}
	return l.commit(ctx, some)
}

// commit commits nodes, and reports progress.
func (l *nodeLoad) commit(ctx context.Context, some []edgelist.Node) error {
	var lines, made int64
	err := l.db.Update(ctx, func(tx *Tx) error {
		before, _ := tx.Counts()
		for _, n := range some {
			err := tx.putListed(l.list.Properties, n, l.o.Label)
			if err == nil {
				lines++
			} else if err := l.skip(err); err != nil {
				return err
			}
		}
		after, _ := tx.Counts()
		made = after - before
		return nil
	})
	if err != nil {
		return err
	}
	l.report.Lines += lines
	l.report.Nodes += made
	if l.o.Progress != nil {
		l.o.Progress(l.report.Lines)
	}
	return nil
}

// listedNode returns a node of a list without its properties. label is the label of the list, or
// "". A node with another label is a malformed line.
func listedNode(n *edgelist.Node, label string) (Node, error) {
	if label != "" && n.Label != "" && n.Label != label {
		return Node{}, &edgelist.LineError{Line: n.Line, Text: n.Label, Msg: fmt.Sprintf("the label is not %q, which all nodes of the list have", label)}
	}
	return Node{Key: keyWithLabel(label, n.Key), Label: cmp.Or(label, n.Label), Features: n.Features}, nil
}

// putListed stores one node. label is the label of the list, or "". A node that cannot be stored is
// a malformed line.
func (tx *Tx) putListed(columns []edgelist.Property, n edgelist.Node, label string) error {
	node, err := listedNode(&n, label)
	if err != nil {
		return err
	}
	return lineError(n.Line, tx.Savepoint(func() error {
		err := tx.PutNode(node)
		if err == nil && len(columns) > 0 {
			err = tx.setListed(node.Key, columns, n.Values)
		}
		return err
	}))
}

// lineError returns the error of a node of a list: a malformed line if the node cannot be stored.
func lineError(line int64, err error) error {
	switch {
	case errors.Is(err, ErrInput):
		return &edgelist.LineError{Line: line, Msg: err.Error()}
	case err != nil:
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// setListed sets the values of a node of a list.
func (tx *Tx) setListed(k Key, columns []edgelist.Property, values []any) error {
	id, _ := tx.batch.ID(k)
	for i, v := range values {
		if v == nil {
			continue
		}
		if err := tx.batch.SetProperty(id, columns[i].Name, valueOf(v)); err != nil {
			return nodeError(k, err)
		}
	}
	return nil
}

// storeNodes stores all nodes or none: in one commit if the list is short, otherwise in bulk.
func (l *nodeLoad) storeNodes(ctx context.Context) error {
	var first []edgelist.Node // the first nodes, until the list is known to be long
	var bulk *bulkNodes
	for n, err := range l.list.All() {
		switch {
		case err != nil:
			err = l.skip(err)
		case bulk != nil:
			err = bulk.take(ctx, &n)
		default:
			n.Values = slices.Clone(n.Values)
			if first = append(first, n); len(first) <= nodesPerCommit {
				continue
			}
			if bulk, err = l.begin(ctx); err != nil {
				return err
			}
			defer bulk.end()
			err = bulk.takeAll(ctx, first)
			first = nil
		}
		if err != nil {
			return err
		}
	}
	if bulk == nil {
		return l.commit(ctx, first)
	}
	return bulk.commit(ctx)
}

// bulkNodes adds the nodes of a list to a bulk load.
type bulkNodes struct {
	*nodeLoad
	now   *snapshot
	bulk  *index.Bulk
	label struct { // of the previous node
		name   string
		number uint16
	}
	numbers []uint16 // of the properties of the columns
	known   []bool   // which columns have one
	values  []index.NodeValue
}

// begin begins a bulk load, which the caller must end.
func (l *nodeLoad) begin(ctx context.Context) (*bulkNodes, error) {
	if err := l.db.lock(ctx); err != nil {
		return nil, err
	}
	now, err := l.db.pin()
	if err != nil {
		l.db.unlock()
		return nil, err
	}
	columns := len(l.list.Properties)
	return &bulkNodes{
		nodeLoad: l, now: now, bulk: l.db.newBulk(now, l.files, KeepLast), numbers: make([]uint16, columns), known: make([]bool, columns),
	}, nil
}

// end ends the load.
func (b *bulkNodes) end() {
	b.bulk.Close()
	b.db.unpin(b.now)
	b.db.unlock()
}

// takeAll takes some nodes.
func (b *bulkNodes) takeAll(ctx context.Context, some []edgelist.Node) error {
	for i := range some {
		if err := b.take(ctx, &some[i]); err != nil {
			return err
		}
	}
	return nil
}

// take adds a node and counts it. A node that cannot be stored is a malformed line.
func (b *bulkNodes) take(ctx context.Context, n *edgelist.Node) error {
	if err := b.add(n); err != nil {
		return b.skip(err)
	}
	b.report.Lines++
	if b.report.Lines%checkEvery != 0 {
		return nil
	}
	if b.o.Progress != nil {
		b.o.Progress(b.report.Lines)
	}
	return ctx.Err()
}

func (b *bulkNodes) add(n *edgelist.Node) error {
	node, err := listedNode(n, b.o.Label)
	if err != nil {
		return err
	}
	if err = node.Key.Valid(); err != nil {
		err = inputError(err)
	} else {
		err = b.setLabel(&node)
	}
	if err == nil {
		err = nodeError(node.Key, b.setValues(n.Values))
	}
	if err == nil {
		if err = b.bulk.Node(node.Key, b.label.number, b.values); errors.Is(err, index.ErrFeatureLen) {
			err = nodeError(node.Key, err)
		}
	}
	return lineError(n.Line, err)
}

// setLabel sets the label of the next node.
func (b *bulkNodes) setLabel(n *Node) (err error) {
	if n.Label != b.label.name {
		b.label.name = ""
		if b.label.number, err = b.bulk.Label(n.Label); err != nil {
			return nodeError(n.Key, err)
		}
		b.label.name = n.Label
	}
	if id, exists := b.now.ID(n.Key); exists && n.Label != "" {
		return checkRelabel(b.now.Snapshot, n.Key, id, n.Label)
	}
	return nil
}

// setValues sets the values of the next node.
func (b *bulkNodes) setValues(values []any) (err error) {
	b.values = b.values[:0]
	for i, x := range values {
		if x == nil {
			continue
		}
		v, name := valueOf(x), b.list.Properties[i].Name
		if err := v.Check(); err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		if !b.known[i] {
			if b.numbers[i], err = b.bulk.Property(name, v.Kind()); err != nil {
				return err
			}
			b.known[i] = true
		}
		b.values = append(b.values, index.NodeValue{Property: b.numbers[i], Value: v})
	}
	return nil
}

// commit writes and commits the graph with the nodes.
func (b *bulkNodes) commit(ctx context.Context) error {
	next, _, err := b.db.writeBulk(ctx, b.now, b.bulk)
	if errors.Is(err, index.ErrTooLarge) {
		err = inputError(err)
	}
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if err := b.db.commitBulk(ctx, b.now, next); err != nil {
		return err
	}
	b.report.Nodes = next.Meta.Live - b.now.Meta.Live
	return nil
}

// listedType returns a function for edgelist.Options.PropertyType.
func (db *DB) listedType() func(name string) (edgelist.PropertyType, error) {
	m := &db.now.Load().Meta
	properties := len(m.Properties)
	return func(name string) (t edgelist.PropertyType, err error) {
		if reserved(name) {
			return t, fmt.Errorf("a property cannot have the name %q, which means something else in a condition", name)
		}
		number, known := m.PropertyNumber(name)
		if known && m.Properties[number].Nodes > 0 {
			return t, t.UnmarshalText([]byte(m.Properties[number].Kind.String()))
		}
		if !known {
			properties++
		}
		if properties > index.MaxProperties {
			return t, fmt.Errorf("a database has at most %d properties", index.MaxProperties)
		}
		return t, Str(name).Valid()
	}
}

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

// WriteNodes writes the key of every node, its label if it has one, and the values of its properties
// so that [DB.LoadNodes] reads them back with the format in the report. The name of a column of a
// text has the type of the property, as in price:float; in lines of JSON a value shows it. WriteNodes returns ErrInput as WriteEdges
// does, and for properties between blanks.
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
