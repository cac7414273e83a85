package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/model"
)

// The crash test kills a process that executes numbered steps, and compares the database with a
// twin that executed the same steps in memory, was never killed and forgets nothing.

// step executes step i on a database. Each step leaves a mark, so that the executed steps can be
// counted: a training leaves a version of the model, any other step an edge of the node "step".
func step(g *db.DB, i int) error {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(uint64(i), 5))
	mark := func(tx *db.Tx) error { return tx.PutEdge("step", fmt.Sprint("s", i)) }
	switch {
	case i == 0:
		err := errors.Join(g.Model("belief").Create(ctx, model.Spec{}), g.Update(ctx, addRelations))
		if err != nil && !errors.Is(err, db.ErrExists) {
			return err
		}
		return g.Model("m").Create(ctx, model.Spec{Policy: "prb"})
	case i%13 == 12:
		_, err := g.Model("m").Train(ctx, db.TrainOptions{Log: i%2 == 0, Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
		return err
	case i%17 == 5:
		return errors.Join(g.Compact(ctx), g.Update(ctx, mark))
	case i%17 == 9:
		_, err := g.WriteTo(ctx, io.Discard)
		return errors.Join(err, g.Update(ctx, mark))
	case i%11 == 1:
		list := fmt.Sprintf("step s%d\n%s", i, wheel(20+i%7))
		_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{Dialect: edgelist.Dialect{Header: edgelist.Off}})
		return err
	case i%3 == 0:
		return g.Update(ctx, func(tx *db.Tx) error {
			for range 5 {
				o := db.ObserveOptions{Source: rng.IntN(20), Target: rng.IntN(20), Model: "m", Reward: float64(rng.IntN(2)), Insert: true, Among: db.Keys(3, 5), NoCache: true}
				for _, o.Model = range []string{"belief", "m"} {
					if err := tx.Observe(ctx, o); err != nil {
						return err
					}
				}
			}
			return errors.Join(decide(tx, i), mark(tx))
		})
	default:
		return g.Update(ctx, func(tx *db.Tx) error {
			remove := tx.DeleteNode
			if i%4 == 3 {
				remove = tx.Erase
			}
			if err := remove(15 + i%5); err != nil && !errors.Is(err, db.ErrNotFound) {
				return err
			}
			for range 10 {
				relation := []string{"", "", "likes", "follows", "blocks"}[rng.IntN(5)]
				if err := tx.PutEdge(rng.IntN(20), rng.IntN(20), db.Via(relation), db.Weight(1+float32(rng.IntN(2)))); err != nil {
					return err
				}
			}
			for k := range 20 { // all nodes of observations exist
				if err := tx.PutNode(db.Node{Key: db.Int(int64(k))}); err != nil {
					return err
				}
			}
			return mark(tx)
		})
	}
}

// decide makes a decision and rewards the previous one.
func decide(tx *db.Tx, i int) error {
	d, err := tx.Choose(context.Background(), db.ChooseOptions{For: i % 15, Among: db.Keys(3, 5, 7), Places: 1 + i%2, Model: "belief", NoCache: true})
	if err == nil && d.ID > 1 {
		err = tx.RewardPlaces(context.Background(), d.ID-1, map[int]float64{1: float64(i % 2)}, db.ExaminedAll)
	}
	return err
}

// stepsDone returns the number of steps that a database has seen.
func stepsDone(g *db.DB) (n int, err error) {
	err = g.View(context.Background(), func(tx *db.Tx) error {
		m, err := tx.Model("m").Info(context.Background())
		if errors.Is(err, db.ErrNoModel) {
			return nil
		}
		if err != nil {
			return err
		}
		node, err := tx.Node("step")
		if errors.Is(err, db.ErrNotFound) {
			node, err = db.Node{}, nil
		}
		n = m.Version + node.Edges
		return err
	})
	return n, err
}

// crash continues the steps, prints the number of each finished step, and does not end by itself.
func crash(path string) error {
	g, err := db.Open(path, crashOptions(path))
	if err != nil {
		return err
	}
	i, err := stepsDone(g)
	for ; err == nil; i++ {
		if err = step(g, i); err == nil {
			_, err = fmt.Println(i)
		}
	}
	return err
}

// killed runs crash until some steps are done and a moment has passed, kills it, and returns the
// number of steps that it acknowledged.
func killed(t *testing.T, path string, after int, moment time.Duration) (acknowledged int) {
	t.Helper()
	cmd := child(t, "crash", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		i, err := strconv.Atoi(lines.Text())
		must(t, err)
		acknowledged = i + 1
		return true
	}
	for range after {
		if !read() {
			t.Fatalf("the process ended by itself: %v", cmd.Wait())
		}
	}
	time.Sleep(moment)
	must(t, cmd.Process.Signal(os.Kill))
	for read() {
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the process was not killed: %v", err)
	}
	return acknowledged
}

// crashOptions returns the options of a database: with nothing in memory if the path has the word
// paged, and without syncs, which a kill does not need, if it has the word unsynced.
func crashOptions(path string) *db.Options {
	o := &db.Options{Memory: 64 << 20, ObservationBytes: 16 << 10, NoSync: strings.Contains(path, "unsynced")}
	if strings.Contains(path, "paged") {
		db.Paged(o)
	}
	return o
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"in memory", "paged", "unsynced"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			testCrash(t, size(1, 3, 20)**times)
		})
	}
}

func testCrash(t *testing.T, kills int) {
	ctx := context.Background()
	path := place(t)
	twin := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, twin.Close()) }()
	rng := rand.New(rand.NewPCG(6, 7))
	done := 0
	advance := func(g *db.DB, from, to int) {
		for i := from; i < to; i++ {
			if err := step(g, i); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
	}
	for kill := range kills {
		after := rng.IntN(30)
		acknowledged := max(killed(t, path, after, time.Duration(rng.IntN(5000))*time.Microsecond), done)
		g, err := db.Open(path, crashOptions(path))
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		must(t, g.Check(ctx))
		n, err := stepsDone(g)
		must(t, err)
		if n < acknowledged || n > acknowledged+1 {
			t.Fatalf("kill %d: %d steps are there, %d were acknowledged", kill, n, acknowledged)
		}
		advance(twin, done, n)
		advance(twin, n, n+2)
		advance(g, n, n+2) // it continues as if it had not been killed
		done = n + 2
		same(t, kill, g, twin)
		must(t, g.Check(ctx), g.Close())
	}
	t.Logf("%d steps, %d kills", done, kills)
}

// crashOfMany inserts edges from concurrent writers, each its own, prints each acknowledged edge,
// and does not end by itself.
func crashOfMany(path string) error {
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				if err := g.Update(context.Background(), func(tx *db.Tx) error { return tx.PutEdge(w, 100+i) }); err != nil {
					failed <- err
				}
				fmt.Println(w, i)
			}
		}()
	}
	return <-failed
}

// After a kill, every edge that was acknowledged to one of several concurrent writers is there.
func TestCrashOfMany(t *testing.T) {
	t.Parallel()
	notShort(t)
	rng := rand.New(rand.NewPCG(1, 6))
	for range size(1, 2, 8) * *times {
		path := place(t)
		cmd := child(t, "many", path)
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		last, lines := map[int]int{}, bufio.NewScanner(out)
		kill := 20 + rng.IntN(500)
		for n := 0; lines.Scan(); n++ {
			var w, i int
			_, err := fmt.Sscan(lines.Text(), &w, &i)
			must(t, err)
			last[w] = i + 1
			if n == kill {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait() // it was killed
		g := open(t, path, &db.Options{Memory: 64 << 20})
		must(t, g.Check(context.Background()))
		view(t, g, func(tx *db.Tx) error {
			for w, want := range last {
				n, err := tx.Node(w)
				if must(t, err); n.Edges < want || n.Edges > want+1 {
					t.Errorf("writer %d: %d edges are there, %d were acknowledged", w, n.Edges, want)
				}
			}
			return nil
		})
		must(t, g.Close())
	}
}

// same compares the answers of two databases that executed the same steps.
func same(t *testing.T, kill int, g, twin *db.DB) {
	t.Helper()
	for _, name := range []string{"belief", "m"} {
		plain := db.PredictOptions{For: 7, Among: db.All(), NoCache: true, Top: -1, Model: name}
		if got, want := answer(t, g, plain), answer(t, twin, plain); got != want {
			t.Fatalf("kill %d, model %s:\n%s\nthe twin:\n%s", kill, name, got, want)
		}
		cached := plain
		cached.NoCache = false
		agree(t, g, plain, cached)
	}
}
