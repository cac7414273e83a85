package db

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kith/db/edgelist"
	"kith/index"
)

// LoadOptions says how to read an edge list. The zero value reads SNAP text, plain or gzip, and
// stops at the first line that is none.
type LoadOptions struct {
	Columns edgelist.Columns // what the columns mean; zero: told from the data
	// MaxErrors is how many malformed lines to skip; below 0: any number.
	MaxErrors int
	// Progress is called now and then with the lines read.
	Progress func(lines int64)
}

// ParseColumns reads what the columns of a list mean: auto, src,dst or src,dst,weight or src,dst,time.
func ParseColumns(s string) (edgelist.Columns, error) {
	c, err := edgelist.ParseColumns(s)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return c, nil
}

// LoadReport says what a load did.
type LoadReport struct {
	Lines    int64 // with an edge
	Nodes    int64 // made
	Edges    int64 // made, loops included
	Loops    int64 // made
	Repeated int64 // lines that repeat an edge of another line, or one that was there
	Skipped  int64 // malformed lines
	Columns  edgelist.Columns
	Errors   []error // the first malformed lines
}

// maxReported bounds LoadReport.Errors.
const maxReported = 10

// ErrLines is returned by a Load that met more malformed lines than it may skip.
var ErrLines = errors.New("db: malformed lines")

// Load adds the edges of a list, all of them or, where it returns an error, none. An edge that is
// there already, or comes twice, keeps the weight and time that came last. It returns ErrLines, with
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
	l := loader{db: db, options: o, report: &LoadReport{}, scratch: scratch{dir: db.store.dir()}}
	defer func() {
		if err := l.scratch.remove(); err != nil {
			db.opts.Logger.Error("removing a scratch file", "err", err)
		}
	}()
	l.bulk = now.Bulk(index.BulkOptions{Run: int(min(db.opts.Memory/runShare, maxRun)), Scratch: l.scratch.make})
	if err := l.read(ctx, r); err != nil {
		return l.report, err
	}
	generation := db.generation.Add(1)
	fits := func(bytes int64) error { return db.fits(bytes, growShare) }
	next, repeated, err := l.bulk.Result(generation, fits)
	if err != nil {
		return l.report, err
	}
	if err := db.fits(next.Bytes(), growShare); err != nil {
		return l.report, err
	}
	if err := ctx.Err(); err != nil {
		return l.report, err
	}
	made := &snapshot{next, now.models, now.ts}
	if err := db.writeGeneration(made, generation); err != nil {
		return l.report, err
	}
	if err := db.rebase(now, next, now.models); err != nil {
		return l.report, err
	}
	l.report.Repeated = repeated
	l.report.Nodes = next.Meta.Live - now.Meta.Live
	l.report.Edges = next.Meta.Edges - now.Meta.Edges
	l.report.Loops = next.Meta.Loops - now.Meta.Loops
	return l.report, nil
}

// loader gathers the edges of one list.
type loader struct {
	db      *DB
	options LoadOptions
	bulk    *index.Bulk
	scratch scratch
	report  *LoadReport
}

// A load keeps so many edges in memory: one for runShare bytes of Options.Memory, of which sorting
// takes a tenth then, and no more than maxRun.
const (
	runShare = 512
	maxRun   = 1 << 21
)

// checkEvery is the number of lines between two looks at the context and the memory.
const checkEvery = 1 << 14

func (l *loader) read(ctx context.Context, r io.Reader) error {
	list, err := edgelist.NewReader(r, edgelist.Options{Columns: l.options.Columns})
	if err != nil {
		return err
	}
	for e, err := range list.Edges() {
		if err == nil {
			err = l.add(e)
		}
		if err == nil {
			l.report.Lines++
		} else if err := l.skip(err); err != nil {
			return err
		}
		if (l.report.Lines+l.report.Skipped)%checkEvery == 0 {
			if err := l.look(ctx); err != nil {
				return err
			}
		}
	}
	l.report.Columns = list.Columns()
	return ctx.Err()
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
	err := l.bulk.Edge(keyFrom(e.Src), keyFrom(e.Dst), e.Weight, e.Time)
	if err != nil && !errors.Is(err, index.ErrTooLarge) {
		return &edgelist.LineError{Line: e.Line, Msg: err.Error()}
	}
	return err
}

func keyFrom(t edgelist.Token) Key {
	if t.IsInt {
		return Int(t.Int)
	}
	return Str(t.Str)
}

// skip counts a malformed line, or returns the error that ends the load.
func (l *loader) skip(err error) error {
	if bad := (*edgelist.LineError)(nil); !errors.As(err, &bad) {
		return err
	}
	l.report.Skipped++
	if len(l.report.Errors) < maxReported {
		l.report.Errors = append(l.report.Errors, err)
	}
	if l.options.MaxErrors >= 0 && l.report.Skipped > int64(l.options.MaxErrors) {
		return fmt.Errorf("%w: %w", ErrLines, err)
	}
	return nil
}
