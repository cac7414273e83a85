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
	Progress func(done, total int) // called, if not nil, with the rounds played so far by all players of all seeds
}

// Entrant is a policy that takes part.
type Entrant struct {
	Name  string
	Known float64 // share of the true links that its players know at the start

	// New makes the player for one seed. known holds the links that the player knows at the start.
	New func(seed uint64, known []Pair) (Player, error)
}

// Play plays all entrants on the same draws, seed by seed. The curve of each run does not depend on
// other runs. The first error ends all runs.
func (t *Trial) Play(ctx context.Context, entrants []Entrant, seeds ...uint64) (Result, error) {
	if err := t.check(entrants, seeds); err != nil {
		return Result{}, err
	}
	r := Result{Protocol: t.Protocol.Name, Rounds: t.Rounds}
	done, total := 0, t.Rounds*len(entrants)*len(seeds)
	progress := func() {
		if done++; t.Progress != nil {
			t.Progress(done, total)
		}
	}
	for _, seed := range seeds {
		for _, e := range entrants {
			c, err := t.run(ctx, e, seed, progress)
			if err != nil {
				return Result{}, fmt.Errorf("trial: %s, seed %d: %w", e.Name, seed, err)
			}
			r.Curves = append(r.Curves, c)
		}
	}
	return r, nil
}

func (t *Trial) check(entrants []Entrant, seeds []uint64) error {
	switch {
	case t.Data == nil || len(t.Data.Served) == 0:
		return errors.New("trial: the data holds no link")
	case t.Rounds < 1:
		return fmt.Errorf("trial: %d rounds", t.Rounds)
	case len(entrants)*len(seeds) == 0:
		return errors.New("trial: no entrants")
	}
	for _, e := range entrants {
		if !(e.Known >= 0 && e.Known <= 1) {
			return fmt.Errorf("trial: %s knows %v of the links", e.Name, e.Known)
		}
	}
	return t.Protocol.check(t.Data)
}

// game is a run that is being played.
type game struct {
	protocol Protocol
	player   Player
	known    *Graph // links that the player knows
	live     int
}

// run plays one run.
func (t *Trial) run(ctx context.Context, e Entrant, seed uint64, progress func()) (Curve, error) {
	c := Curve{Name: e.Name, Seed: seed, Regret: make([]int, 0, min(t.Rounds, 1<<16))}
	known := t.Data.Sample(e.Known, seed)
	p, err := e.New(seed, known)
	if err != nil {
		return c, err
	}
	g := game{protocol: t.Protocol, player: p, known: NewGraph(t.Data.Nodes)}
	for _, l := range known {
		g.known.Add(l.Source, l.Target)
	}
	s := newStream(t.Data, t.Protocol, seed)
	began := time.Now()
	for n := range t.Rounds {
		regret, err := g.play(ctx, s.next())
		if err != nil {
			return c, fmt.Errorf("round %d: %w", n+1, err)
		}
		c.Regret = append(c.Regret, c.Final()+regret)
		progress()
	}
	c.Time, c.Live = time.Since(began), g.live
	if m, ok := p.(interface{ took() Parts }); ok {
		c.Parts = m.took()
	}
	return c, nil
}

// play plays one round and returns its regret.
func (g *game) play(ctx context.Context, r round) (regret int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if g.protocol.Fresh {
		r = r.without(g.known)
	}
	link, best := r.best()
	if best == 0 {
		return 0, nil
	}
	g.live++
	pairs := r.pairs()
	chosen, err := g.player.Choose(ctx, pairs)
	if err != nil {
		return 0, err
	}
	if chosen < 0 || chosen >= len(r) {
		return 0, fmt.Errorf("chose candidate %d of %d", chosen, len(r))
	}
	reward := r[chosen].reward
	if err := g.player.Learn(ctx, pairs, chosen, float64(reward)); err != nil {
		return 0, err
	}
	if reward == best {
		link = r[chosen].Pair
	} else if !g.protocol.Reveal {
		return best - reward, nil
	} else if err := g.reveal(ctx, link); err != nil {
		return 0, err
	}
	g.known.Add(link.Source, link.Target)
	return best - reward, nil
}

// reveal shows the player a link.
func (g *game) reveal(ctx context.Context, link Pair) error {
	p, ok := g.player.(Revealed)
	if !ok {
		return errors.New("the player cannot be shown a link")
	}
	return p.Reveal(ctx, link)
}
