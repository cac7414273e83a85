package trial

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Trial is a test-then-train run: in each round every player chooses before it learns.
type Trial struct {
	Data     *Data
	Protocol Protocol
	Rounds   int
	Progress func(done, total int) // rounds played by all players of all seeds; may be nil
}

// Entrant is a policy that takes part: New makes its player for one seed.
type Entrant struct {
	Name string
	New  func(seed uint64) (Player, error)
}

// Curve is one run of one entrant.
type Curve struct {
	Name   string
	Seed   uint64
	Regret []int // cumulative, after each round
	Live   int   // rounds that had a positive among the candidates
	Time   time.Duration
}

// Final returns the regret of the whole run.
func (c *Curve) Final() int {
	if len(c.Regret) == 0 {
		return 0
	}
	return c.Regret[len(c.Regret)-1]
}

// Play lets all entrants play the same draws, seed by seed.
func (t *Trial) Play(ctx context.Context, entrants []Entrant, seeds ...uint64) (Result, error) {
	if err := t.check(entrants); err != nil {
		return Result{}, err
	}
	r := Result{Protocol: t.Protocol.Name, Rounds: t.Rounds}
	total := t.Rounds * len(entrants) * len(seeds)
	for _, seed := range seeds {
		for _, e := range entrants {
			done := t.Rounds * len(r.Curves)
			c, err := t.run(ctx, e, seed, func(n int) {
				if t.Progress != nil {
					t.Progress(done+n, total)
				}
			})
			if err != nil {
				return Result{}, fmt.Errorf("trial: %s, seed %d: %w", e.Name, seed, err)
			}
			r.Curves = append(r.Curves, c)
		}
	}
	return r, nil
}

func (t *Trial) check(entrants []Entrant) error {
	switch {
	case t.Data == nil || len(t.Data.Served) == 0:
		return errors.New("trial: the data holds no link")
	case t.Rounds < 1:
		return fmt.Errorf("trial: %d rounds", t.Rounds)
	case t.Protocol.Candidates < 2 || t.Protocol.Positives < 1:
		return fmt.Errorf("trial: %d candidates, %d positives", t.Protocol.Candidates, t.Protocol.Positives)
	case len(entrants) == 0:
		return errors.New("trial: no entrants")
	}
	return nil
}

func (t *Trial) run(ctx context.Context, e Entrant, seed uint64, progress func(int)) (Curve, error) {
	c := Curve{Name: e.Name, Seed: seed, Regret: make([]int, 0, t.Rounds)}
	p, err := e.New(seed)
	if err != nil {
		return c, err
	}
	s := newStream(t.Data, t.Protocol, seed)
	won := make(map[Pair]bool)
	began := time.Now()
	for n := range t.Rounds {
		regret, err := t.play(ctx, p, s.next(), won, &c.Live)
		if err != nil {
			return c, fmt.Errorf("round %d: %w", n+1, err)
		}
		c.Regret = append(c.Regret, c.Final()+regret)
		progress(n + 1)
	}
	c.Time = time.Since(began)
	return c, nil
}

// play plays one round and returns its regret.
func (t *Trial) play(ctx context.Context, p Player, r round, won map[Pair]bool, live *int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if t.Protocol.Fresh {
		r = r.without(won)
	}
	best := 0
	for _, a := range r {
		if t.Data.Linked(a.Source, a.Target) {
			best = 1
		}
	}
	if best == 0 {
		return 0, nil
	}
	*live++
	chosen, err := p.Choose(ctx, r)
	if err != nil {
		return 0, err
	}
	if chosen < 0 || chosen >= len(r) {
		return 0, fmt.Errorf("chose candidate %d of %d", chosen, len(r))
	}
	reward := 0
	if a := r[chosen]; t.Data.Linked(a.Source, a.Target) {
		reward = 1
		won[ordered(a)] = true
	}
	return best - reward, p.Learn(ctx, r, chosen, float64(reward))
}

// without leaves out the pairs that are linked already.
func (r round) without(won map[Pair]bool) (fresh round) {
	for _, a := range r {
		if !won[ordered(a)] {
			fresh = append(fresh, a)
		}
	}
	return fresh
}

// ordered names an undirected pair by its smaller end first.
func ordered(a Pair) Pair {
	return Pair{Source: min(a.Source, a.Target), Target: max(a.Source, a.Target)}
}
