package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/score"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/cmd/prbench/internal/scale"
	"kith/db"
)

// train trains a model with the defaults.
func (g *scaleGraph) train(ctx context.Context) error {
	err := with(g.database(), limited(g.memory), func(d *db.DB) error {
		err := d.Model(trained).Create(ctx, db.ModelSpec{})
		if err != nil && !errors.Is(err, db.ErrExists) {
			return err
		}
		return g.time(scale.Train, func() error {
			return discard(d.Model(trained).Train(ctx, db.TrainOptions{Deploy: db.DeployAlways}))
		})
	})
	g.peak(scale.TrainPeak)
	return err
}

// maxAnswers is the number of answers of a kind after which a median is good enough, and the last
// percent is one answer.
const maxAnswers = 500

// ask answers questions one after another, and adds their median and their 99th percentile to the
// figures. It leaves out questions with more candidates than memory allows.
func (g *scaleGraph) ask(ctx context.Context, d *db.DB, median, p99 string, next func(i int) db.PredictOptions) error {
	var l benchfmt.Line
	end := time.Now().Add(g.span)
	for i := 0; i < maxAnswers && (i < 3 || time.Now().Before(end)); i++ {
		p := next(i)
		began := time.Now()
		_, err := d.Predict(ctx, p)
		switch {
		case err == nil:
			l.Took = append(l.Took, time.Since(began))
		case !errors.Is(err, db.ErrTooLarge):
			return err
		}
	}
	if len(l.Took) == 0 {
		return nil
	}
	g.figures[median] = l.Quantile(0.5) / 1e9
	if p99 != "" {
		g.figures[p99] = l.Quantile(0.99) / 1e9
	}
	return nil
}

// answer measures answers with the graph in memory.
func (g *scaleGraph) answer(ctx context.Context) error {
	err := withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		if loaded, err := g.preload(ctx, d); err != nil || !loaded {
			return err
		}
		nodes, err := g.draw(ctx, d, g.random(), maxAnswers)
		if err != nil {
			return err
		}
		err = g.ask(ctx, d, scale.Near, scale.NearP99, func(i int) db.PredictOptions {
			return db.PredictOptions{For: nodes[i%len(nodes)], Among: db.Neighbors(2), Top: 10}
		})
		if err == nil {
			err = g.ask(ctx, d, scale.Walk, scale.WalkP99, func(i int) db.PredictOptions {
				return db.PredictOptions{For: nodes[i%len(nodes)], Among: db.PPR(candidateCount), Top: 10}
			})
		}
		if err != nil {
			return err
		}
		return g.listed(ctx, d, nodes[:min(len(nodes), 2*candidateCount)])
	})
	g.peak(scale.AnswerPeak)
	return err
}

// listed measures answers among listed candidates, whose states are cached.
func (g *scaleGraph) listed(ctx context.Context, d *db.DB, nodes []any) error {
	if err := d.View(ctx, func(tx *db.Tx) error { return tx.Warm(ctx, nodes...) }); err != nil {
		return err
	}
	random := g.random()
	return g.ask(ctx, d, scale.Listed, scale.ListedP99, func(int) db.PredictOptions {
		random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		return db.PredictOptions{For: nodes[0], Among: db.Keys(nodes[1:min(len(nodes), candidateCount+1)]...)}
	})
}

// demand measures answers with half of the memory that keeps the rows in memory, so that they stay
// on the disk, in the page cache or not. Graphs that fit even into the smallest memory have no such
// figure. Questions with more candidates than that memory allows are left out.
func (g *scaleGraph) demand(ctx context.Context) error {
	var half int64
	err := withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		s, err := d.Stats()
		half = s.Required / 2
		return err
	})
	if err != nil || half < scale.LeastMemory {
		return err
	}
	return withReadOnly(g.database(), limited(half), func(d *db.DB) error {
		nodes, err := g.draw(ctx, d, g.random(), maxAnswers)
		if err != nil {
			return err
		}
		return g.ask(ctx, d, scale.OnDemand, "", func(i int) db.PredictOptions {
			return db.PredictOptions{For: nodes[i%len(nodes)], Among: db.Neighbors(2), Model: "adamic_adar", Top: 10}
		})
	})
}

// maxSources is the number of sources to score.
const maxSources = 100_000

// score measures how many sources a core scores in a second, with the graph in memory.
func (g *scaleGraph) score(ctx context.Context) error {
	list := g.path + ".sources"
	defer os.Remove(list)
	return withReadOnly(g.database(), limited(g.memory), func(d *db.DB) error {
		if loaded, err := g.preload(ctx, d); err != nil || !loaded {
			return err
		}
		nodes, err := g.draw(ctx, d, g.random(), maxSources)
		if err == nil {
			err = writeNodes(list, nodes)
		}
		for _, of := range []struct{ figure, among, model string }{
			{scale.ScoreSimple, "NEIGHBORS(2)", "adamic_adar"}, {scale.ScoreDefault, "NEIGHBORS(2)", trained},
			{scale.ScoreWalk, "PPR(100)", trained},
		} {
			if err == nil {
				err = g.scoreBy(ctx, d, of.figure, score.Options{Sources: list, Among: of.among, Using: of.model})
			}
		}
		return err
	})
}

// leastSources is the number of sources that are scored even if that takes longer than it should.
const leastSources = 10

// scoreBy scores sources for a while, and adds the time that one core takes for one to the figures.
func (g *scaleGraph) scoreBy(ctx context.Context, d *db.DB, figure string, o score.Options) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var done int64
	var began, last time.Time
	progress := func(n, _ int64) {
		if last = time.Now(); n == 1 { // before, the sources are read
			began = last
		}
		if done = n; n > leastSources && last.Sub(began) > g.span {
			stop()
		}
	}
	_, err := score.Run(within, d, o, noRows{}, progress)
	if ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	g.figures[figure] = last.Sub(began).Seconds() * float64(runtime.GOMAXPROCS(0)) / float64(max(done-1, 1))
	return err
}

// copy measures a backup, its restoration, and a replica of the copy.
func (g *scaleGraph) copy(ctx context.Context) error {
	file, copied, replica := g.path+".kbk", g.path+".copy.kith", g.path+".replica.kith"
	remove := func() error { return errors.Join(os.RemoveAll(file), os.RemoveAll(copied), os.RemoveAll(replica)) }
	if err := remove(); err != nil {
		return err
	}
	defer remove()
	o := limited(g.memory)
	err := withReadOnly(g.database(), o, func(d *db.DB) error {
		return g.time(scale.Backup, func() error {
			return cli.WriteFile(ctx, file, func(w io.Writer) error {
				done, err := d.WriteTo(ctx, w)
				g.figures[scale.BackupBytes] = float64(done.Bytes)
				return err
			})
		})
	})
	if err == nil {
		err = g.time(scale.Restore, func() error { return restore(ctx, file, copied, o) })
	}
	if err == nil {
		err = os.CopyFS(replica, os.DirFS(copied))
	}
	if err != nil {
		return err
	}
	leader, follower := *o, *o
	leader.ChangeBytes, follower.Follower = 256<<20, true
	return with(copied, &leader, func(d *db.DB) error {
		return with(replica, &follower, func(r *db.DB) error { return g.follow(ctx, d, r) })
	})
}

// Commits of single edges: the number of writers, whose commits share syncs, and of changes that a
// replica applies at once.
const (
	scaleWriters = 64
	scaleApplied = 256
)

// follow measures commits of single edges, and how fast a replica repeats them.
func (g *scaleGraph) follow(ctx context.Context, leader, replica *db.DB) error {
	s, err := leader.Stats()
	if err != nil {
		return err
	}
	nodes, err := g.draw(ctx, leader, g.random(), maxSources)
	if err != nil {
		return err
	}
	began := time.Now()
	took, err := inParallel(scaleWriters, g.span/2, func(w, i int) func() error {
		u, v := nodes[(w+i*scaleWriters)%len(nodes)], nodes[(i*scaleWriters*7+w*3+1)%len(nodes)]
		return func() error {
			return leader.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(u, v, db.Weight(2)) })
		}
	})
	if err != nil {
		return err
	}
	g.figures[scale.Commits] = float64(len(took)) / time.Since(began).Seconds()
	return g.repeat(ctx, leader, replica, s.Version)
}

// repeat applies the changes after a version in the replica.
func (g *scaleGraph) repeat(ctx context.Context, leader, replica *db.DB, since uint64) error {
	var some []db.Change
	var changes, size int
	var took time.Duration
	apply := func() error {
		began := time.Now()
		err := replica.Apply(ctx, some...)
		took += time.Since(began)
		some = some[:0]
		return err
	}
	err := leader.View(ctx, func(tx *db.Tx) error {
		for c, err := range tx.Changes(since) {
			if err != nil {
				return err
			}
			b, err := c.MarshalBinary()
			if err != nil {
				return err
			}
			changes, size = changes+1, size+len(b)
			if some = append(some, c); len(some) < scaleApplied {
				continue
			}
			if err := apply(); err != nil {
				return err
			}
		}
		return apply()
	})
	g.figures[scale.ChangeBytes] = float64(size) / float64(max(changes, 1))
	g.figures[scale.Applied] = float64(changes) / took.Seconds()
	return err
}
