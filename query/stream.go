package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"kith/db"
	"kith/model/trial"
	"kith/query/parse"
)

// stream holds the options of an EvaluateStream.
type stream struct {
	protocol trial.Protocol
	rounds   int
	points   int     // number of points of a curve
	runs     int     // number of runs, with consecutive seeds
	known    float64 // share of the links that each policy begins with; some policies begin with more
	seed     uint64
	plot     string // SVG file to write; "" means none
}

func (r *run) evaluateStream(s *parse.EvaluateStream) (*Rows, error) {
	how, err := r.streamOptions(s)
	if err != nil {
		return nil, err
	}
	policies, err := r.entrants(s)
	if err != nil {
		return nil, err
	}
	var plot *file // created before the work, which would be lost if the file cannot be written
	if how.plot != "" {
		if plot, err = createFile(how.plot); err != nil {
			return nil, &Error{Pos: s.Pos, Msg: err.Error(), Err: err}
		}
		defer plot.drop()
	}
	data, err := r.truth(s)
	if err != nil {
		return nil, err
	}
	var entrants []trial.Entrant
	for _, name := range policies {
		e := trial.NewEntrant(data, db.ModelSpec{Policy: name})
		e.Known = max(e.Known, how.known)
		entrants = append(entrants, e)
	}
	seeds := make([]uint64, how.runs)
	for i := range seeds {
		seeds[i] = how.seed + uint64(i)
	}
	t := trial.Trial{Data: data, Protocol: how.protocol, Rounds: how.rounds}
	if tell := r.session.Progress; tell != nil {
		t.Progress = func(done, total int) { tell(Progress{"rounds", int64(done), int64(total)}) }
	}
	result, err := t.Play(r.ctx, entrants, seeds...)
	if err != nil {
		if r.ctx.Err() == nil {
			err = &Error{Pos: s.Pos, Msg: plainly(err), Err: err}
		}
		return nil, err
	}
	if err := how.draw(&result, plot, r.session.Plot); err != nil {
		return nil, &Error{Pos: s.Pos, Msg: err.Error(), Err: err}
	}
	rows := r.answer()
	how.rows(rows, &result)
	for _, e := range entrants {
		if e.Known > how.known {
			rows.note("%s begins with %v of the links, as it is meant to", e.Name, e.Known)
		}
	}
	if s.File == nil {
		err = r.view(func(tx *db.Tx) error { rows.unplayed(tx.Stats().Labels); return nil })
	}
	return rows, err
}

// unplayed notes that feature vectors are not used.
func (rows *Rows) unplayed(labels []db.LabelStats) {
	if slices.ContainsFunc(labels, func(l db.LabelStats) bool { return l.Features > 0 }) {
		rows.note("feature vectors are not played: policies go by the links alone")
	}
}

// rows returns the curves, point by point; for several runs their means.
func (how *stream) rows(rows *Rows, result *trial.Result) {
	points := min(how.points, how.rounds)
	for i := range points {
		round := (i + 1) * how.rounds / points
		for _, s := range how.summaries(result, round) {
			var deviation, live, missed any
			if how.runs > 1 {
				deviation = s.Deviation
			}
			if i == points-1 {
				live = s.Live
				missed = s.PerLive
			}
			rows.add(s.Name, int64(round), s.Regret, deviation, live, missed)
		}
	}
	rows.note("protocol %s: %d candidates a round, up to %d of them links, which have no direction here", how.protocol.Name, how.protocol.Candidates, how.protocol.Positives)
	if how.known == 0 {
		rows.note("each policy begins without a link and sees those that it finds; known = 0.5 shows it half of them first")
	}
	if how.runs == 1 {
		rows.note("one run: another seed gives other numbers; runs = 5 tells how far apart they are")
	}
}

// summaries summarizes the policies after a round.
func (how *stream) summaries(result *trial.Result, round int) []trial.Summary {
	cut := trial.Result{Protocol: result.Protocol, Rounds: round}
	for _, c := range result.Curves {
		c.Regret = c.Regret[:round]
		cut.Curves = append(cut.Curves, c)
	}
	return cut.Summaries()
}

// draw writes the curves as a picture to plot, if it is not nil.
func (how *stream) draw(result *trial.Result, plot *file, draw func(io.Writer, *trial.Result, string) error) error {
	if plot == nil {
		return nil
	}
	return plot.finish(func(w io.Writer) error { return draw(w, result, "Regret, protocol "+how.protocol.Name) })
}

func (r *run) streamOptions(s *parse.EvaluateStream) (*stream, error) {
	how := &stream{protocol: trial.Fresh(), rounds: 1000, points: 10, runs: 1, seed: max(r.seed, 1)}
	if err := r.setOptions(s.With, how.options()); err != nil {
		return nil, err
	}
	if how.protocol.Name == trial.Paper().Name {
		how.protocol = trial.Paper()
	}
	n, err := r.within(s.Candidates, 2, 100_000, int64(how.protocol.Candidates))
	how.protocol.Candidates, how.protocol.Positives = int(n), max(1, int(n)/10)
	return how, err
}

// options returns the options of EVALUATE STREAM.
func (how *stream) options() []option {
	protocol := wordOption("protocol", "whether links that a policy knows are left out of its candidates (fresh, the default) or not (paper)",
		&how.protocol.Name, trial.Fresh().Name, trial.Paper().Name)
	plot := textOption("plot", "a file name", "SVG picture of the curves to write", &how.plot, asWritten)
	setPlot := plot.set
	plot.set = func(r *run, o parse.Option) error {
		if r.session.Plot == nil {
			return &Error{Pos: o.Pos, Msg: "option plot: this program draws no pictures", Err: db.ErrInput}
		}
		return setPlot(r, o)
	}
	return []option{
		numberOption("known", "a number from 0 to below 1", "share of the links that each policy begins with; 0 by default",
			func(x float64) bool { return x >= 0 && x < 1 }, &how.known),
		plot,
		integerOption("points", "number of points of a curve; 10 by default", 1, math.MaxInt64, &how.points),
		protocol,
		integerOption("rounds", "number of rounds; 1000 by default", 1, math.MaxInt64, &how.rounds),
		integerOption("runs", "number of runs with consecutive seeds; 1 by default", 1, 10_000, &how.runs),
		integerOption("seed", "seed of the first run", 1, math.MaxInt64, &how.seed),
	}
}

// entrants returns the policies that play, the evaluated one first.
func (r *run) entrants(s *parse.EvaluateStream) ([]string, error) {
	names := []parse.Name{{Pos: s.Using.Pos, Value: "default"}}
	if s.Using.Value != "" {
		names[0] = s.Using
	}
	baselines := s.Baselines
	if baselines == nil {
		for _, n := range []string{"ppr", "adamic_adar", "common_neighbors", "random"} {
			baselines = append(baselines, parse.Name{Value: n})
		}
	}
	var policies []string
	seen := map[string]bool{}
	for _, n := range append(names, baselines...) {
		if err := db.CheckPolicy(n.Value); err != nil {
			return nil, r.positioned(n.Pos, err)
		}
		if !seen[n.Value] {
			policies = append(policies, n.Value)
		}
		seen[n.Value] = true
	}
	return policies, nil
}

// truth reads the links to find.
func (r *run) truth(s *parse.EvaluateStream) (data *trial.Data, err error) {
	if s.File == nil {
		err = r.view(func(tx *db.Tx) (err error) {
			data, err = links(r.ctx, tx)
			return err
		})
		return data, err
	}
	name, err := r.text(s.File)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &Error{Pos: s.File.Position(), Msg: err.Error(), Err: err}
	}
	defer f.Close() // read only
	scratch, err := r.session.DB.OpenScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	if _, err := scratch.Load(r.ctx, f, db.LoadOptions{}); err != nil {
		return nil, r.positioned(s.File.Position(), fmt.Errorf("%s: %w", name, err))
	}
	err = scratch.View(r.ctx, func(tx *db.Tx) (err error) {
		data, err = links(r.ctx, tx)
		return err
	})
	return data, err
}

// links numbers the nodes of a graph and lists its links.
func links(ctx context.Context, tx *db.Tx) (*trial.Data, error) {
	ids := map[db.Key]trial.ID{}
	for n, err := range tx.Nodes() {
		if err == nil && len(ids)%linksPerCheck == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		ids[n.Key] = trial.ID(len(ids))
	}
	var all [][2]trial.ID
	for e, err := range tx.Edges() {
		if err == nil && len(all)%linksPerCheck == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		all = append(all, [2]trial.ID{ids[e.Src], ids[e.Dst]})
	}
	return trial.NewData(ctx, len(ids), all, nil)
}

// linksPerCheck is the number of nodes or links read between two checks of the context.
const linksPerCheck = 1 << 13
