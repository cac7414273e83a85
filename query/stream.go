package query

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"kith/db"
	"kith/model/trial"
	"kith/query/draw"
	"kith/query/fileio"
	"kith/query/parse"
)

// stream is a statement EVALUATE STREAM: how policies are played.
type stream struct {
	protocol trial.Protocol
	rounds   int
	points   int     // number of points of a curve
	runs     int     // number of runs, with consecutive seeds
	known    float64 // share of the links that each policy begins with; some policies begin with more
	seed     uint64
	list     *db.LoadOptions // options for the file; nil without a file
	plot     string          // file of the picture to write; "" means none
	picture  draw.Options
}

func (r *run) evaluateStream(s *parse.Statement) {
	how, policies := r.newStream(s), r.entrants(s)
	if r.err != nil {
		return
	}
	var plot *fileio.Output // created before the work, which would be lost if the file cannot be written
	if how.plot != "" {
		var err error
		plot, err = fileio.Create(r.ctx, how.plot, fileMode)
		if r.fileError(s, err); err != nil {
			return
		}
		defer plot.Drop()
	}
	data := r.streamLinks(s, how.list)
	if r.err != nil {
		return
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
	t := trial.Trial{Data: data, Protocol: how.protocol, Rounds: how.rounds, Progress: r.progressOf("rounds")}
	result, err := t.Play(r.ctx, entrants, seeds...)
	if err == nil {
		err = how.draw(&result, plot)
	}
	if r.fileError(s, err); err != nil {
		return
	}
	how.rows(r.rows, &result)
	for _, e := range entrants {
		if e.Known > how.known {
			r.rows.note("policy %s begins with %v of the links by definition", e.Name, e.Known)
		}
	}
	if s.Value("STREAM") == nil {
		r.view(func() { r.rows.remarkFeatures(r.tx.Stats().Labels) })
	}
}

// remarkFeatures notes that feature vectors are not used.
func (rows *Rows) remarkFeatures(labels []db.LabelStats) {
	if slices.ContainsFunc(labels, func(l db.LabelStats) bool { return l.Features > 0 }) {
		rows.note("feature vectors are not used: policies see only the links")
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
func (how *stream) draw(result *trial.Result, plot *fileio.Output) error {
	if plot == nil {
		return nil
	}
	o := how.picture
	o.Title, o.Width, o.Height = "Regret, protocol "+how.protocol.Name, 680, 450
	return plot.Finish(func(w io.Writer) error { return draw.Regret(w, result, o) })
}

func (r *run) newStream(s *parse.Statement) *stream {
	how := &stream{protocol: trial.Fresh(), rounds: 1000, points: 10, runs: 1, seed: max(r.seed, 1), list: streamList(s)}
	r.setOptions(s.Options("WITH"), how.options())
	n := int(r.integerBetween(s.Value("CANDIDATES"), 2, 100_000, int64(how.protocol.Candidates)))
	how.protocol.Candidates, how.protocol.Positives = n, max(1, n/10)
	return how
}

// streamList returns options for the file of EVALUATE STREAM, or nil if it plays the edges of the
// database.
func streamList(s *parse.Statement) *db.LoadOptions {
	if s.Value("STREAM") == nil {
		return nil
	}
	return &db.LoadOptions{}
}

// streamOptions returns the options of EVALUATE STREAM.
func streamOptions(s *parse.Statement, _ func(string) bool) []option {
	return (&stream{list: streamList(s)}).options()
}

// options returns the options of the evaluation and of its file.
func (how *stream) options() []option {
	protocols := map[string]trial.Protocol{trial.Fresh().Name: trial.Fresh(), trial.Paper().Name: trial.Paper()}
	protocol := wordOption("protocol", "whether links that a policy knows are left out of its candidates (fresh, the default) or not (paper)",
		func(word string) { how.protocol = protocols[word] }, trial.Fresh().Name, trial.Paper().Name)
	plot := option{"plot", "a file name that ends in " + strings.Join(formats(), " or "), "picture of the curves to write", func(r *run, o parse.Option) {
		how.plot = r.text(o.Value)
		r.format(o.Value, how.plot, &how.picture)
	}}
	options := []option{
		numberOption("known", "a number from 0 to below 1", "share of the links that each policy begins with; 0 by default",
			func(x float64) bool { return x >= 0 && x < 1 }, &how.known),
		plot,
		integerOption("points", "number of points of a curve; 10 by default", 1, math.MaxInt64, &how.points),
		protocol,
		integerOption("rounds", "number of rounds; 1000 by default", 1, math.MaxInt64, &how.rounds),
		integerOption("runs", "number of runs with consecutive seeds; 1 by default", 1, 10_000, &how.runs),
		integerOption("seed", "seed of the first run", 1, math.MaxInt64, &how.seed),
	}
	if how.list != nil {
		options = append(options, edgeOptionsBut(how.list, "split")...)
	}
	return options
}

// entrants returns the policies that play, the evaluated one first.
func (r *run) entrants(s *parse.Statement) (policies []string) {
	evaluated := s.Name("USING")
	evaluated.Value = cmp.Or(evaluated.Value, "default")
	baselines := s.Names("BASELINES")
	if baselines == nil {
		for _, n := range []string{"ppr", "adamic_adar", "common_neighbors", "random"} {
			baselines = append(baselines, parse.Name{Value: n})
		}
	}
	for _, n := range append([]parse.Name{evaluated}, baselines...) {
		r.failAt(n, db.CheckPolicy(n.Value))
		if !slices.Contains(policies, n.Value) {
			policies = append(policies, n.Value)
		}
	}
	return policies
}

// streamLinks reads the links that the policies have to find.
func (r *run) streamLinks(s *parse.Statement, list *db.LoadOptions) (data *trial.Data) {
	if list == nil {
		r.view(func() {
			var err error
			data, err = graphLinks(r.ctx, r.tx)
			r.fail(err)
		})
		return data
	}
	list.Name, list.Tables = r.text(s.Value("STREAM")), r.session.Tables
	r.readFile(s.Value("STREAM"), func(f io.Reader) (err error) {
		scratch, err := r.session.DB.OpenScratch()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, scratch.Close()) }()
		report, err := scratch.Load(r.ctx, f, *list)
		if err != nil {
			return err
		}
		r.rows.noteLoad(report)
		return scratch.View(r.ctx, func(tx *db.Tx) (err error) {
			data, err = graphLinks(r.ctx, tx)
			return err
		})
	})
	return data
}

// graphLinks numbers the nodes of a graph and lists its links.
func graphLinks(ctx context.Context, tx *db.Tx) (*trial.Data, error) {
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
