package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"

	"kith/cmd/internal/cli"
	"kith/model"
	"kith/model/trial"
)

// session plays missing jobs and stores their records.
type session struct {
	shelf       runShelf
	log         io.Writer
	bar         *cli.Bar
	what        string
	done, total int64 // in rounds; done does not include the current trial
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

// keep stores a run on the shelf, and logs it if there is no progress bar.
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

// entrant returns the entrant of a run, whose name is that of the run.
func entrant(s settings, d *trial.Data) trial.Entrant {
	return trial.Entrant{
		Name:  s.name(),
		Known: model.Known(s.Policy),
		New: func(_ uint64, known []trial.Pair) (trial.Player, error) {
			m, err := s.model()
			if err != nil {
				return nil, err
			}
			return trial.NewPlayer(m, d, known), nil
		},
	}
}
