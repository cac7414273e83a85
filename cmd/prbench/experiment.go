package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/trial"
)

// experiment plays policies round by round: contenders in arenas.
type experiment struct {
	folders, protocols, policies, features []string
	preset                                 string
	set                                    []string
	rounds, seeds                          int
	firstSeed                              uint64
	grid                                   bool
	workers                                int
	out                                    string
	walks                                  string // solved or repaired
	classify                               bool   // candidates are classes
	reveal                                 bool   // for classes: a policy that was wrong is shown the right one
	log                                    io.Writer
	tally                                  *tally // not nil: runs are counted, not played

	contenders []contender       // the parsed policies
	options    map[string]string // the parsed set
	arenas     []arena           // of the folders that were read
}

// The result of a run is its regret at samples rounds.
type (
	regretRun   = run[settings, trial.Curve]
	regretJob   = job[settings, trial.Curve]
	regretShelf = shelf[settings, trial.Curve]
)

// samples is the number of rounds at which the regret of a run is recorded.
const samples = 200

// arena is a data set with rules.
type arena struct {
	set      *dataset
	protocol trial.Protocol
	features string // svd, attributes or none
}

func newOnline() *cobra.Command {
	x := &experiment{protocols: []string{"paper"}, features: []string{"svd"}}
	c := &cobra.Command{
		Use:   "online --data DIR,... --out DIR",
		Short: "Predict links round by round: cumulative regret",
		Long: `Online plays policies on the true links of a data set, round by round: a policy chooses
among candidate links, learns the outcome, and continues. All policies of a seed see the
same rounds. Regret is the number of rounds in which a link was among the candidates and
another candidate was chosen.

A data set is a folder as published by the paper's authors: entry.npy with rows (node,
node, 1 or -1) and features.npy, or user_features.npy and item_features.npy.

Protocols:
  paper     100 candidates, up to 10 of them linked to the serving node
  released  ten unrelated pairs of the file, one of them linked, as in the authors' program
  fresh     as paper, without pairs that the policy has won before

Policies are those of kith's models, as policy or policy/preset; --preset is the preset of
the others. The policy default has preset default. Features svd are the vectors of the
folder, which were computed from all links, so they leak the answer. With none, models
see only the links that were revealed.

Completed runs are kept in --out, so an interrupted command can be repeated to continue,
and a command with more policies or seeds adds to the tables. Tables and curves are made
from all runs in --out.`,
		Example: `  prbench online --data prb/grqc,prb/facebook --policies prb,prb_greedy,default --out results
  prbench online --data prb/grqc --protocol paper,released --policies prb/paper,prb/released,ee_net/paper \
    --features svd,none --seeds 3 --out results
  prbench online --data prb/grqc --policies prb,neural_ucb --preset paper --grid --out results`,
	}
	x.flags(c.Flags(), "prb,prb_greedy,ee_net,neural_greedy,default", "paper")
	x.seedFlags(c.Flags())
	return command(c, x.checkKept, x.playAndReport)
}

func newClassify() *cobra.Command {
	x := &experiment{classify: true, protocols: []string{"classify"}, features: []string{"attributes"}}
	c := &cobra.Command{
		Use:   "classify --data DIR,... --out DIR",
		Short: "Classify nodes round by round: cumulative regret",
		Long: `Classify plays policies on the labels of a graph's nodes, round by round: for a random node
a policy chooses among the classes, each of which is represented by a node, learns whether
it was right, and continues. Regret is the number of rounds in which it was wrong. The
graph starts without edges; new edges lead from a node to its class.

A data set is a folder in the layout of the Open Graph Benchmark: raw/node-label.csv.gz,
raw/node-feat.csv.gz, and raw/edge.csv.gz, whose edges are not used.

A policy that was wrong is shown the right class, whose edge is added to the graph, as in
the paper's text; with --reveal=false it is not, as in the paper's listing (protocol
classify-blind). Policies that learn see the node's features in the place of the candidate
class. Runs are kept, and tables made, as by prbench online.`,
		Example: `  prbench classify --data cora,citeseer --out results
  prbench classify --data cora --policies prb_n,ee_net --seeds 3 --reveal=false --out results`,
	}
	x.flags(c.Flags(), "prb_n,prb_greedy,ee_net,neural_greedy,neural_ucb,neural_ts", "paper")
	c.Flags().BoolVar(&x.reveal, "reveal", true, "show the right class to a policy that was wrong")
	x.seedFlags(c.Flags())
	return command(c, x.checkKept, x.playAndReport)
}

// flags adds the flags for the data, the policies and the number of rounds. By default it uses the
// protocols and features of x.
func (x *experiment) flags(f *pflag.FlagSet, policies, preset string) {
	f.StringSliceVar(&x.folders, "data", nil, "folders of data sets")
	f.StringSliceVar(&x.policies, "policies", strings.Split(policies, ","), "policy or policy/preset")
	f.StringVar(&x.preset, "preset", preset, "preset of policies given without one: "+strings.Join(trial.Presets(), ", "))
	f.StringArrayVar(&x.set, "set", nil, "an option of every model, as `name=value`; may be repeated")
	f.IntVar(&x.rounds, "rounds", paperRounds, "number of rounds of a run")
	f.StringVar(&x.out, "out", "", "folder for the results")
	f.StringVar(&x.walks, "walks", "solved", "solved from scratch each round, or repaired from round to round, to the same accuracy")
	f.StringSliceVar(&x.features, "features", x.features, strings.Join(x.featuresAccepted(), ", "))
	if !x.classify {
		f.StringSliceVar(&x.protocols, "protocol", x.protocols, "paper, released, fresh")
	}
}

// seedFlags adds the flags for the seeds and the workers.
func (x *experiment) seedFlags(f *pflag.FlagSet) {
	f.IntVar(&x.seeds, "seeds", 10, "number of seeds")
	f.Uint64Var(&x.firstSeed, "first-seed", 1, "the first of the seeds")
	f.BoolVar(&x.grid, "grid", false, "search the options of the paper's grids (preset paper) on 2,000 rounds of a separate seed")
	f.IntVar(&x.workers, "workers", runtime.GOMAXPROCS(0), "maximum number of concurrent runs, up to the number of cores")
}

func (x *experiment) featuresAccepted() []string {
	if x.classify {
		return []string{"attributes", "none"}
	}
	return []string{"svd", "none"}
}

// check parses the flags. It reports what is wrong with them before any file is read.
func (x *experiment) check() (err error) {
	if len(x.folders) == 0 {
		return errors.New("--data DIR is missing")
	}
	if x.options, err = parseSet(x.set, false); err != nil {
		return err
	}
	x.contenders = nil
	for _, text := range x.policies {
		c, err := parseContender(text, x.preset, x.classify)
		if err != nil {
			return err
		}
		x.contenders = append(x.contenders, c)
	}
	if x.walks != "" && x.walks != "solved" && x.walks != "repaired" {
		return fmt.Errorf("--walks %s: accepted are solved and repaired", x.walks)
	}
	accepted := x.featuresAccepted()
	for _, features := range x.features {
		if !slices.Contains(accepted, features) {
			return fmt.Errorf("--features %s: accepted are %s", features, strings.Join(accepted, " and "))
		}
	}
	for _, name := range x.protocols {
		if _, err := x.protocol(name, 2); err != nil {
			return err
		}
	}
	return cli.Least("rounds", x.rounds, 1)
}

// checkKept is check for an experiment whose runs are kept.
func (x *experiment) checkKept() error {
	switch {
	case x.out == "":
		return errors.New("--out DIR is missing")
	case x.firstSeed <= gridSeed && gridSeed < x.firstSeed+uint64(x.seeds):
		return fmt.Errorf("seed %d is that of grid searches", uint64(gridSeed))
	}
	return cmp.Or(cli.Least("seeds", x.seeds, 1), cli.Least("workers", x.workers, 1), x.check())
}

// protocol returns the protocol with a name, for data with a number of classes.
func (x *experiment) protocol(name string, classes int) (trial.Protocol, error) {
	if !x.classify {
		return trial.ProtocolOf(name)
	}
	p := trial.Classify(classes)
	if !x.reveal {
		p.Name, p.Reveal = "classify-blind", false
	}
	return p, nil
}

// read reads all data sets, whose names must differ, and sets the arenas: all combinations of data,
// protocols and features.
func (x *experiment) read() error {
	read := readLinks
	if x.classify {
		read = readClasses
	}
	x.arenas = nil
	folders := make(map[string]string)
	for _, folder := range x.folders {
		set, err := readData(folder, read)
		if err != nil {
			return err
		}
		if other, known := folders[set.name]; known {
			return fmt.Errorf("%s and %s have one name", other, folder)
		}
		folders[set.name] = folder
		for _, name := range x.protocols {
			protocol, err := x.protocol(name, len(set.classes))
			if err != nil {
				return err
			}
			for _, features := range x.features {
				x.arenas = append(x.arenas, arena{set, protocol, features})
			}
		}
	}
	return nil
}

func (x *experiment) settings(a arena, c contender, rounds int, seed uint64) settings {
	s := settings{
		place:   place{Data: a.set.name, DataSum: a.set.sum, Protocol: a.protocol.Name, Features: a.features},
		variant: variant{Policy: c.policy, Preset: c.preset, Options: x.options},
		Rounds:  rounds, Seed: seed,
	}
	if x.walks == "repaired" {
		s.Walks = x.walks
	}
	if a.features != "none" {
		s.FeatureLen = a.set.featureLen
	}
	if c.preset != "" {
		s.Classes = a.set.classes
	}
	return s
}

// job returns the job of a run.
func (x *experiment) job(what string, a arena, s settings) regretJob {
	play := func(ctx context.Context, _ []settings, progress func(int)) ([]trial.Curve, error) {
		entry, err := s.entry()
		if err != nil {
			return nil, err
		}
		t := trial.Trial{Data: a.set.data, Protocol: a.protocol, Rounds: s.Rounds, Progress: func(done, _ int) { progress(done) }}
		r, err := t.Play(ctx, []trial.Entrant{entry.Entrant(a.set.data)}, s.Seed)
		if err != nil {
			return nil, err
		}
		return []trial.Curve{r.Curves[0].Thin(samples)}, nil
	}
	return regretJob{strings.Join([]string{what, s.Data, s.Protocol, s.Features}, " "), []settings{s}, s.Rounds, play}
}

// jobs returns the jobs of the experiment. found holds the options that a grid search has found for
// each contender.
func (x *experiment) jobs(what string, found map[cell]map[string]string) (all []regretJob) {
	for _, a := range x.arenas {
		for _, c := range x.contenders {
			for i := range x.seeds {
				s := x.settings(a, c, x.rounds, x.firstSeed+uint64(i))
				if best := found[cell{s.place, c}]; best != nil {
					s = s.with(best)
					s.Grid = true
				}
				all = append(all, x.job(what, a, s))
			}
		}
	}
	return all
}

// checkModels returns an error if a model cannot be created, before anything is played.
func checkModels(jobs []regretJob) error {
	for _, j := range jobs {
		s := j.settings[0]
		if _, err := s.spec(); err != nil {
			return fmt.Errorf("%s: %w", s.player(), err)
		}
	}
	return nil
}

// run plays the missing runs.
func (x *experiment) run(ctx context.Context) error {
	if err := checkModels(x.jobs("", nil)); err != nil {
		return err
	}
	var found map[cell]map[string]string
	if x.grid {
		var err error
		if found, err = x.searchGrid(ctx); err != nil {
			return err
		}
	}
	_, err := x.play(ctx, "runs", "playing", x.jobs("playing", found))
	return err
}

// shelf returns a shelf of the experiment: runs, or grid for the runs of grid searches.
func (x *experiment) shelf(name string) regretShelf { return regretShelf(filepath.Join(x.out, name)) }

// play plays the jobs whose runs are not on the shelf.
func (x *experiment) play(ctx context.Context, shelf, what string, jobs []regretJob) (map[string]*regretRun, error) {
	s := session[settings, trial.Curve]{
		tally: x.tally, shelf: x.shelf(shelf), workers: min(x.workers, runtime.GOMAXPROCS(0)), log: x.log,
		line: func(r *regretRun) string {
			s := r.Settings
			return fmt.Sprintf("%s %s, %s, %s: %s, seed %d: regret %d, %.2f ms a round", what, s.Data, s.Protocol, s.Features,
				s.title(), s.Seed, r.Result.Final(), r.Result.Time.Seconds()*1e3/float64(s.Rounds))
		},
	}
	return s.play(ctx, jobs)
}

// playAndReport reads the data, plays the missing runs, and writes the tables of all kept runs.
func (x *experiment) playAndReport(ctx context.Context, cmd *cobra.Command) error {
	x.log = cmd.ErrOrStderr()
	if err := x.read(); err != nil {
		return err
	}
	return x.write(cmd.OutOrStdout(), x.run(ctx))
}

// write writes tables and pictures of all kept runs to --out, and prints the tables unless the
// playing ended with an error, which it returns.
func (x *experiment) write(w io.Writer, played error) error {
	runs, err := x.shelf("runs").runs(settings.data)
	if err != nil || len(runs) == 0 {
		return errors.Join(played, err)
	}
	r := newReport(runs)
	if err := r.draw(x.out); err != nil {
		return errors.Join(played, err)
	}
	return writeResults(w, x.out, r, r.markdown(), played)
}
