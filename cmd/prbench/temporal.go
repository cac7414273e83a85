package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/fitted"
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
                 all; of the same sample
  ap-random, ap-historical, ap-inductive
                 average precision by batches of 200 against one negative an event,
                 which is random, an edge of earlier times, or an edge that came after
                 the training events, as DyGLib has it

Policies are these baselines and kith's own:
  edgebank                  pairs seen before the batch of 200 questions
  pair_recency              the later the last event of the pair, the better
  node_recency              the later the last event that led to the target, the better
  pair_node_recency         pairs by recency, then the others by that of the target
  pair_or_reverse_recency   pairs in either direction by recency, then the others
Kith's policies see a graph whose edges have the number of events as weight and the
last one's time, undirected where no target is a source. One that learns observes every
event after it has predicted it (the default by Follow, others as outcomes of choices),
and is trained on the graph when the part begins;
POLICY/frozen learns nothing from there on.

Completed matches are kept in --out, so an interrupted command can be repeated to continue.`,
		Example: `  prbench temporal --data temporal/tgbl-wiki.txt.gz --policies edgebank,pair_node_recency,default,default/frozen
  prbench temporal --data snap/CollegeMsg.txt.gz,temporal/enron.txt.gz --protocol random,historical --out time`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "edge lists with times")
	f.StringSliceVar(&p.policies, "policies", append(namesOf(baselines()), "default"), "policy or policy/frozen")
	f.StringSliceVar(&p.protocols, "protocol", []string{"all", "random", "historical"}, strings.Join(namesOf(temporalProtocols()), ", "))
	f.StringVar(&p.columns, "columns", edgelist.SrcDstTime.String(), "columns of the lists")
	f.StringVar(&p.part, "part", partTest, partTest+" or "+partValid)
	f.IntVar(&p.sample, "sample", 1500, "number of events that random and historical ask about")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the random draws and of the models")
	f.StringArrayVar(&p.options, "set", nil, "an option of every model, as `name=value`; may be repeated")
	f.IntVar(&p.workers, "workers", 1, "maximum number of concurrent matches")
	f.StringVar(&p.out, "out", "", "folder for the results (default: none are kept)")
	return command(c, p.check, p.run)
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
		if _, known := rowOf(temporalProtocols(), name); !known {
			return fmt.Errorf("--protocol %s: accepted are %s", name, strings.Join(namesOf(temporalProtocols()), ", "))
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

type (
	temporalRun   = run[temporalSettings, temporalScore]
	temporalJob   = job[temporalSettings, temporalScore]
	temporalShelf = shelf[temporalSettings, temporalScore]
)

func (s temporalSettings) name() string {
	return runName(s, s.Data, s.Protocol, s.Part, strings.ReplaceAll(s.Policy, "/", "-"))
}

// title returns the data, the protocol and the policy.
func (s temporalSettings) title() string {
	return strings.Join([]string{s.Data, s.Protocol, s.Policy}, " ")
}

// isBaseline reports whether the policy is a baseline.
func (s temporalSettings) isBaseline() bool { return slices.Contains(namesOf(baselines()), s.Policy) }

// model returns a new model of the policy, or nil for a baseline and for a fitted policy.
func (s temporalSettings) model() (*model.Model, error) {
	if s.isBaseline() || fitted.Is(s.Policy) {
		return nil, nil
	}
	policy, mode, _ := strings.Cut(s.Policy, "/")
	if mode != "" && mode != "frozen" {
		return nil, fmt.Errorf("policy %q (accepted: policy or policy/frozen)", s.Policy)
	}
	set, err := parseSet(s.Options, false)
	if err != nil {
		return nil, err
	}
	m, err := settings{variant: variant{Policy: policy, Options: set}, Seed: s.Seed}.model()
	if err != nil {
		return nil, fmt.Errorf("%w; or one of %s", err, strings.Join(namesOf(baselines()), ", "))
	}
	return m, nil
}

// forecaster returns a new forecaster of the policy for a stream.
func (s temporalSettings) forecaster(of *stream) (forecaster, error) {
	if b, is := rowOf(baselines(), s.Policy); is {
		return b.make(of), nil
	}
	var t trainee
	var err error
	if fitted.Is(s.Policy) {
		t.rival, err = fitted.New(s.Policy, 0, s.Seed, nil)
	} else {
		t.model, err = s.model()
	}
	if err != nil {
		return nil, err
	}
	return newLearner(of, t, strings.HasSuffix(s.Policy, "/frozen"), s.Seed), nil
}

// run plays the missing matches of each stream and prints the table.
func (p *temporalPlan) run(ctx context.Context, cmd *cobra.Command) error {
	columns, err := edgelist.ParseColumns(p.columns)
	if err != nil {
		return err
	}
	var runs []*temporalRun
	for _, file := range p.data {
		s, err := readStream(file, columns)
		if err != nil {
			return err
		}
		jobs := p.jobs(s)
		of := session[temporalSettings, temporalScore]{workers: p.workers, log: cmd.ErrOrStderr(), line: func(r *temporalRun) string {
			return fmt.Sprintf("%s: score %.4f, %.0f rounds a second", r.Settings.title(), r.Result.Value, r.Result.Rounds)
		}}
		if p.out != "" {
			of.shelf = temporalShelf(filepath.Join(p.out, "runs"))
		}
		played, err := of.play(ctx, jobs)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			runs = append(runs, played[j.settings[0].name()])
		}
	}
	return writeResults(cmd.OutOrStdout(), p.out, runs, temporalTable(runs), nil)
}

// jobs returns a job for each policy in each protocol on a stream.
func (p *temporalPlan) jobs(of *stream) (jobs []temporalJob) {
	for _, protocol := range p.protocols {
		for _, policy := range p.policies {
			s := temporalSettings{of.name, of.sum, protocol, p.part, policy, p.options, p.sample, p.seed}
			_, size := of.span(p.part)
			play := func(ctx context.Context, _ []temporalSettings, progress func(int)) ([]temporalScore, error) {
				f, err := s.forecaster(of)
				if err != nil {
					return nil, err
				}
				score, err := s.play(ctx, of, f, progress)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.title(), err)
				}
				return []temporalScore{score}, nil
			}
			jobs = append(jobs, temporalJob{s.title(), []temporalSettings{s}, size, play})
		}
	}
	return jobs
}

// temporalTable returns a table with a row for each match: its score, its ratio to the best
// baseline, and its scores by novelty.
func temporalTable(runs []*temporalRun) string {
	heading := []string{"policy", "data", "protocol", "part", "score", "of the best baseline", "pair seen", "new pair", "new source", "rounds a second"}
	var rows [][]string
	for _, r := range runs {
		s := r.Settings
		best := 0.0
		for _, other := range runs {
			o := other.Settings
			if o.isBaseline() && o.Data == s.Data && o.Protocol == s.Protocol && o.Part == s.Part {
				best = max(best, other.Result.Value)
			}
		}
		ratio := ""
		if best > 0 {
			ratio = fmt.Sprintf("%.3f", r.Result.Value/best)
		}
		row := []string{s.Policy, s.Data, s.Protocol, s.Part, fmt.Sprintf("%.4f", r.Result.Value), ratio}
		precision := slices.Max(r.Result.ByKind[:]) == 0
		for k, v := range r.Result.ByKind {
			cell := ""
			if !precision {
				cell = fmt.Sprintf("%.3f (%d)", v, r.Result.Events[k])
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", r.Result.Rounds)))
	}
	return markdown(heading, rows)
}
