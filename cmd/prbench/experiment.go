package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

// arena is the setting of runs. Regrets of different arenas are not comparable.
type arena struct {
	set      *dataset
	protocol trial.Protocol
	features string // svd, attributes or none
}

// experiment plays contenders in arenas and keeps every completed run.
type experiment struct {
	arenas     []arena
	contenders []contender
	options    map[string]string // options of all models, in addition to their preset
	rounds     int
	seeds      []uint64
	grid       bool
	workers    int
	out        string
	log        io.Writer
}

func (x *experiment) runs() runShelf   { return runShelf(filepath.Join(x.out, "runs")) }
func (x *experiment) search() runShelf { return runShelf(filepath.Join(x.out, "grid")) }

// job is a run that may have to be played.
type job struct {
	arena    arena
	settings settings
}

func (x *experiment) job(a arena, c contender, rounds int, seed uint64) job {
	s := settings{
		Data: a.set.name, DataSum: a.set.sum, Protocol: a.protocol.Name, Features: a.features,
		Policy: c.policy, Preset: c.preset, Options: x.options, Rounds: rounds, Seed: seed,
	}
	if a.features != "none" {
		s.FeatureLen = a.set.featureLen
	}
	if c.preset != "" {
		s.Classes = a.set.classes
	}
	return job{a, s}
}

// jobs returns the jobs of the experiment. found holds the options that a grid search has found for each contender.
func (x *experiment) jobs(found map[cell]map[string]string) (all []job) {
	for _, a := range x.arenas {
		for _, c := range x.contenders {
			for _, seed := range x.seeds {
				j := x.job(a, c, x.rounds, seed)
				if best := found[cellOf(j, c)]; best != nil {
					j.settings = j.settings.with(best)
					j.settings.Grid = true
				}
				all = append(all, j)
			}
		}
	}
	return all
}

// check returns an error if a model cannot be created, before anything is played.
func (x *experiment) check() error {
	for _, j := range x.jobs(nil) {
		if _, err := j.settings.spec(); err != nil {
			return fmt.Errorf("%s: %w", j.settings.player(), err)
		}
	}
	return nil
}

// run plays the missing runs.
func (x *experiment) run(ctx context.Context) error {
	if err := x.check(); err != nil {
		return err
	}
	var found map[cell]map[string]string
	if x.grid {
		var err error
		if found, err = x.searchGrid(ctx); err != nil {
			return err
		}
	}
	return x.play(ctx, "playing", x.runs(), x.jobs(found))
}

// playAndReport plays the missing runs and makes tables of all kept runs, even if the playing ends early.
func (x *experiment) playAndReport(ctx context.Context, cmd *cobra.Command) error {
	played := x.run(ctx)
	records, err := x.runs().records()
	if err != nil || len(records) == 0 {
		return errors.Join(played, err)
	}
	r, err := newReport(records)
	if err != nil {
		return errors.Join(played, err)
	}
	if err := r.write(x.out); err != nil {
		return errors.Join(played, err)
	}
	if played != nil {
		return played
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), r.markdown()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "written: %s\n", filepath.Join(x.out, "results.json, table.md and regret curves"))
	return err
}

// play plays the jobs that are not on the shelf, arena by arena.
func (x *experiment) play(ctx context.Context, what string, shelf runShelf, jobs []job) error {
	missing, err := absent(shelf, jobs)
	if err != nil || len(missing) == 0 {
		return err
	}
	s := session{shelf: shelf, log: x.log, bar: cli.NewBar(x.log), what: what}
	defer s.bar.End()
	for _, j := range missing {
		s.total += int64(j.settings.Rounds)
	}
	for from := 0; from < len(missing); {
		to := from + 1
		for to < len(missing) && missing[to].arena == missing[from].arena && missing[to].settings.Rounds == missing[from].settings.Rounds {
			to++
		}
		if err := s.play(ctx, missing[from:to], x.workers); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// absent returns the jobs that are not on the shelf, each once.
func absent(shelf runShelf, jobs []job) (missing []job, err error) {
	seen := make(map[string]bool)
	for _, j := range jobs {
		name := j.settings.name()
		if seen[name] {
			continue
		}
		seen[name] = true
		r, err := shelf.record(name)
		if err != nil {
			return nil, err
		}
		if r == nil {
			missing = append(missing, j)
		}
	}
	return missing, nil
}
