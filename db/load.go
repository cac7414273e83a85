package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kith/db/edgelist"
	"kith/index"
)

// LoadOptions says how to read a file. The zero value tells format and columns from the file, and
// stops at the first malformed line.
type LoadOptions struct {
	Format  edgelist.Format
	Name    string           // of the file, which decides where its first bytes leave a doubt
	Columns edgelist.Columns // what the columns of an edge list mean
	Names   edgelist.Names   // which columns these are, by the names in the header; they say what the columns mean, too
	Times   edgelist.TimeFormat
	Header  edgelist.Header // of a table
	Repeats Repeats         // how an edge that comes twice, or is there, is combined; zero: KeepLast
	// SourceLabel and TargetLabel are the labels of the sources and of the targets of a list that joins nodes of
	// two kinds. The 7 in the column of sources with label user becomes the node 'user:7', another node than 'item:7',
	// and gets the label. A label must not hold a colon. "": the nodes are called as the list calls them, and
	// have no label.
	SourceLabel, TargetLabel string
	// MaxErrors is how many malformed lines to skip; below 0: any number.
	MaxErrors int
	// Malformed is called with each malformed line, an *edgelist.LineError.
	Malformed func(error)
	// Progress is called now and then with the lines read.
	Progress func(lines int64)
}

// SetColumns reads what the columns of a list mean, auto, src,dst, src,dst,weight, src,dst,time or
// src,dst,weight,time, or which they are, as in src=user_id,dst=item_id,time=created_at.
func (o *LoadOptions) SetColumns(s string) (err error) {
	o.Columns, o.Names = edgelist.Auto, edgelist.Names{}
	if strings.Contains(s, "=") {
		o.Names, err = edgelist.ParseNames(s)
	} else {
		o.Columns, err = edgelist.ParseColumns(s)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return nil
}

// ParseTimes reads how a list writes times: auto, s, ms, us, ns, rfc3339, datetime or date.
func ParseTimes(s string) (edgelist.TimeFormat, error) {
	f, err := edgelist.ParseTimeFormat(s)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return f, nil
}

// ParseFormat reads the name of a format: auto, snap, csv, tsv, mtx, npy, npz, pt or ogb.
func ParseFormat(s string) (edgelist.Format, error) {
	f, err := edgelist.ParseFormat(s)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return f, nil
}

// Repeats says how an edge that a list has more than once, or that is in the graph already, is combined. In
// an undirected graph the two directions of an edge are the same one. The time kept is always the latest.
type Repeats = index.Repeats

// The ways to combine an edge that repeats. With each, loading a list in parts has the same result as
// loading it whole.
const (
	KeepLast     = index.KeepLast     // it has the weight of the last line
	SumWeights   = index.SumWeights   // the weights of its lines are added to the one it has
	CountRepeats = index.CountRepeats // each of its lines adds 1 to the weight it has, whatever the list's weights
	NoRepeats    = index.NoRepeats    // Load returns ErrRepeated
)

// ParseRepeats reads how an edge that repeats is combined: last, sum, count or error.
func ParseRepeats(s string) (Repeats, error) {
	r, err := index.ParseRepeats(s)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return r, nil
}

// LoadReport says what a load did.
type LoadReport struct {
	Name      string  `json:"name"`  // LoadOptions.Name
	Lines     int64   `json:"lines"` // with an edge, or a node
	Nodes     int64   `json:"nodes"` // made
	Edges     int64   `json:"edges"` // made, loops included
	Loops     int64   `json:"loops"` // made
	Repeats   Repeats `json:"repeats"`
	Repeated  int64   `json:"repeated"`  // lines that repeat an edge of another line, or one that was there
	Differing int64   `json:"differing"` // of these, the lines with another weight or time than the line or edge before
	BothWays  int64   `json:"both_ways"` // edges, but for loops, that the list has in both directions; only of an undirected graph
	// Symmetric reports that the list has all edges, but for loops, in both directions, each as often in one
	// as in the other: probably it lists each edge of an undirected graph twice.
	Symmetric bool  `json:"symmetric"`
	Skipped   int64 `json:"skipped"` // malformed lines
	// Sources and Targets are the nodes that have got LoadOptions.SourceLabel and TargetLabel, which follow.
	Sources     int64               `json:"sources"`
	Targets     int64               `json:"targets"`
	SourceLabel string              `json:"source_label"`
	TargetLabel string              `json:"target_label"`
	Columns     edgelist.Columns    `json:"columns"`
	Names       edgelist.Names      `json:"names"`  // of the columns that were read, if there is a header
	Unused      []string            `json:"unused"` // columns that were not read: their names or, without a header, their places from 1
	Times       edgelist.TimeFormat `json:"times"`  // how times are written; AnyTime: there are none
	Format      edgelist.Format     `json:"format"`
	Header      bool                `json:"header"`   // the first line was taken for the names of the columns
	Directed    bool                `json:"directed"` // whether the graph is
	Memory      int64               `json:"memory"`   // bytes of memory that the whole graph takes
	Required    int64               `json:"required"` // the least Options.Memory for it
	Disk        int64               `json:"disk"`     // bytes of the blocks of the whole graph, before the store packs them
	Errors      []error             `json:"errors"`   // the first malformed lines
}

// Read returns which columns were read, as [LoadOptions.SetColumns] reads it.
func (r *LoadReport) Read() string {
	if r.Names != (edgelist.Names{}) {
		return r.Names.String()
	}
	return r.Columns.String()
}

// Notes returns what a user should know of the load: a sentence each.
func (r *LoadReport) Notes() (notes []string) {
	if r.Symmetric && (r.Repeats == SumWeights || r.Repeats == CountRepeats) {
		notes = append(notes, fmt.Sprintf("the list has every edge in both directions, so repeats = %v took each one twice; repeats = last takes it once", r.Repeats))
	}
	return notes
}

// maxReported bounds LoadReport.Errors.
const maxReported = 10

// ErrLines is returned by a Load that met more malformed lines than it may skip.
var ErrLines = errors.New("db: malformed lines")

// Load adds the edges of a list, all of them or, where it returns an error, none. An edge that comes
// twice, or is there already, has the weight that came last and the latest time, unless
// LoadOptions.Repeats says otherwise; in an undirected graph the two directions of an edge are the
// same one. Loops are kept. Load returns ErrLines, with
// the report of the first malformed lines, when there are more than LoadOptions allows, and
// ErrTooLarge for a graph that does not fit into Options.Memory. The list itself may be of any length:
// what does not fit of it is sorted in a temporary file in the database's directory, of 8 bytes an
// edge, 20 with weights or times.
//
// The graph with the edges is written as a new generation of blocks, and one commit makes it count.
// Readers go on meanwhile; writers wait.
func (db *DB) Load(ctx context.Context, r io.Reader, o LoadOptions) (*LoadReport, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.unlock()
	now, err := db.pin()
	if err != nil {
		return nil, err
	}
	defer db.unpin(now)
	l, err := db.newLoader(now, o)
	if err != nil {
		return nil, err
	}
	generation := db.generation.Add(1)
	next, err := l.graph(ctx, r, generation, func(bytes int64) error { return db.fits(bytes, growShare) })
	if err != nil {
		return l.report, err
	}
	made := &snapshot{next, now.models, now.ts}
	if err := db.writeGeneration(ctx, made, generation); err != nil {
		return l.report, err
	}
	if err := db.rebase(now, next, now.models); err != nil {
		return l.report, err
	}
	db.refreshIfDue(db.now.Load())
	return l.report, nil
}

// Measure reports what Load would do with a list, and the memory and disk that the graph would then
// take, and does nothing. The report counts no nodes, edges and disk for a graph that is too large
// for the memory that Measure may take itself, which is Options.Memory.
func (db *DB) Measure(ctx context.Context, r io.Reader, o LoadOptions) (*LoadReport, error) {
	now, err := db.pin()
	if err != nil {
		return nil, err
	}
	defer db.unpin(now)
	l, err := db.newLoader(now, o)
	if err != nil {
		return nil, err
	}
	next, err := l.graph(ctx, r, 1, func(bytes int64) error {
		l.report.needs(bytes)
		return db.fits(bytes, 100)
	})
	if err != nil {
		return l.report, err
	}
	return l.report, next.WriteGeneration(cancellableWriter{ctx, (*diskCount)(&l.report.Disk)}, 1)
}

// diskCount is a Writer that counts what it is handed.
type diskCount int64

// Set implements index.Writer.
func (n *diskCount) Set(key, value []byte) error {
	*n += diskCount(len(key) + len(value))
	return nil
}

// Delete implements index.Writer.
func (*diskCount) Delete([]byte) error { return nil }

// loader gathers the edges of one list.
type loader struct {
	db      *DB
	now     *snapshot
	options LoadOptions
	bulk    *index.Bulk
	scratch *scratch
	report  *LoadReport
}

// A load keeps so many edges in memory: one for runShare bytes of Options.Memory, of which sorting
// takes a tenth then, and no more than maxRun. A file of PyTorch may have one byte for splitShare of
// them.
const (
	runShare   = 512
	maxRun     = 1 << 21
	splitShare = 8
)

func (db *DB) newLoader(now *snapshot, o LoadOptions) (*loader, error) {
	l := &loader{db: db, now: now, options: o, scratch: db.scratch()}
	l.report = &LoadReport{Name: o.Name, Directed: now.Meta.Directed, Repeats: o.Repeats, SourceLabel: o.SourceLabel, TargetLabel: o.TargetLabel}
	run := int(min(db.opts.Memory/runShare, maxRun))
	l.bulk = now.Bulk(index.BulkOptions{Run: run, Scratch: func() (index.Scratch, error) { return l.scratch.make() }, Repeats: o.Repeats})
	for _, label := range []string{o.SourceLabel, o.TargetLabel} {
		if err := validSideLabel(label); err != nil {
			return nil, err
		}
	}
	if err := l.bulk.SetLabels(o.SourceLabel, o.TargetLabel); err != nil {
		return nil, inputError(err)
	}
	return l, nil
}

// graph reads a list and returns the next version, to be written under generation. It asks fits
// about the bytes the graph will take before it takes them.
func (l *loader) graph(ctx context.Context, r io.Reader, generation uint32, fits func(int64) error) (*index.Snapshot, error) {
	defer l.db.removeScratch(l.scratch)
	if err := l.read(ctx, r); err != nil {
		return nil, err
	}
	next, tally, err := l.bulk.Result(ctx, generation, fits)
	if errors.Is(err, index.ErrTooLarge) || errors.Is(err, index.ErrWeight) {
		err = inputError(err)
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.report.Repeated, l.report.Differing = tally.Repeated, tally.Differing
	l.report.BothWays, l.report.Symmetric = tally.BothWays, tally.Symmetric
	l.report.Sources = labelled(next, l.options.SourceLabel) - labelled(l.now.Snapshot, l.options.SourceLabel)
	l.report.Targets = labelled(next, l.options.TargetLabel) - labelled(l.now.Snapshot, l.options.TargetLabel)
	l.report.Nodes = next.Meta.Live - l.now.Meta.Live
	l.report.Edges = next.Meta.Edges - l.now.Meta.Edges
	l.report.Loops = next.Meta.Loops - l.now.Meta.Loops
	l.report.needs(next.Bytes())
	return next, fits(next.Bytes())
}

// labelled returns the number of nodes with a label; none have the label "".
func labelled(s *index.Snapshot, label string) int64 {
	n, ok := s.Meta.LabelNumber(label)
	if !ok || label == "" {
		return 0
	}
	return s.CountLabels()[n]
}

// checkEvery is the number of lines, nodes or edges between two checks of the context, and of the memory.
const checkEvery = 1 << 14

func (l *loader) read(ctx context.Context, r io.Reader) error {
	list, err := edgelist.NewReader(cancellableReader{ctx, r}, l.db.listOptions(&l.options, l.report.Directed, l.scratch))
	if errors.Is(err, edgelist.ErrColumns) {
		err = inputError(err)
	}
	if err != nil {
		return err
	}
	l.report.Columns, l.report.Format, l.report.Header = list.Columns(), list.Format(), list.Header()
	l.report.Names, l.report.Unused, l.report.Times = list.Names(), list.Unused(), list.Times()
	for e, err := range list.Edges() {
		if err == nil {
			err = l.add(e)
		}
		if err == nil {
			l.report.Lines++
		} else if err := l.report.skip(err, &l.options); err != nil {
			return err
		}
		if (l.report.Lines+l.report.Skipped)%checkEvery == 0 {
			if err := l.look(ctx); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// listOptions says how an edge list is read.
func (db *DB) listOptions(o *LoadOptions, directed bool, s *scratch) edgelist.Options {
	return edgelist.Options{
		Format: o.Format, Name: o.Name, Columns: o.Columns, Names: o.Names, Times: o.Times, Header: o.Header,
		Directed: directed, MaxSplit: db.opts.Memory / splitShare,
		Spool: func() (edgelist.Spool, error) { return s.make() },
	}
}

// look checks what may end a load, and reports progress.
func (l *loader) look(ctx context.Context) error {
	if l.options.Progress != nil {
		l.options.Progress(l.report.Lines)
	}
	if need := l.bulk.Bytes(); need > l.db.opts.Memory {
		return fmt.Errorf("%w: after %d edges: loading needs more than the %d MB of Options.Memory", ErrTooLarge, l.report.Lines, l.db.opts.Memory>>20)
	}
	return ctx.Err()
}

func (l *loader) add(e edgelist.Edge) error {
	src, dst := keyUnder(l.options.SourceLabel, e.Src), keyUnder(l.options.TargetLabel, e.Dst)
	err := errors.Join(src.Valid(), dst.Valid())
	if err == nil && !index.ValidWeight(e.Weight) {
		err = fmt.Errorf("%w: %v", index.ErrWeight, e.Weight)
	}
	if err != nil {
		return l.bad(e, err)
	}
	switch err = l.bulk.Edge(src, dst, e.Weight, e.Time); {
	case errors.Is(err, index.ErrTooLarge):
		return inputError(err)
	case errors.Is(err, index.ErrFeatureLen):
		return l.bad(e, err)
	}
	return err
}

// bad returns the error of an edge that cannot be stored.
func (l *loader) bad(e edgelist.Edge, err error) error {
	return &edgelist.LineError{Line: e.Line, Text: beginning(e.Src) + " " + beginning(e.Dst), Msg: err.Error()}
}

func (r *LoadReport) needs(bytes int64) {
	r.Memory, r.Required = bytes, max(minMemory, bytes*100/growShare+100)
}

// labelEnd is between a label and what the list calls a node, in the key of a source or target with a label.
const labelEnd = ":"

// validSideLabel returns an error for a label that cannot be part of the keys of its nodes.
func validSideLabel(label string) error {
	if strings.Contains(label, labelEnd) {
		return fmt.Errorf("%w: label %q of a source or target: a colon ends the label in the key of its nodes", ErrInput, label)
	}
	return nil
}

// keyUnder returns the key of a source or target with a label, or with none.
func keyUnder(label string, t edgelist.Token) Key {
	switch {
	case label == "":
		return keyFrom(t)
	case t.IsInt:
		return Str(label + labelEnd + strconv.FormatInt(t.Int, 10))
	}
	return Str(label + labelEnd + t.Str)
}

func keyFrom(t edgelist.Token) Key {
	if t.IsInt {
		return Int(t.Int)
	}
	return Str(t.Str)
}

// beginning returns what a key begins with, to be shown.
func beginning(t edgelist.Token) string {
	const shown = 30
	switch {
	case t.IsInt:
		return strconv.FormatInt(t.Int, 10)
	case len(t.Str) > shown:
		return strings.ToValidUTF8(t.Str[:shown], "") + "..."
	}
	return t.Str
}

// skip counts a malformed line, or returns the error that ends the load.
func (r *LoadReport) skip(err error, o *LoadOptions) error {
	if bad := (*edgelist.LineError)(nil); !errors.As(err, &bad) {
		return err
	}
	r.Skipped++
	if len(r.Errors) < maxReported {
		r.Errors = append(r.Errors, err)
	}
	if o.Malformed != nil {
		o.Malformed(err)
	}
	if o.MaxErrors >= 0 && r.Skipped > int64(o.MaxErrors) {
		return fmt.Errorf("%w: %w", ErrLines, err)
	}
	return nil
}
