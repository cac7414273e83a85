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
	"kith/model"
)

// work is what a process of its own does with a database that is to stay within its memory.
type work struct {
	path               string
	memory             int64
	scale, edges, asks int // a graph of 2^scale nodes, with skewed degrees
}

func (w work) String() string {
	return fmt.Sprint(w.path, " ", w.memory, " ", w.scale, " ", w.edges, " ", w.asks)
}

// budget does the work and prints the most memory that the process held in each part of it.
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
	}{{"load", w.load}, {"update", w.update}, {"predict", w.predict}} {
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

// tellPeak prints the most memory that was held since it was called before.
func tellPeak(part string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(part, strings.Fields(kb)[0])
		}
	}
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // begin anew
}

func (w work) load(g *db.DB) error {
	out, in := io.Pipe()
	go func() {
		b, rng := bufio.NewWriter(in), rand.New(rand.NewPCG(1, 2))
		for range w.edges {
			fmt.Fprintln(b, w.skewed(rng), w.skewed(rng), 1_000_000_000+rng.IntN(1000)) // a time takes the most memory
		}
		in.CloseWithError(b.Flush())
	}()
	_, err := g.Load(context.Background(), out, db.LoadOptions{})
	return errors.Join(err, out.Close())
}

// skewed is a random node, each bit of which is more often 0 than 1.
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
	if err := g.CreateModel(ctx, "m", model.Spec{}); err != nil {
		return err
	}
	for range w.asks / 10 {
		err := g.Update(ctx, func(tx *db.Tx) error {
			for range 20 {
				if err := tx.AddEdge(w.skewed(rng), rng.IntN(1<<w.scale), 1); err != nil {
					return err
				}
			}
			return tx.Observe(ctx, db.Observation{Source: w.skewed(rng) &^ 1, Target: 0, Model: "m", Reward: 1, Among: db.Keys(0, 1, 2)})
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
		p := db.Prediction{For: w.skewed(rng)}
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

// The process stays within the memory that it is told to use, and 15 %.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	sizes := []work{{memory: 128 << 20, scale: 15, edges: 200_000, asks: 200}}
	if *long {
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
				part, kb, _ := strings.Cut(strings.TrimSpace(line), " ")
				n, err := strconv.ParseInt(kb, 10, 64)
				must(t, err)
				t.Logf("%s: %d MB of %d", part, n>>10, w.memory>>20)
				if n<<10 > w.memory+w.memory*15/100 {
					t.Errorf("%s took %d MB, of %d", part, n>>10, w.memory>>20)
				}
			}
		})
	}
}
