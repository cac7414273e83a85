package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"

	"kith/db/edgelist"
	"kith/db/internal/ctxio"
	"kith/db/internal/wire"
	"kith/index"
)

// Loads.
//
// [DB.Load] is atomic: the graph with the new edges is written as a new generation next to the
// present one, and one meta record switches to it. Queries never see a half-loaded list, and an
// interrupted load is started again and gives the same graph. The cost is a pass over the whole
// graph, also for a short list, which an Update adds more cheaply. Data that must be sorted goes to
// unnamed scratch files, so a kill leaves nothing behind. [DB.LoadNodes] does the same with a list of
// more than nodesPerCommit lines, and adds a shorter one in a transaction. [DB.LoadFeatures] commits
// as it goes, because its lines mean the same whenever they are read. A [BulkWriter] also commits as it
// goes, for what a program has without a list.

// LoadOptions says how to read a list of edges. The zero value detects format and columns from the
// file, and stops at the first malformed line.
type LoadOptions struct {
	Format           edgelist.Format
	Name             string           // name of the file, which decides the format if its first bytes are ambiguous
	Columns          edgelist.Columns // what the columns of an edge list mean
	Names            edgelist.Names   // the columns by their names in the header, which also define their meaning
	Times            edgelist.TimeFormat
	edgelist.Dialect         // how a text is divided into lines and columns
	Repeats          Repeats // how to combine an edge that is repeated or exists already; zero means KeepLast
	// Relation is the relation of the edges, which is made if it does not exist. If it is "", each
	// edge has the relation that its line names, if the list has a column for it.
	Relation string
	// Negative is the relation of the edges with a negative weight, which becomes positive: the
	// distrust of a list of trust and distrust. If it is "", such a line is malformed.
	Negative string
	// Direction is the direction of the relations that the load makes. Load returns ErrInput for an
	// edge of a relation that exists with another direction. Zero means the direction of the
	// database for a new relation, and accepts any for others.
	Direction Direction
	// SourceLabel and TargetLabel are the labels of the sources and of the targets of a list that
	// joins nodes of two kinds. A 7 in the column of sources with label user becomes the node
	// 'user:7', which differs from 'item:7', and gets the label. A label must not contain a colon.
	// "" means that nodes keep the names of the list and get no label; feedback of Gorse has labels
	// user and item then.
	SourceLabel, TargetLabel string
	Tables                   edgelist.Tables // reads Parquet files, in place if the reader is an opened file: a parquet.Format; nil means that they are refused
	// Split is the part of the edges of a folder to load: train, valid, test, all for the three, or
	// several, separated by commas. If the folder has more than one way to split, the way is named
	// too, as in random0/train. "" means the edges of raw/edge.csv.gz, which are all edges of a
	// graph for classification, and the training edges of a graph for link prediction.
	Split string
	// MaxErrors is the number of malformed lines to skip; a negative number means any number.
	MaxErrors int
	// Malformed, if not nil, is called with each malformed line, an *edgelist.LineError.
	Malformed func(error)
	// Progress, if not nil, is called regularly with the number of lines read.
	Progress func(lines int64)
	// DryRun makes Load report what it would do, and the memory and disk space that the graph would
	// take, without changing anything.
	DryRun bool

	relations map[string]string // names of relations by their names in the list
}

// ForPart returns the options to load a part of a folder with.
func (o LoadOptions) ForPart(p edgelist.Part) LoadOptions {
	o.Name, o.Format, o.Dialect = p.Name, edgelist.AnyFormat, edgelist.Dialect{}
	o.Relation, o.relations = cmp.Or(o.Relation, p.Relation), p.Relations
	o.SourceLabel, o.TargetLabel = p.SrcLabel, p.DstLabel
	return o
}

// LoadNodesOptions says how to read a list of nodes or of features. The zero value detects format
// and columns from the file, and stops at the first malformed line.
type LoadNodesOptions struct {
	Format           edgelist.Format
	Name             string // as in LoadOptions
	edgelist.Dialect        // as in LoadOptions
	// PropertyOptions says how the further columns of a list with a header become properties.
	edgelist.PropertyOptions
	// Label is the label of all nodes, whose keys are formed as for LoadOptions.SourceLabel. A line
	// with another label is malformed. "" means no label.
	Label   string
	Keyless bool            // the list has no keys: line n, from 0, belongs to node n
	Tables  edgelist.Tables // as in LoadOptions
	// MaxErrors, Malformed and Progress are as in LoadOptions.
	MaxErrors int
	Malformed func(error)
	Progress  func(lines int64)
}

// SetColumns parses the meaning of the columns of a list: auto, their roles in order, as in
// src,relation,dst, or their names, as in src=user_id,dst=item_id,time=created_at. The roles are
// src, relation, dst, weight and time.
func (o *LoadOptions) SetColumns(s string) (err error) {
	o.Columns, o.Names = edgelist.Auto, edgelist.Names{}
	if strings.Contains(s, "=") {
		err = o.Names.UnmarshalText([]byte(s))
	} else {
		err = o.Columns.UnmarshalText([]byte(s))
	}
	if err != nil {
		return inputf("%w", err)
	}
	return nil
}

// Repeats says how to combine an edge that a list has more than once, or that is in the graph
// already. In an undirected graph the two directions of an edge are the same edge. The time kept is
// always the latest.
type Repeats = index.Repeats

// Ways to combine a repeated edge. With each, loading a list in parts has the same result as
// loading it whole.
const (
	KeepLast     = index.KeepLast     // the weight of the last line
	SumWeights   = index.SumWeights   // the sum of the weights of its lines and its stored weight
	CountRepeats = index.CountRepeats // each of its lines adds 1 to its weight, whatever the list's weights are
	NoRepeats    = index.NoRepeats    // Load returns ErrRepeated
)

// LoadReport describes what a load did.
type LoadReport struct {
	Name      string  `json:"name"`      // LoadOptions.Name
	Lines     int64   `json:"lines"`     // number of lines with an edge or a node
	Nodes     int64   `json:"nodes"`     // number of nodes added
	Edges     int64   `json:"edges"`     // number of edges added, including loops
	Loops     int64   `json:"loops"`     // number of loops added
	Relations int64   `json:"relations"` // number of relations added
	Repeats   Repeats `json:"repeats"`
	Repeated  int64   `json:"repeated"`  // number of lines that repeat an edge of an earlier line or of the graph
	Differing int64   `json:"differing"` // number of repeated lines with another weight or time than the previous line or edge
	BothWays  int64   `json:"both_ways"` // number of edges, without loops, that the list has in both directions; only for an undirected graph
	// Symmetric reports whether the list has all edges except loops in both directions, equally
	// often in each. Probably such a list has each edge of an undirected graph twice.
	Symmetric bool  `json:"symmetric"`
	Skipped   int64 `json:"skipped"` // number of malformed lines
	// Sources and Targets are the numbers of nodes that got LoadOptions.SourceLabel and
	// TargetLabel.
	Sources     int64  `json:"sources"`
	Targets     int64  `json:"targets"`
	SourceLabel string `json:"source_label"`
	TargetLabel string `json:"target_label"`
	edgelist.Detected
	Directed bool    `json:"directed"` // whether the edges are directed; of several relations, new ones
	Memory   int64   `json:"memory"`   // memory of the whole graph in bytes
	Required int64   `json:"required"` // smallest Options.Memory with which the whole graph is in memory
	Disk     int64   `json:"disk"`     // size of the blocks of the whole graph in bytes, before the store compresses them
	Errors   []error `json:"errors"`   // the first malformed lines
}

// MarshalJSON implements [json.Marshaler].
func (r LoadReport) MarshalJSON() ([]byte, error) { return wire.Object(r) }

// noteSymmetry adds a note to the report of a list that has every edge twice.
func (r *LoadReport) noteSymmetry() {
	if r.Symmetric && (r.Repeats == SumWeights || r.Repeats == CountRepeats) {
		r.Notes = append(r.Notes, edgelist.Note{
			Msg: "the list has every edge in both directions, and each one was taken twice",
			Try: []edgelist.Setting{{Option: "repeats", Value: KeepLast.String()}},
		})
	}
}

// noteDirection adds a note to the report of a list of triples that made undirected relations.
func (r *LoadReport) noteDirection(o *LoadOptions) {
	if r.Columns.Relations() && o.Direction == 0 && !r.Directed && r.Relations > 0 {
		r.Notes = append(r.Notes, edgelist.Note{
			Msg: "the relations of the list are undirected, as the database is, so their sources and targets are not told apart",
			Try: []edgelist.Setting{{Option: "directed", Value: edgelist.On.String()}},
		})
	}
}

// maxReported bounds LoadReport.Errors.
const maxReported = 10

// Load adds all edges of a list or, if it returns an error, none. An edge that is repeated or
// exists already gets the weight that came last and the latest time, unless LoadOptions.Repeats
// says otherwise. In an undirected graph the two directions of an edge are the same edge. Loops are
// kept. Load returns ErrLines, with a report of the first malformed lines, if there are more than
// LoadOptions.MaxErrors. The list may be of any length, with any number of nodes: what does not fit
// into memory is sorted in temporary files in the database's directory, which take 16 bytes an
// edge, 40 with weights or times, and the keys of each run of edges with 5 bytes a key besides.
// Load returns ErrFull if the disk has no room for them.
//
// The graph with the edges is written as a new generation of blocks, and one commit switches to it.
// Readers continue meanwhile; writers wait.
func (db *DB) Load(ctx context.Context, r io.Reader, o LoadOptions) (*LoadReport, error) {
	if o.DryRun {
		return db.measure(ctx, r, o)
	}
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.unlock()
	now, err := db.pin()
	if err != nil {
		return nil, err
	}
	defer db.unpin(now)
	next, report, err := db.readEdges(ctx, r, &o, now, func(bulk *index.Bulk) (*index.Snapshot, index.Tally, error) {
		return db.writeBulk(ctx, now, bulk)
	})
	if err != nil {
		return report, err
	}
	return report, db.commitBulk(ctx, now, next)
}

// writeBulk writes the generation of a bulk load on top of now, and returns its version.
func (db *DB) writeBulk(ctx context.Context, now *snapshot, bulk *index.Bulk) (next *index.Snapshot, t index.Tally, err error) {
	err = db.writeGeneration(ctx, now.ts, func(w index.Writer, from *index.Stored) error {
		next, t, err = bulk.Write(ctx, w, db.generation.Add(1), from)
		return err
	})
	return next, t, err
}

// commitBulk commits the version that a bulk load on top of now made.
func (db *DB) commitBulk(ctx context.Context, now *snapshot, next *index.Snapshot) error {
	if err := db.fitsGraph(next, graphPart); err != nil {
		return err
	}
	if err := db.rebase(ctx, now, next); err != nil {
		return err
	}
	db.refreshIfDue(db.now.Load())
	return nil
}

// measure reports what Load would do with a list, and the memory and disk space that the graph
// would take, without changing anything.
func (db *DB) measure(ctx context.Context, r io.Reader, o LoadOptions) (*LoadReport, error) {
	now, err := db.pin()
	if err != nil {
		return nil, err
	}
	defer db.unpin(now)
	var disk diskCount
	_, report, err := db.readEdges(ctx, r, &o, now, func(bulk *index.Bulk) (*index.Snapshot, index.Tally, error) {
		return bulk.Write(ctx, ctxio.Writer(ctx, &disk), 1, new(index.Stored))
	})
	if report != nil {
		report.Disk = int64(disk)
	}
	return report, err
}

// diskCount is an index.Writer that counts the bytes written to it.
type diskCount int64

// Set implements index.Writer.
func (n *diskCount) Set(key, value []byte) error {
	*n += diskCount(len(key) + len(value))
	return nil
}

// Delete implements index.Writer.
func (*diskCount) Delete([]byte) error { return nil }

// maxBulk is the largest number of bytes that a load takes to collect and sort edges.
const maxBulk = 256 << 20

// newBulk returns a bulk load on top of now.
func (db *DB) newBulk(now *snapshot, files *scratch, repeats Repeats) *index.Bulk {
	return now.Bulk(index.BulkOptions{
		Memory:  min(db.opts.memory(workPart)/bulkFraction, maxBulk),
		Scratch: func() (index.Scratch, error) { return files.make() }, Repeats: repeats, Time: db.opts.Now().UnixNano(),
	})
}

// readEdges reads a list, calls write to write the graph with its edges, and returns the version
// that write made, and a report, which is nil for invalid labels.
func (db *DB) readEdges(
	ctx context.Context, r io.Reader, o *LoadOptions, now *snapshot, write func(*index.Bulk) (*index.Snapshot, index.Tally, error),
) (*index.Snapshot, *LoadReport, error) {
	files := &scratch{db: db}
	defer files.remove()
	bulk := db.newBulk(now, files, o.Repeats)
	defer bulk.Close()
	if o.Format == edgelist.Gorse && o.SourceLabel == "" && o.TargetLabel == "" {
		o.SourceLabel, o.TargetLabel = edgelist.GorseUser, edgelist.GorseItem
	}
	if err := checkListLabels(o.SourceLabel, o.TargetLabel); err != nil {
		return nil, nil, err
	}
	if err := bulk.SetLabels(o.SourceLabel, o.TargetLabel); err != nil {
		return nil, nil, inputError(err)
	}
	edges, err := newBulkEdges(bulk, o, now.Meta.Directed)
	if err != nil {
		return nil, nil, err
	}
	directed := edges.directed
	report := &LoadReport{
		Name: o.Name, Directed: directed, Repeats: o.Repeats, SourceLabel: o.SourceLabel, TargetLabel: o.TargetLabel,
	}
	list, err := db.openEdges(ctx, r, o, directed, files)
	if err != nil {
		return nil, report, err
	}
	if o.Relation == "" && !list.Columns.Relations() {
		if err := edges.setRelation(""); err != nil {
			return nil, report, inputError(err)
		}
	}
	err = eachLine(ctx, list.Edges(), report, o, edges.add, func() error { return nil })
	report.Detected = *list.Detected
	if err != nil {
		return nil, report, err
	}
	next, tally, err := write(bulk)
	if errors.Is(err, index.ErrTooLarge) || errors.Is(err, index.ErrWeight) || errors.Is(err, index.ErrLabel) {
		err = inputError(err)
	}
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, report, err
	}
	report.Repeated, report.Differing, report.BothWays, report.Symmetric = tally.Repeated, tally.Differing, tally.BothWays, tally.Symmetric
	report.countAdded(now.Snapshot, next)
	report.noteSymmetry()
	report.noteDirection(o)
	return next, report, nil
}

// countAdded fills in what a load from one version to the next added, and what memory the next
// takes.
func (r *LoadReport) countAdded(now, next *index.Snapshot) {
	r.Sources = labelled(next, r.SourceLabel) - labelled(now, r.SourceLabel)
	r.Targets = labelled(next, r.TargetLabel) - labelled(now, r.TargetLabel)
	r.Nodes = next.Meta.Live - now.Meta.Live
	r.Edges = next.Meta.Edges - now.Meta.Edges
	r.Loops = next.Meta.Loops - now.Meta.Loops
	r.Relations = int64(len(next.Meta.Relations) - len(now.Meta.Relations))
	r.Memory = next.LoadedBytes()
	r.Required = requiredMemory(r.Memory)
}

// labelled returns the number of nodes with a label, or 0 for the label "".
func labelled(s *index.Snapshot, label string) int64 {
	n, ok := s.Meta.LabelNumber(label)
	if !ok || label == "" {
		return 0
	}
	return s.CountLabels()[n]
}

// eachLine calls use for each line of a list, and counts the lines and the malformed ones; use may
// report more of them. Every checkEvery lines it reports progress and calls check.
func eachLine[T any](
	ctx context.Context, list iter.Seq2[T, error], r *LoadReport, o *LoadOptions, use func(T) error, check func() error,
) error {
	for line, err := range list {
		if err == nil {
			err = use(line)
		}
		if err == nil {
			r.Lines++
		} else if err := r.skip(err, o.MaxErrors, o.Malformed); err != nil {
			return err
		}
		if (r.Lines+r.Skipped)%checkEvery != 0 {
			continue
		}
		if o.Progress != nil {
			o.Progress(r.Lines)
		}
		if err := cmp.Or(check(), ctx.Err()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// openEdges opens an edge list. directed says how to read a list that has each edge of an
// undirected graph once.
func (db *DB) openEdges(ctx context.Context, r io.Reader, o *LoadOptions, directed bool, s *scratch) (*edgelist.Reader, error) {
	list, err := edgelist.NewReader(ctxio.Reader(ctx, r), edgelist.Options{
		Format: o.Format, Name: o.Name, Columns: o.Columns, Names: o.Names, Times: o.Times, Related: o.Relation != "", Relations: o.relations, Negative: o.Negative,
		Dialect: o.Dialect, Labelled: o.SourceLabel != "" || o.TargetLabel != "", Directed: directed, MaxSplit: db.opts.memory(workPart) / splitFraction,
		Tables: o.Tables, Memory: db.opts.memory(workPart) / tableFraction,
		Spool: func() (edgelist.Spool, error) { return s.make() },
	})
	return list, listError(err)
}

// listError marks an error of edgelist as ErrInput if it is a fault of the options.
func listError(err error) error {
	if errors.Is(err, edgelist.ErrColumns) || errors.Is(err, edgelist.ErrRelated) || errors.Is(err, edgelist.ErrTables) {
		return inputError(err)
	}
	return err
}

// bulkEdges adds the edges of a list to a bulk load.
type bulkEdges struct {
	bulk     *index.Bulk
	o        *LoadOptions
	directed bool     // direction of the relation of the list, or of new relations
	relation struct { // of the previous edge
		name   string
		number uint16
		known  bool
	}
	labels *[2]string // of the ends of the previous edge, if the list says them
}

// newBulkEdges returns ErrInput for a relation of the list that cannot have its direction. directed
// is the direction of the database.
func newBulkEdges(bulk *index.Bulk, o *LoadOptions, directed bool) (*bulkEdges, error) {
	b := &bulkEdges{bulk: bulk, o: o, directed: directed}
	if o.Direction != 0 {
		b.directed = o.Direction == Directed
	}
	if o.Relation == "" {
		return b, nil
	}
	if err := b.setRelation(o.Relation); err != nil {
		return nil, inputError(err)
	}
	_, b.directed, _ = bulk.Relation(o.Relation, b.directed) // it exists
	return b, nil
}

// errDirection is the error for a relation that exists with another direction.
var errDirection = errors.New("the direction of a relation cannot change")

// agree returns an error if a relation has another direction than the options say.
func (b *bulkEdges) agree(relation string, directed bool) error {
	if b.o.Direction == 0 || directed == (b.o.Direction == Directed) {
		return nil
	}
	is, asked := "undirected", "directed"
	if directed {
		is, asked = asked, is
	}
	if relation == "" {
		return fmt.Errorf("%w: the database is %s, and so are its edges without a relation; asked for are %s ones", errDirection, is, asked)
	}
	return fmt.Errorf("%w: relation %q is %s; asked for are %s edges", errDirection, relation, is, asked)
}

// setRelation sets the relation of the next edge, and makes the relation if it does not exist.
func (b *bulkEdges) setRelation(name string) error {
	number, directed, err := b.bulk.Relation(name, b.directed)
	if err == nil {
		err = b.agree(name, directed)
	}
	b.relation.name, b.relation.number, b.relation.known = name, number, err == nil
	return err
}

// add adds an edge. An edge that cannot be stored is a malformed line. A relation with another
// direction, and too many relations, end the load.
func (b *bulkEdges) add(e edgelist.Edge) error {
	name := cmp.Or(e.Relation, b.o.Relation)
	src, dst := b.o.ends(&e)
	err := errors.Join(src.Valid(), dst.Valid())
	if err == nil && e.Labels != nil && e.Labels != b.labels {
		err, b.labels = b.bulk.SetLabels(e.Labels[0], e.Labels[1]), e.Labels
	}
	if err == nil && !index.ValidWeight(e.Weight) {
		err = fmt.Errorf("%w: %v", index.ErrWeight, e.Weight)
	}
	if err == nil && (name != b.relation.name || !b.relation.known) {
		if err = b.setRelation(name); errors.Is(err, errDirection) || errors.Is(err, index.ErrTooLarge) {
			return inputError(fmt.Errorf("line %d: %w", e.Line, err))
		}
	}
	if err == nil {
		if err = b.bulk.Edge(src, dst, b.relation.number, e.Weight, e.Time); !errors.Is(err, index.ErrFeatureLen) && !errors.Is(err, index.ErrLabel) {
			return err
		}
	}
	return &edgelist.LineError{Line: e.Line, Text: shortened(e.Src) + " " + shortened(e.Dst), Msg: err.Error()}
}

// ends returns the keys of an edge of a list.
func (o *LoadOptions) ends(e *edgelist.Edge) (src, dst Key) {
	if e.Labels != nil {
		return keyWithLabel(e.Labels[0], e.Src), keyWithLabel(e.Labels[1], e.Dst)
	}
	return keyWithLabel(o.SourceLabel, e.Src), keyWithLabel(o.TargetLabel, e.Dst)
}

// labelEnd separates the label from the name in the list, in the key of a source or target with a
// label.
const labelEnd = ":"

// checkListLabels returns ErrInput for a label that cannot be part of the keys of its nodes.
func checkListLabels(labels ...string) error {
	for _, label := range labels {
		if strings.Contains(label, labelEnd) {
			return inputf("label %q of a source or target: a colon ends the label in the key of its nodes", label)
		}
	}
	return nil
}

// keyWithLabel returns the key of a source or target. label may be "".
func keyWithLabel(label string, t edgelist.Token) Key {
	switch {
	case label != "":
		return Str(label + labelEnd + tokenText(t))
	case t.IsInt:
		return Int(t.Int)
	}
	return Str(t.Str)
}

func tokenText(t edgelist.Token) string {
	if t.IsInt {
		return strconv.FormatInt(t.Int, 10)
	}
	return t.Str
}

// shortened returns the start of a key, for messages.
func shortened(t edgelist.Token) string {
	const shown = 30
	if text := tokenText(t); len(text) <= shown {
		return text
	}
	return strings.ToValidUTF8(t.Str[:shown], "") + "..."
}

// skip counts a malformed line. It returns the error that ends the load, if any.
func (r *LoadReport) skip(err error, most int, malformed func(error)) error {
	if bad := (*edgelist.LineError)(nil); !errors.As(err, &bad) {
		return err
	}
	r.Skipped++
	if len(r.Errors) < maxReported {
		r.Errors = append(r.Errors, err)
	}
	if malformed != nil {
		malformed(err)
	}
	if most >= 0 && r.Skipped > int64(most) {
		return fmt.Errorf("%w: %w", ErrLines, err)
	}
	return nil
}

// BulkWriter writes many nodes and edges from a program, in as many commits as they take. It keeps
// up to 1 MB of them in memory, commits when it has so many, and splits a commit that is too large
// for one [DB.Update]. Commits are in the order of the calls, and each is atomic; other writers
// come between them. What it writes replaces what exists, so a program that was killed may write
// all of it again.
//
// The first error ends the writer: all calls return it from then on, and what was not committed is
// lost. A BulkWriter holds no transaction and need not be closed: without a Flush, what is in
// memory is dropped. It is safe for concurrent use; while one goroutine commits, others wait. For
// lists in files, [DB.Load] is faster, and all or nothing.
type BulkWriter struct {
	db  *DB
	ctx context.Context

	mu     sync.Mutex        // protects following fields
	writes []func(*Tx) error // not committed yet
	bytes  int               // memory of writes, approximately
	err    error             // the first error
}

// Limits of what a BulkWriter keeps in memory.
const (
	bulkBytes  = 1 << 20
	writeBytes = 128 // of a write itself
)

// BulkWriter returns a writer of many nodes and edges, whose commits end with ctx.
func (db *DB) BulkWriter(ctx context.Context) *BulkWriter { return &BulkWriter{db: db, ctx: ctx} }

// PutNode writes a node as [Tx.PutNode] does. The caller must not change the features and the
// properties of n before they are flushed.
func (w *BulkWriter) PutNode(n Node) error {
	bytes := 4*len(n.Features) + writeBytes*len(n.Properties)
	for _, v := range n.Properties {
		switch v := v.(type) {
		case string:
			bytes += len(v)
		case []string:
			for _, s := range v {
				bytes += len(s)
			}
		}
	}
	return w.add(bytes, func(tx *Tx) error { return tx.PutNode(n) }, n.Key)
}

// PutEdge writes an edge as [Tx.PutEdge] does.
func (w *BulkWriter) PutEdge(src, dst any, opts ...EdgeOption) error {
	u, err := KeyOf(src)
	if err != nil {
		return w.fail(err)
	}
	v, err := KeyOf(dst)
	if err != nil {
		return w.fail(err)
	}
	return w.add(0, func(tx *Tx) error { return tx.PutEdge(u, v, opts...) }, u, v)
}

// Flush commits what is in memory. When it returns nil, everything that was written is on the disk,
// unless Options.NoSync is set. Otherwise it returns the first error of the writer.
func (w *BulkWriter) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commit()
	return w.err
}

// fail ends the writer with an error, unless it has ended.
func (w *BulkWriter) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.writes = cmp.Or(w.err, err), nil
	return w.err
}

// add adds a write of some bytes besides the keys, and commits if there is much in memory.
func (w *BulkWriter) add(bytes int, write func(*Tx) error, keys ...Key) error {
	for _, k := range keys {
		s, _ := k.Str()
		bytes += len(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.writes, w.bytes = append(w.writes, write), w.bytes+bytes+writeBytes
	if w.bytes >= bulkBytes {
		w.commit()
	}
	return w.err
}

// commit commits what is in memory. The caller holds the lock.
func (w *BulkWriter) commit() {
	if w.err == nil && len(w.writes) > 0 {
		w.err = w.db.writeAll(w.ctx, w.writes)
	}
	clear(w.writes)
	w.writes, w.bytes = w.writes[:0], 0
}

// writeAll makes writes, in one transaction or, if they do not fit, in several.
func (db *DB) writeAll(ctx context.Context, writes []func(*Tx) error) error {
	err := db.Update(ctx, func(tx *Tx) error {
		for _, write := range writes {
			if err := write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	half := len(writes) / 2
	if half == 0 || !errors.Is(err, ErrTooLarge) {
		return err
	}
	if err := db.writeAll(ctx, writes[:half]); err != nil {
		return err
	}
	return db.writeAll(ctx, writes[half:])
}
