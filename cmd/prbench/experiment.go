package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

// arena is where runs meet: regrets of different arenas are not to be compared.
type arena struct {
	set      *dataset
	protocol trial.Protocol
	features string // svd, attributes or none
}

// experiment plays contenders in arenas and keeps every run that is whole.
type experiment struct {
	arenas     []arena
	contenders []contender
	options    map[string]string // of all models, beside their preset
	rounds     int
	seeds      []uint64
	grid       bool
	workers    int
	out        string
	log        io.Writer
}

func (x *experiment) runs() shelf   { return shelf(filepath.Join(x.out, "runs")) }
func (x *experiment) search() shelf { return shelf(filepath.Join(x.out, "grid")) }

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
	return job{a, s}
}

// jobs are those of the experiment itself. In a grid search each contender departs in what it found.
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

// check finds out what cannot be played before anything is played.
func (x *experiment) check() error {
	for _, j := range x.jobs(nil) {
		if _, err := j.settings.spec(); err != nil {
			return fmt.Errorf("%s: %w", j.settings.player(), err)
		}
	}
	return nil
}

// run plays what is missing.
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

// play plays the jobs that are not on the shelf, arena by arena.
func (x *experiment) play(ctx context.Context, what string, shelf shelf, jobs []job) error {
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

// absent are the jobs, each once, that are not on the shelf.
func absent(shelf shelf, jobs []job) (missing []job, err error) {
	seen := make(map[string]bool)
	for _, j := range jobs {
		name := j.settings.name()
		if seen[name] {
			continue
		}
		seen[name] = true
		r, err := shelf.record(j.settings)
		if err != nil {
			return nil, err
		}
		if r == nil {
			missing = append(missing, j)
		}
	}
	return missing, nil
}

// session plays missing jobs and keeps their records.
type session struct {
	shelf       shelf
	log         io.Writer
	bar         *cli.Bar
	what        string
	done, total int64 // rounds; done before the trial that is being played
}

// play plays jobs of one arena and one number of rounds.
func (s *session) play(ctx context.Context, jobs []job, workers int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a, rounds := jobs[0].arena, jobs[0].settings.Rounds
	byName := make(map[string]settings)
	var runs []trial.Run
	for _, j := range jobs {
		e := entrant(j.settings, a.set.data)
		byName[e.Name] = j.settings
		runs = append(runs, trial.Run{Entrant: e, Seed: j.settings.Seed})
	}
	place := strings.Join([]string{s.what, a.set.name, a.protocol.Name, a.features}, " ")
	t := trial.Trial{
		Data: a.set.data, Protocol: a.protocol, Rounds: rounds, Workers: workers,
		Progress: func(done, _ int) {
			s.bar.Show(place, progress.UnitsDefault, s.done+int64(done), s.total)
		},
		Finished: func(c trial.Curve) {
			if err := s.keep(byName[c.Name], c); err != nil {
				stop(err)
			}
		},
	}
	_, err := t.PlayRuns(ctx, runs)
	s.done += int64(rounds * len(runs))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// keep puts a run on the shelf, and says so where no bar does.
func (s *session) keep(of settings, c trial.Curve) error {
	r, err := newRecord(of, c)
	if err != nil {
		return err
	}
	if err := s.shelf.keep(r); err != nil {
		return err
	}
	if cli.IsTerminal(s.log) {
		return nil
	}
	_, err = fmt.Fprintf(s.log, "%s %s, %s, %s: %s, seed %d: regret %d, %.2f ms a round\n",
		s.what, of.Data, of.Protocol, of.Features, of.title(), of.Seed, c.Final(), r.Seconds*1e3/float64(of.Rounds))
	return err
}

// entrant is called by the name of its run.
func entrant(s settings, d *trial.Data) trial.Entrant {
	return trial.Entrant{
		Name:  s.name(),
		Known: known(s.Policy),
		New: func(_ uint64, known []trial.Pair) (trial.Player, error) {
			m, err := s.model()
			if err != nil {
				return nil, err
			}
			return trial.NewPlayer(m, d, known), nil
		},
	}
}

// known is the share of the links that a policy knows at the start: PRB-(10%-G) knows a tenth.
func known(policy string) float64 {
	if policy == "prb_prior" {
		return 0.1
	}
	return 0
}
