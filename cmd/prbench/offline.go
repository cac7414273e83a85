package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/trial"
)

// offlinePlan holds the options of prbench offline.
type offlinePlan struct {
	data, out  string
	dataset    string
	policies   []string
	negatives  string // own, heart
	training   string // rounds, edges
	splits     string
	seeds      int
	rounds     int
	epochs     int
	workers    int
	validEdges bool
	set        []string
	log        io.Writer
	tally      *tally        // not nil: runs are counted, not played
	played     []*offlineRun // completed runs

	contenders []contender       // the parsed policies
	options    map[string]string // the parsed set, without the preset
}

func newOffline() *cobra.Command {
	p := offlinePlan{workers: 1}
	c := &cobra.Command{
		Use:   "offline --data DIR",
		Short: "Rank held-out links against fixed negatives",
		Long: `Offline trains policies on the training edges of a benchmark's split and ranks its
held-out edges among pairs without an edge, for the validation and the test part. The
graph that a policy sees holds the training edges; with --valid-edges the validation edges
too, when the test part is ranked, and the default is trained again on all of these.

Negatives:
  own    those of the split, common to all links: Hits@K as the Open Graph Benchmark
         defines it
  heart  500 for each link, drawn as HeaRT draws them (Li et al., NeurIPS 2023): MRR and
         Hits@10 of each link among its own. Citeseer has HeaRT's split if the folder
         heart/citeseer is there; Cora has its own splits, so its figures are not those
         of HeaRT's split

Training of policies that learn round by round:
  rounds  --rounds rounds of protocol paper with the training edges as truth
  edges   --epochs passes over all training edges and as many pairs without an edge, a
          fifth of the edges hidden at a time

A policy may be policy/preset; --set preset=NAME is the preset of the others. Runs are
kept in --out, so an interrupted command can be repeated to continue, and a command with
more policies or splits adds to the table.`,
		Example: `  prbench offline --data . --dataset cora --policies common_neighbors,pair_mix
  prbench offline --data . --dataset ogbl_ddi --policies ease --valid-edges --out results
  prbench offline --data . --dataset citeseer --negatives heart --policies resource_allocation,default --out results
  prbench offline --data . --dataset cora --policies prb --train edges --epochs 100 --set width=500 --out results`,
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", "", "folder that holds the data sets")
	f.StringVar(&p.dataset, "dataset", "cora", "one of "+strings.Join(namesOf(benchmarks()), ", "))
	f.StringSliceVar(&p.policies, "policies", []string{"common_neighbors", "adamic_adar", "resource_allocation"}, "policies to compare")
	f.StringVar(&p.negatives, "negatives", "own", "own or heart")
	f.StringVar(&p.training, "train", "rounds", "rounds or edges")
	f.StringVar(&p.splits, "splits", "", "range of the random splits, such as 0..4 (default: all)")
	f.IntVar(&p.seeds, "seeds", 1, "number of seeds for each split")
	f.IntVar(&p.rounds, "rounds", 10000, "number of rounds of policies that learn round by round")
	f.IntVar(&p.epochs, "epochs", 100, "number of passes over the training edges with --train edges")
	f.BoolVar(&p.validEdges, "valid-edges", false, "add the validation edges to the graph when the test part is ranked")
	f.StringArrayVar(&p.set, "set", nil, "`option=value` of the models; may be repeated")
	f.StringVar(&p.out, "out", "", "folder for runs, results.json and table.md (default: not written)")
	return command(c, p.check, p.playAndReport)
}

// check parses the flags. It reports what is wrong with them before any file is read.
func (p *offlinePlan) check() (err error) {
	if _, known := rowOf(benchmarks(), p.dataset); !known {
		return fmt.Errorf("data set %q (accepted: %s)", p.dataset, strings.Join(namesOf(benchmarks()), ", "))
	}
	switch {
	case p.data == "":
		return errors.New("--data DIR is missing")
	case p.negatives != "own" && p.negatives != "heart":
		return fmt.Errorf("--negatives %s: accepted are own and heart", p.negatives)
	case p.training != "rounds" && p.training != "edges":
		return fmt.Errorf("--train %s: accepted are rounds and edges", p.training)
	}
	if err := p.parse(); err != nil {
		return err
	}
	return cmp.Or(cli.Least("seeds", p.seeds, 1), cli.Least("rounds", p.rounds, 1), cli.Least("epochs", p.epochs, 1))
}

// parse parses the policies and their options.
func (p *offlinePlan) parse() error {
	options, err := parseSet(p.set, true)
	if err != nil {
		return err
	}
	preset := cmp.Or(options["preset"], "default")
	p.options, p.contenders = maps.Clone(options), nil
	delete(p.options, "preset")
	for _, text := range p.policies {
		c, err := parseContender(text, preset, false)
		if err != nil {
			return err
		}
		if c.preset == "released" && p.training == "edges" {
			return fmt.Errorf("--policies %s: preset released learns round by round only (see --train rounds)", text)
		}
		if trial.Online(c.policy) {
			return fmt.Errorf("--policies %s: the policy plays round by round only (see prbench online)", c.policy)
		}
		p.contenders = append(p.contenders, c)
		if _, err := p.settings(&heldOut{}, c, 0, 1).trainee(); err != nil {
			return err
		}
	}
	return nil
}

// playAndReport plays the missing runs, and writes the table of all kept runs.
func (p *offlinePlan) playAndReport(ctx context.Context, cmd *cobra.Command) error {
	p.log = cmd.ErrOrStderr()
	return p.write(cmd.OutOrStdout(), p.play(ctx))
}

// write writes the table of all kept runs to --out, or of the played runs if none are kept, and
// prints it unless the playing ended with an error, which it returns.
func (p *offlinePlan) write(w io.Writer, played error) error {
	runs := p.played
	if p.out != "" {
		var err error
		if runs, err = p.shelf().runs(offlineSettings.data); err != nil {
			return errors.Join(played, err)
		}
	}
	if len(runs) == 0 {
		return played
	}
	r := newOfflineReport(runs)
	return writeResults(w, p.out, r, r.markdown(), played)
}

func (p *offlinePlan) shelf() offlineShelf {
	if p.out == "" {
		return ""
	}
	return offlineShelf(filepath.Join(p.out, "runs"))
}

// play plays the missing runs, split by split.
func (p *offlinePlan) play(ctx context.Context) error {
	b, _ := rowOf(benchmarks(), p.dataset) // check has found it
	root, heart := os.DirFS(p.data), p.negatives == "heart"
	splits, err := parseRange(p.splits, b.splitsFor(root, heart))
	if err != nil {
		return err
	}
	for _, split := range splits {
		d, err := b.load(root, split, heart)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(p.data, b.name), err)
		}
		s := session[offlineSettings, offlineResult]{
			shelf: p.shelf(), workers: p.workers, log: p.log, line: offlineLine, tally: p.tally,
		}
		runs, err := s.play(ctx, p.jobs(d, split))
		p.played = append(p.played, slices.Collect(maps.Values(runs))...)
		if err != nil {
			return fmt.Errorf("split %d: %w", split, err)
		}
	}
	return nil
}

// jobs returns a job for each policy and seed on a split.
func (p *offlinePlan) jobs(d *heldOut, split int) (jobs []offlineJob) {
	for _, c := range p.contenders {
		for seed := range uint64(p.seeds) {
			s := p.settings(d, c, split, seed+1)
			jobs = append(jobs, offlineJob{what: s.title(), settings: []offlineSettings{s}, size: s.size(d),
				play: func(ctx context.Context, _ []offlineSettings, _ func(int)) ([]offlineResult, error) {
					r, err := s.play(ctx, d)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", s.title(), err)
					}
					return []offlineResult{r}, nil
				}})
		}
	}
	return jobs
}

// settings returns the settings of a run.
func (p *offlinePlan) settings(d *heldOut, c contender, split int, seed uint64) offlineSettings {
	s := offlineSettings{
		Data: d.name, DataSum: d.sum, Split: split, Negatives: p.negatives, ValidEdges: p.validEdges,
		variant:    variant{Policy: c.policy, Preset: c.preset},
		FeatureLen: d.featureLen(), Seed: seed,
	}
	if t, err := s.trainee(); err == nil { // options that the policy does not read would make another run
		for name, value := range p.options {
			if t.reads(name) {
				s.variant = s.with(map[string]string{name: value})
			}
		}
	}
	switch {
	case c.preset == "" || c.policy == "default": // trained as TRAIN does, or not at all
	case p.training == "edges":
		s.Epochs = p.epochs
	default:
		s.Rounds = p.rounds
	}
	return s
}

// parseRange parses "2" or "0..4"; "" means all numbers below n.
func parseRange(s string, n int) ([]int, error) {
	from, to := 0, n-1
	if s != "" {
		first, last, isRange := strings.Cut(s, "..")
		var err, err2 error
		from, err = strconv.Atoi(first)
		to = from
		if isRange {
			to, err2 = strconv.Atoi(last)
		}
		if err != nil || err2 != nil || from < 0 || to < from || to >= n {
			return nil, fmt.Errorf("splits %q (accepted: such as 0..%d)", s, n-1)
		}
	}
	var all []int
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all, nil
}
