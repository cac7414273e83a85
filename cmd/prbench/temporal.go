package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"kith/cmd/internal/cli"
	"kith/db/edgelist"
	"kith/model"
)

// temporalPlan holds the options of prbench temporal.
type temporalPlan struct {
	data, policies, protocols, options []string
	columns, part, out                 string
	sample, workers                    int
	seed                               uint64
}

func newTemporal() *cobra.Command {
	var p temporalPlan
	c := &cobra.Command{
		Use:   "temporal --data FILE,...",
		Short: "Predict the next links of a stream",
		Long: `Temporal shows policies the events of a stream in the order of their times. It asks them
about each event of the last part before it shows the event. A policy knows the events
that are strictly earlier. Parts are test, the events after the 85 % quantile of time,
and valid, those between the quantiles of 70 and 85 %.

Protocols:
  all            rank each event among all targets (mean reciprocal rank, ties at the
                 mid rank), as the Temporal Graph Benchmark plays tgbl-wiki
  random         among 99 other targets; a sample of the last 15 % of the events
  historical     among up to 50 earlier partners of the source and other targets, 99 in
                 all; likewise
  ap-random, ap-historical, ap-inductive
                 average precision by batches of 200 against one negative an event,
                 which is random, an edge of earlier times, or an edge that came after
                 the training events, as DyGLib has it

Policies are these baselines and kith's own:
  edgebank                  pairs seen before the batch of 200 questions
  pair_recency              the later the last event of the pair, the better
  node_recency              the later the last event that led to the target, the better
  pair_node_recency         pairs by recency, then the others by that of the target
  pair_or_reverse_recency   likewise, a pair counting in both directions
Kith's policies see a graph whose edges have the number of events as weight and the
last one's time, undirected where no target is a source. One that learns observes every
event after it has predicted it (the default by Follow, others as outcomes of choices),
and is trained on the graph when the part begins;
POLICY/frozen learns nothing from there on.

Completed matches are kept in --out, so an interrupted command can be repeated to continue.`,
		Example: `  prbench temporal --data temporal/tgbl-wiki.txt.gz --policies edgebank,pair_node_recency,default,default/frozen
  prbench temporal --data snap/CollegeMsg.txt.gz,temporal/enron.txt.gz --protocol random,historical --out time`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return p.check() },
		RunE:    cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return p.run(ctx, cmd) }),
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "edge lists with times")
	f.StringSliceVar(&p.policies, "policies", append(baselineNames(), "default"), "policy or policy/frozen")
	f.StringSliceVar(&p.protocols, "protocol", []string{"all", "random", "historical"}, strings.Join(temporalProtocolNames(), ", "))
	f.StringVar(&p.columns, "columns", edgelist.SrcDstTime.String(), "columns of the lists")
	f.StringVar(&p.part, "part", partTest, partTest+" or "+partValid)
	f.IntVar(&p.sample, "sample", 1500, "number of events that random and historical ask about")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the random draws and of the models")
	f.StringArrayVar(&p.options, "set", nil, "an option of every model, as `name=value`; may be repeated")
	f.IntVar(&p.workers, "workers", 1, "maximum number of concurrent matches")
	f.StringVar(&p.out, "out", "", "folder for the results (default: none are kept)")
	return c
}

// check reports what is wrong with the plan before any file is read.
func (p *temporalPlan) check() error {
	switch {
	case len(p.data) == 0:
		return errors.New("--data FILE is missing")
	case p.part != partTest && p.part != partValid:
		return fmt.Errorf("--part %s: accepted are %s and %s", p.part, partTest, partValid)
	}
	if err := cmp.Or(cli.Least("sample", p.sample, 1), cli.Least("workers", p.workers, 1)); err != nil {
		return err
	}
	if _, err := edgelist.ParseColumns(p.columns); err != nil {
		return err
	}
	for _, name := range p.protocols {
		if _, err := temporalProtocolOf(name); err != nil {
			return err
		}
	}
	for _, text := range p.policies {
		if _, err := (temporalSettings{Policy: text, Options: p.options}).model(); err != nil {
			return err
		}
	}
	return nil
}

// temporalSettings are all parameters that determine the result of a match.
type temporalSettings struct {
	Data, DataSum, Protocol, Part, Policy string
	Options                               []string
	Sample                                int
	Seed                                  uint64
}

func (s temporalSettings) name() string {
	return runName(s, s.Data, s.Protocol, s.Part, strings.ReplaceAll(s.Policy, "/", "-"))
}

// model returns a new model of the policy, or nil for a baseline.
func (s temporalSettings) model() (*model.Model, error) {
	if _, is := baselineOf(s.Policy); is {
		return nil, nil
	}
	policy, mode, _ := strings.Cut(s.Policy, "/")
	if mode != "" && mode != "frozen" {
		return nil, fmt.Errorf("policy %q (accepted: policy or policy/frozen)", s.Policy)
	}
	set, err := parseSet(s.Options)
	if err != nil {
		return nil, err
	}
	m, err := settings{Policy: policy, Options: set, Seed: s.Seed}.model()
	if err != nil {
		return nil, fmt.Errorf("%w; or one of %s", err, strings.Join(baselineNames(), ", "))
	}
	return m, nil
}

// forecaster returns a new forecaster of the policy for a stream.
func (s temporalSettings) forecaster(of *stream) (forecaster, error) {
	if b, is := baselineOf(s.Policy); is {
		return b.make(of), nil
	}
	m, err := s.model()
	if err != nil {
		return nil, err
	}
	return newLearner(of, m, strings.HasSuffix(s.Policy, "/frozen"), s.Seed), nil
}

// temporalRun is a completed match as it is stored.
type temporalRun struct {
	keptRun[temporalSettings]
	Score temporalScore
}

type temporalShelf = shelf[temporalRun, *temporalRun]

// run plays the missing matches and prints the table.
func (p *temporalPlan) run(ctx context.Context, cmd *cobra.Command) error {
	columns, err := edgelist.ParseColumns(p.columns)
	if err != nil {
		return err
	}
	bar := cli.NewBar(cmd.ErrOrStderr())
	defer bar.End()
	var runs []temporalRun
	for _, file := range p.data {
		s, err := readStream(file, columns)
		if err != nil {
			return err
		}
		more, err := p.matches(ctx, s, bar)
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	bar.End()
	return p.report(cmd.OutOrStdout(), runs)
}

// matches plays all policies in all protocols on a stream, several matches at a time.
func (p *temporalPlan) matches(ctx context.Context, s *stream, bar *cli.Bar) ([]temporalRun, error) {
	var runs []temporalRun
	for _, protocol := range p.protocols {
		for _, policy := range p.policies {
			runs = append(runs, temporalRun{keptRun: keptRun[temporalSettings]{Settings: temporalSettings{
				Data: s.name, DataSum: s.sum, Protocol: protocol, Part: p.part, Policy: policy,
				Options: p.options, Sample: p.sample, Seed: p.seed,
			}}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers)
	for i := range runs {
		group.Go(func() error { return p.one(ctx, s, &runs[i], bar) })
	}
	return runs, group.Wait()
}

// one plays a match, unless it is stored.
func (p *temporalPlan) one(ctx context.Context, s *stream, r *temporalRun, bar *cli.Bar) error {
	shelf := temporalShelf(filepath.Join(p.out, "runs"))
	if p.out != "" {
		if kept, err := shelf.record(r.name()); err != nil || kept != nil {
			if kept != nil {
				*r = *kept
			}
			return err
		}
	}
	protocol, err := temporalProtocolOf(r.Settings.Protocol)
	if err != nil {
		return err
	}
	f, err := r.Settings.forecaster(s)
	if err != nil {
		return err
	}
	m := match{stream: s, protocol: protocol, part: p.part, sample: p.sample, seed: p.seed}
	title, shown := strings.Join([]string{s.name, protocol.name, r.Settings.Policy}, " "), time.Time{}
	m.progress = func(done, total int) {
		if time.Since(shown) > time.Second/10 {
			shown = time.Now()
			bar.Show(title, progress.UnitsDefault, int64(done), int64(total))
		}
	}
	if l, learns := f.(*learner); learns {
		m.begin = l.begin
	}
	if r.Score, err = m.play(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	if p.out == "" {
		return nil
	}
	if err := seal(r); err != nil {
		return err
	}
	return shelf.keep(r)
}

// report prints the table. If there is an output folder, it also writes the table and the figures there.
func (p *temporalPlan) report(w io.Writer, runs []temporalRun) error {
	text := temporalTable(runs)
	if p.out != "" {
		if err := writeResults(p.out, runs, text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// temporalTable returns a table with a row for each match: its score, its ratio to the best baseline, and its scores
// by novelty.
func temporalTable(runs []temporalRun) string {
	heading := []string{"policy", "data", "protocol", "part", "score", "of the best baseline", "pair seen", "new pair", "new source", "rounds a second"}
	var rows [][]string
	for _, r := range runs {
		s := r.Settings
		best := 0.0
		for _, other := range runs {
			o := other.Settings
			if _, is := baselineOf(o.Policy); is && o.Data == s.Data && o.Protocol == s.Protocol && o.Part == s.Part {
				best = max(best, other.Score.Value)
			}
		}
		ratio := ""
		if best > 0 {
			ratio = fmt.Sprintf("%.3f", r.Score.Value/best)
		}
		row := []string{s.Policy, s.Data, s.Protocol, s.Part, fmt.Sprintf("%.4f", r.Score.Value), ratio}
		rows = append(rows, append(append(row, r.Score.kinds()...), fmt.Sprintf("%.0f", r.Score.Rounds)))
	}
	return markdown(heading, rows)
}

// kinds formats the scores by novelty, with the number of events.
func (s temporalScore) kinds() (cells []string) {
	precision := slices.Max(s.ByKind[:]) == 0
	for k, v := range s.ByKind {
		if precision {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.3f (%d)", v, s.Events[k]))
	}
	return cells
}
