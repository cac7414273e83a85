package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/score"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/cmd/prbench/internal/gen"
	"kith/cmd/prbench/internal/scale"
	"kith/db"
)

// scaleGraph is a graph that is measured.
type scaleGraph struct {
	asked   int64  // number of edges to generate
	scale   int    // log2 of the number of generated nodes
	path    string // of its files, without their extensions
	memory  int64  // Options.Memory
	span    time.Duration
	figures map[string]float64
}

func (g *scaleGraph) database() string { return g.path + ".kith" }

// scalePhase is a part of the measurement of a graph. It runs in a separate process.
type scalePhase struct {
	name    string
	measure func(*scaleGraph, context.Context) error
}

// scalePhases returns the phases in their order.
func scalePhases() []scalePhase {
	return []scalePhase{
		{"load", (*scaleGraph).load},
		{"check", (*scaleGraph).check},
		{"open", (*scaleGraph).open},
		{"train", (*scaleGraph).train},
		{"answer", (*scaleGraph).answer},
		{"demand", (*scaleGraph).demand},
		{"score", (*scaleGraph).score},
		{"copy", (*scaleGraph).copy},
	}
}

// time adds the seconds that f takes to the figures.
func (g *scaleGraph) time(figure string, f func() error) error {
	began := time.Now()
	err := f()
	g.figures[figure] = time.Since(began).Seconds()
	return err
}

// peak adds the peak memory of this process to the figures, where the system reports it.
func (g *scaleGraph) peak(figure string) {
	if bytes, known := peakRSS("self"); known {
		g.figures[figure] = float64(bytes)
	}
}

// edges returns the number of different edges of the database.
func (g *scaleGraph) edges() (n int64, err error) {
	err = withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		s, err := d.Stats()
		n = s.Edges
		return err
	})
	return n, err
}

// load writes the edge list and loads it.
func (g *scaleGraph) load(ctx context.Context) error {
	list := g.path + ".txt"
	err := os.RemoveAll(g.database())
	if err == nil {
		err = g.generate(ctx, list)
	}
	defer os.Remove(list)
	if err != nil {
		return err
	}
	err = g.time(scale.Load, func() error {
		_, err := load(ctx, g.database(), list, limited(g.memory))
		return err
	})
	if err != nil {
		return err
	}
	g.peak(scale.LoadPeak)
	disk, err := cli.DiskBytes(g.database())
	if err != nil {
		return err
	}
	g.figures[scale.Disk] = float64(disk)
	return withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		s, err := d.Stats()
		g.figures[scale.Nodes], g.figures[scale.Graph] = float64(s.Nodes), float64(s.WholeBytes)
		return err
	})
}

// generate writes the edge list.
func (g *scaleGraph) generate(ctx context.Context, list string) error {
	f, err := os.Create(list)
	if err != nil {
		return err
	}
	return errors.Join(gen.WriteRMAT(ctx, f, g.scale, g.asked), f.Close())
}

// check verifies the database.
func (g *scaleGraph) check(ctx context.Context) error {
	return g.time(scale.Check, func() error { return db.Diagnose(ctx, g.database(), limited(g.memory)) })
}

// open measures cold starts, and then how long the rows take until they are in memory.
func (g *scaleGraph) open(ctx context.Context) error {
	var opened, first benchfmt.Line
	random := g.random()
	for range 3 {
		if err := forgetFiles(g.database()); err != nil {
			return err
		}
		began := time.Now()
		err := withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
			opened.Took = append(opened.Took, time.Since(began))
			return first.Time(func() error {
				nodes, err := g.draw(ctx, d, random, 1)
				if err != nil {
					return err
				}
				return discard(d.Predict(ctx, db.PredictOptions{For: nodes[0], Top: 10})) // among PPR(1000), the default
			})
		})
		if err != nil {
			return err
		}
	}
	g.figures[scale.OpenCold], g.figures[scale.FirstCold] = opened.Quantile(0.5)/1e9, first.Quantile(0.5)/1e9
	return withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		began := time.Now()
		loaded, err := g.preload(ctx, d)
		if loaded {
			g.figures[scale.InMemory] = time.Since(began).Seconds()
		}
		return err
	})
}

// preload waits until the graph is in memory, and reports whether it is. A graph that does not fit
// is left on the disk.
func (g *scaleGraph) preload(ctx context.Context, d *db.DB) (loaded bool, err error) {
	// an answer may take a quarter of Options.Memory, whose default g.memory = 0 stands for
	if s, err := d.Stats(); err != nil || s.Required > 4*s.AnswerBytes {
		return false, err
	}
	d.Preload()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := d.Stats()
		if err != nil || s.GraphLoaded {
			return s.GraphLoaded, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// random returns the random numbers of a phase.
func (g *scaleGraph) random() *rand.Rand { return rand.New(rand.NewPCG(uint64(g.asked), 0)) }

// draw draws n different nodes, or fewer if the graph has not twice as many.
func (g *scaleGraph) draw(ctx context.Context, d *db.DB, random *rand.Rand, n int) (nodes []any, err error) {
	known := map[int64]bool{}
	err = d.View(ctx, func(tx *db.Tx) error {
		have, _ := tx.Counts()
		n = int(min(int64(n), max(have/2, 1)))
		for len(nodes) < n {
			k := random.Int64N(1 << g.scale)
			_, err := tx.Node(k)
			switch {
			case errors.Is(err, db.ErrNotFound), known[k]:
				continue // many generated nodes have no edge
			case err != nil:
				return err
			}
			known[k] = true
			nodes = append(nodes, k)
		}
		return nil
	})
	return nodes, err
}

// writeNodes writes a list of nodes for kith score.
func writeNodes(name string, nodes []any) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, n := range nodes {
		fmt.Fprintln(w, n) // Flush returns the error
	}
	return errors.Join(w.Flush(), f.Close())
}

// noRows is a score.Writer that keeps nothing.
type noRows struct{}

func (noRows) Write([]score.Row) error { return nil }
func (noRows) Close() error            { return nil }
