package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// work describes the work of a child process that must stay within its memory.
type work struct {
	path               string
	memory             int64
	scale, edges, asks int // a graph of 2^scale nodes, with skewed degrees
}

func (w work) String() string {
	return fmt.Sprint(w.path, " ", w.memory, " ", w.scale, " ", w.edges, " ", w.asks)
}

// budget does the work and prints the peak memory of the process in each part of it.
func budget(text string) error {
	var w work
	if _, err := fmt.Sscan(text, &w.path, &w.memory, &w.scale, &w.edges, &w.asks); err != nil {
		return err
	}
	debug.SetMemoryLimit(w.memory) // as Options.Memory advises
	g, err := db.Open(w.path, &db.Options{Memory: w.memory, NoSync: true})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		do   func(*db.DB) error
	}{
		{"load", w.load}, {"update", w.update}, {"predict", w.predict}, {"train", w.train}, {"predict all", w.predictAll},
		{"holdout", w.holdout}, {"check", w.check}, {"backup", w.backup},
	} {
		if err := part.do(g); err != nil {
			return errors.Join(err, g.Close())
		}
		if err := tellPeak(part.name); err != nil {
			return err
		}
	}
	if err := g.Close(); err != nil {
		return err
	}
	if g, err = db.Open(w.path, &db.Options{Memory: w.memory}); err != nil {
		return err
	}
	err = w.predict(g)
	return errors.Join(err, g.Close(), tellPeak("reopen"))
}

// tellPeak prints the peak memory since its last call.
func tellPeak(part string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Printf("%s: %s\n", part, strings.Fields(kb)[0])
		}
	}
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // reset the peak
}

func (w work) load(g *db.DB) error {
	out, in := io.Pipe()
	go func() {
		b, rng := bufio.NewWriter(in), rand.New(rand.NewPCG(1, 2))
		for range w.edges {
			fmt.Fprintln(b, w.skewed(rng), w.skewed(rng), 1_000_000_000+rng.IntN(1000)) // with times, a load takes the most memory
		}
		in.CloseWithError(b.Flush())
	}()
	_, err := g.Load(context.Background(), out, db.LoadOptions{})
	return errors.Join(err, out.Close())
}

// skewed returns a random node, each bit of which is more often 0 than 1.
func (w work) skewed(rng *rand.Rand) (u int) {
	bits := rng.Uint64()
	for range w.scale {
		u <<= 1
		if bits&7 < 2 {
			u |= 1
		}
		bits >>= 3
	}
	return u
}

func (w work) update(g *db.DB) error {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	if err := g.Model("m").Create(ctx, model.Spec{}); err != nil {
		return err
	}
	for range w.asks / 10 {
		err := g.Update(ctx, func(tx *db.Tx) error {
			for range 20 {
				if err := tx.PutEdge(w.skewed(rng), rng.IntN(1<<w.scale)); err != nil {
					return err
				}
			}
			return tx.Observe(ctx, db.ObserveOptions{Source: w.skewed(rng) &^ 1, Target: 0, Model: "m", Reward: 1, Among: db.Keys(0, 1, 2)})
		})
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (w work) predict(g *db.DB) error {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range w.asks {
		p := db.PredictOptions{For: w.skewed(rng)}
		if i%10 > 0 {
			p.Among = db.Keys(0, 1, 2, 4, 8, 16, 32)
		}
		_, err := g.Predict(context.Background(), p)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (w work) train(g *db.DB) error {
	_, err := g.Model("m").Train(context.Background(), db.TrainOptions{Plan: model.EdgePlan{Samples: w.asks}})
	return err
}

// affordable returns err, or nil for ErrTooLarge.
func affordable(err error) error {
	if errors.Is(err, db.ErrTooLarge) {
		return nil
	}
	return err
}

func (w work) predictAll(g *db.DB) error {
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 0, Among: db.All(), Top: -1})
	return affordable(err)
}

func (w work) holdout(g *db.DB) error {
	_, err := g.Evaluate(context.Background(), db.EvaluateOptions{
		Share: 0.1, Sample: 3, Contenders: []db.Contender{{Spec: &db.ModelSpec{}, Plan: model.EdgePlan{Samples: w.asks}}},
	})
	return affordable(err)
}

func (w work) check(g *db.DB) error { return g.Check(context.Background()) }

func (w work) backup(g *db.DB) error {
	_, err := g.WriteTo(context.Background(), io.Discard)
	return err
}

// The process stays within the given memory plus 15 % and 20 MB, whatever the database does.
func TestMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	slow(t)
	sizes := []work{{memory: 128 << 20, scale: 14, edges: 100_000, asks: 200}}
	if *times > 1 {
		sizes = []work{
			{memory: 256 << 20, scale: 18, edges: 4_000_000, asks: 10_000},
			{memory: 512 << 20, scale: 19, edges: 8_000_000, asks: 10_000},
			{memory: 1 << 30, scale: 20, edges: 16_000_000, asks: 10_000},
		}
	}
	for _, w := range sizes {
		t.Run(fmt.Sprintf("memory=%dMB", w.memory>>20), func(t *testing.T) {
			w.path = place(t)
			out, err := child(t, "budget", w.String()).Output()
			must(t, err)
			for line := range strings.Lines(string(out)) {
				part, kb, _ := strings.Cut(strings.TrimSpace(line), ": ")
				n, err := strconv.ParseInt(kb, 10, 64)
				must(t, err)
				t.Logf("%s: %d MB of %d", part, n>>10, w.memory>>20)
				if n<<10 > w.memory+w.memory*15/100+20<<20 {
					t.Errorf("%s took %d MB, of %d", part, n>>10, w.memory>>20)
				}
			}
		})
	}
}

// An answer that takes more than its share of the memory is rejected before it is computed.
func TestAnswersTooLarge(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	var list strings.Builder
	for i := range 120_000 {
		fmt.Fprintln(&list, i, i+1)
	}
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{})
	must(t, err)
	_, err = g.Predict(ctx, db.PredictOptions{For: 0, Among: db.All()})
	wantError(t, "a ranking of all nodes", err, db.ErrTooLarge)
	_, err = g.Predict(ctx, db.PredictOptions{For: 0, Among: db.Sample(10_000, 1)})
	must(t, err, g.View(ctx, func(tx *db.Tx) error {
		_, err := tx.PageRank(ctx, db.PageRankOptions{From: 0, Top: -1})
		wantError(t, "PageRank of all nodes", err, db.ErrTooLarge)
		_, err = tx.PageRank(ctx, db.PageRankOptions{From: 0, Top: 10})
		return err
	}))
}
