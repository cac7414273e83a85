// Package score computes the best links of many nodes of a database, for the tools that do this as
// a batch.
//
// [Run] scores all nodes, the nodes of a label or of a file, or the pairs of a file, and writes the
// links to a [Writer]. [File] does the same into a file, and continues where an earlier run of the
// same question ended. Both can score one shard of the sources, which is a range of them. The texts
// of all shards, joined in order, are the text of a single run, byte for byte; only shard 0 has the
// header of CSV. The Parquet files of all shards have the rows of a single run.
package score

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/edgelist"
	"kith/model"
	"kith/query"
)

// Options say which links are scored. The zero value means the 10 best links of each node, by the
// model that answers requests without a name.
type Options struct {
	Among string // candidates, as in an AMONG clause; "" means the default of PREDICT LINKS
	Using string // name of a model or of a heuristic; "" means the model that answers
	Where string // condition, as in a WHERE clause; "" means none
	Top   int    // number of links of each node; 0 means 10, or all given pairs
	// Relation is the relation of the links; "" means all together. Inverse ranks sources of it.
	Relation string
	Inverse  bool
	RankAll  bool // score all candidates, also where they are many; see [db.PredictOptions]

	// At is the time after which links are predicted if edges have times; see [db.PredictOptions].
	// Zero means Now. Now is the present time; zero means the time at which the run begins.
	At, Now time.Time

	// The sources are all nodes unless Label, Sources or Pairs is given. Label is the label of the
	// sources. Sources is a file with a node on each line, and Pairs is a file with a source and a
	// target on each line, which are the only candidates.
	Label, Sources, Pairs string

	// Shard, from 0, is the part of the sources that is scored, out of Shards; 0 shards mean one.
	Shard, Shards int
}

// Progress, if not nil, is called after each source with the number of sources that this run has
// scored, and with the number that it has to score. Neither counts sources that an earlier run has
// scored.
type Progress func(done, total int64)

// Flags adds the flags that say which links are scored.
func (o *Options) Flags(f *flag.FlagSet) {
	f.StringVar(&o.Among, "among", "", "candidates, as in an AMONG clause (default: that of PREDICT LINKS)")
	f.StringVar(&o.Using, "using", "", "`name` of a model or heuristic (default: the model that answers)")
	f.StringVar(&o.Where, "where", "", "condition that links must satisfy, as in a WHERE clause")
	f.StringVar(&o.Relation, "relation", "", "`relation` of the links (default: all relations together)")
	f.BoolVar(&o.Inverse, "inverse", false, "score the sources of the relation for each node")
	f.BoolVar(&o.RankAll, "rank-all", false, "score all candidates of a node, and not the most promising of many")
	f.IntVar(&o.Top, "top", 0, "number of links of each node (default: 10, or all pairs of --pairs)")
	f.Func("at", "`time` after which links are predicted, in seconds since 1970, or as 2006-01-02 or 2006-01-02T15:04:05Z (default: now)", func(text string) (err error) {
		o.At, err = parseTime(text)
		return err
	})
	f.StringVar(&o.Label, "label", "", "score the nodes with this label only")
	f.StringVar(&o.Sources, "sources", "", "score the nodes of this `file` only")
	f.StringVar(&o.Pairs, "pairs", "", "score the pairs of this `file` only")
}

// CheckFlags returns an error for flags that contradict each other.
func (o *Options) CheckFlags() error {
	given := 0
	for _, s := range []string{o.Label, o.Sources, o.Pairs} {
		if s != "" {
			given++
		}
	}
	if given > 1 || o.Among != "" && o.Pairs != "" {
		return errors.New("only one of --label, --sources and --pairs may be given, and --among not with --pairs")
	}
	if o.Inverse && o.Relation == "" {
		return errors.New("--inverse needs --relation, whose sources it scores")
	}
	return cli.Least("top", o.Top, 0)
}

// Row is one link.
type Row struct {
	Source db.Key  `json:"source"`
	Target db.Key  `json:"target"`
	Rank   int     `json:"rank"` // from 1
	Score  float64 `json:"score"`
}

// Writer writes rows.
type Writer interface {
	Write([]Row) error // must not keep the rows
	Close() error      // completes the output
}

// Report describes a run.
type Report struct {
	Sources, Links int64
	AnsweredBy     string // the model and its version, or what answered instead
	// Notes are the assumptions about the file of sources or pairs, and the omissions.
	Notes []string `json:"-"`
}

// Run scores the links and writes them to w, which it does not close. The rows of a source are
// written together, the sources in the order in which the nodes were added or, of a file, in the
// order of the file. The rows depend on the contents of the database, its Options.Memory and o
// alone, and on the present time if edges have later times.
func Run(ctx context.Context, g *db.DB, o Options, w Writer, progress Progress) (done Report, err error) {
	err = g.View(ctx, func(tx *db.Tx) error {
		t, err := newTask(ctx, tx, o)
		if err != nil {
			return err
		}
		return t.run(ctx, &done, w.Write, progress)
	})
	return done, err
}

// parseTime parses a time as AT does, in seconds since 1970 or as a date.
func parseTime(text string) (time.Time, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return edgelist.ParseTime(text)
	}
	return time.Unix(n, 0), edgelist.CheckTime(n)
}

// task is a run of Options in a transaction.
type task struct {
	Options
	tx       *db.Tx
	question db.PredictOptions // without the source
	filter   query.LinkFilter
	listed   *list // sources of a file; nil: the sources of Label
	first    int64 // number of the first source of the shard
	end      int64 // number after the number of the last source
}

// newTask checks the options.
func newTask(ctx context.Context, tx *db.Tx, o Options) (t *task, err error) {
	o.Shards = max(o.Shards, 1)
	if o.Shard < 0 || o.Shard >= o.Shards {
		return nil, fmt.Errorf("%w: shard %d of %d: want 0 to %d", db.ErrInput, o.Shard, o.Shards, o.Shards-1)
	}
	t = &task{Options: o, tx: tx, question: db.PredictOptions{Model: o.Using, Relation: o.Relation, Inverse: o.Inverse, Top: o.Top, RankAll: o.RankAll, At: o.At, Now: o.Now}}
	if o.Among != "" {
		if t.question.Among, err = query.Candidates(o.Among); err != nil {
			return nil, fmt.Errorf("among %s: %w", o.Among, err)
		}
	}
	if o.Where != "" {
		if t.filter, err = query.NewLinkFilter(ctx, tx, o.Where); err != nil {
			return nil, fmt.Errorf("where %s: %w", o.Where, err)
		}
		if t.filter.Keep != nil {
			t.question.Top = -1 // the filter takes the best of the ranked links, so all are ranked
		}
	}
	if o.Using != "" && !slices.Contains(model.Heuristics(), o.Using) {
		if _, err := tx.Model(o.Using).Info(ctx); err != nil {
			return nil, err
		}
	}
	if o.Relation != "" {
		if err := tx.Via(db.Part{Relations: []string{o.Relation}}, func(*db.Tx) error { return nil }); err != nil {
			return nil, err // there is no such relation
		}
	}
	n, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	t.first, t.end = n*int64(o.Shard)/int64(o.Shards), n*int64(o.Shard+1)/int64(o.Shards)
	return t, nil
}

// open finds the sources and returns their number.
func (t *task) open(ctx context.Context) (n int64, err error) {
	if t.Sources != "" || t.Pairs != "" {
		if t.listed, err = readList(ctx, t.tx, cmp.Or(t.Sources, t.Pairs), t.Pairs != ""); err != nil {
			return 0, err
		}
		if t.Pairs != "" && t.Top == 0 {
			t.question.Top = -1
		}
		return int64(len(t.listed.sources)), nil
	}
	if _, err := t.tx.Keys(t.Label, 0); err != nil {
		return 0, err
	}
	if t.Label == "" {
		n, _ = t.tx.Counts()
		return n, nil
	}
	for _, l := range t.tx.Stats().Labels {
		if l.Name == t.Label {
			n = l.Nodes
		}
	}
	return n, nil
}

// questions yields the questions of the shard after the first skip.
func (t *task) questions(skip int64) iter.Seq[db.PredictOptions] {
	return func(yield func(db.PredictOptions) bool) {
		left := t.end - t.first - skip
		for source, targets := range t.sources(t.first + skip) {
			if left--; left < 0 {
				return
			}
			p := t.question
			p.For = source
			if len(targets) > 0 {
				p.Among = db.Keys(targets...)
			}
			if t.filter.Nodes != nil {
				p.Among = p.Among.Where(*t.filter.Nodes)
			}
			if !yield(p) {
				return
			}
		}
	}
}

// sources yields the sources after the first skip, and the candidates of each if they are given.
func (t *task) sources(skip int64) iter.Seq2[db.Key, []any] {
	if t.listed != nil {
		return t.listed.after(skip)
	}
	return func(yield func(db.Key, []any) bool) {
		keys, err := t.tx.Keys(t.Label, skip)
		if err != nil {
			return // never: open has checked the label
		}
		for k := range keys {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// run scores the sources that are not done yet, and calls write with the links of each.
func (t *task) run(ctx context.Context, done *Report, write func([]Row) error, progress Progress) error {
	before := done.Sources
	if t.listed != nil {
		done.Notes = t.listed.notes
	}
	var rows []Row // reused
	for r, err := range t.tx.PredictEach(ctx, t.questions(before)) {
		if err != nil {
			return err
		}
		rows = t.rows(rows[:0], r)
		if err := write(rows); err != nil {
			return err
		}
		done.Sources++
		done.Links += int64(len(rows))
		done.AnsweredBy = r.AnsweredBy
		if progress != nil {
			progress(done.Sources-before, t.end-t.first-before)
		}
	}
	return nil
}

// rows appends the links of a ranking that the filter keeps, up to the number that the question
// limits.
func (t *task) rows(rows []Row, r *db.Prediction) []Row {
	for i := range r.Links {
		l := &r.Links[i]
		if len(rows) == t.most() {
			break
		}
		if t.filter.Keep == nil || t.filter.Keep(r, l) {
			rows = append(rows, Row{r.Source[0].Node, l.Target, l.Rank, l.Score})
		}
	}
	return rows
}

// most returns the maximum number of rows of a source.
func (t *task) most() int {
	if t.Top == 0 && t.Pairs != "" {
		return int(^uint(0) >> 1)
	}
	return cmp.Or(t.Top, defaultTop)
}

const defaultTop = 10
