package db_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/index"
	"kith/model"
)

func cacheStats(t testing.TB, g *db.DB) index.CacheStats {
	t.Helper()
	s, err := g.Stats()
	must(t, err)
	return s.Cache
}

// readSince returns what was read from the cache since before.
func readSince(t testing.TB, g *db.DB, before index.CacheStats) (use index.CacheUse) {
	t.Helper()
	now := cacheStats(t, g)
	return index.CacheUse{
		Hits: now.Hits - before.Hits, CatchUps: now.CatchUps - before.CatchUps,
		Loads: now.Loads - before.Loads, Computed: now.Computed - before.Computed,
	}
}

// trainDefault makes a model of policy default that answers requests without a name, trained a
// little.
func trainDefault(t testing.TB, g *db.DB) {
	t.Helper()
	ctx := context.Background()
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
	must(t, err)
}

// A session that only reads and computes little leaves the files as they are.
func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	path := place(t)
	g := open(t, path, nil)
	load(t, g, 3000)
	must(t, g.Close())
	files := func() (all []string) {
		entries, err := os.ReadDir(path)
		must(t, err)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && e.Name() != "LOCK" {
				all = append(all, fmt.Sprint(e.Name(), info.Size(), info.ModTime()))
			}
		}
		return all
	}
	before := files()
	g = open(t, path, nil)
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 7, Among: db.PPR(50)})
	must(t, err)
	if n := cacheStats(t, g).Computed; n == 0 {
		t.Error("nothing was computed")
	}
	must(t, g.Close())
	if after := files(); runtime.GOOS != "windows" && !slices.Equal(before, after) {
		t.Errorf("files were %v, they are %v", before, after)
	}
}

// After WARM, predictions compute no state.
func TestWarmedPredictionsHit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		for _, trained := range []bool{false, true} {
			g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
			load(t, g, 200)
			if trained {
				trainDefault(t, g)
			}
			view(t, g, func(tx *db.Tx) error { return tx.Warm(ctx, 7, 8, 9) })
			before := cacheStats(t, g)
			for _, among := range []db.Candidates{{}, db.PPR(20), db.Neighbors(2), db.Keys(100, 101, 102)} {
				for u := range 3 {
					_, err := g.Predict(ctx, db.PredictOptions{For: 7 + u, Among: among})
					must(t, err)
				}
			}
			if use := readSince(t, g, before); use.Hits < 12 || use.CatchUps+use.Loads+use.Computed > 0 {
				t.Errorf("%v, trained %v: %+v", direction, trained, use)
			}
		}
	}
}

// A profile says how the states of its statement were obtained.
func TestProfileCountsStates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 2000)
	cache := func(want string, noCache bool) {
		t.Helper()
		view(t, g, func(tx *db.Tx) error {
			_, steps, err := tx.Profile(ctx, db.PredictOptions{For: 7, Among: db.PPR(20), NoCache: noCache})
			must(t, err)
			if last := steps[len(steps)-1]; last.Name != "cache" || last.Detail != want {
				t.Errorf("got %+v, want %s", last, want)
			}
			return nil
		})
	}
	cache("hits 0, repairs 0, loads 0, misses 2", false)
	cache("hits 2, repairs 0, loads 0, misses 0", false)
	cache("not used", true)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(52, 900) }) // 52 is a neighbour of 7
	cache("hits 0, repairs 2, loads 0, misses 0", false)
}

// Answers from states that were computed on the same edges are those without the cache, bit for
// bit, also after commits that change no edge.
func TestCachedAnswersAreExact(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		load(t, g, 300)
		trainDefault(t, g)
		for turn := range 3 {
			for node := range 5 {
				for _, model := range []string{"", "common_neighbors"} {
					p := db.PredictOptions{For: node, Among: db.PPR(40), Top: -1, Model: model}
					got := answer(t, g, p)
					p.NoCache = true
					if want := answer(t, g, p); got != want {
						t.Errorf("%v, turn %d: %s with the cache,\n%s without", direction, turn, got, want)
					}
				}
			}
			must(t, g.Observe(context.Background(), db.ObserveOptions{Source: turn, Target: 9, Reward: 1, Model: "m"}))
		}
		if s := cacheStats(t, g); s.Hits < 20 {
			t.Errorf("%v: %+v", direction, s)
		}
	}
}

// After random edits, answers with and without the cache agree within their bounds, and certain
// ranks are equal.
func TestCachedAnswersAgree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(4, 13))
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		load(t, g, 120)
		trainDefault(t, g)
		must(t, g.Model("prb").Create(ctx, model.Spec{Policy: "prb"}))
		for range size(60, 200, 1000) * *times {
			sets := []db.Candidates{db.PPR(10), db.Neighbors(2), db.PPR(30).Except(db.Neighbors(2)), db.Sample(20, 3)}
			cached := db.PredictOptions{
				For: rng.IntN(8), Top: -1, Among: sets[rng.IntN(len(sets))], Model: []string{"", "m", "prb", "ppr"}[rng.IntN(4)],
			}
			plain := cached
			plain.NoCache = true
			agree(t, g, plain, cached)
			update(t, g, func(tx *db.Tx) error {
				for range rng.IntN(4) {
					must(t, tx.PutEdge(rng.IntN(120), rng.IntN(120), db.Weight(float32(1+rng.IntN(3)))))
				}
				return nil
			})
		}
		if s := cacheStats(t, g); s.CatchUps == 0 {
			t.Errorf("%v: %+v", direction, s)
		}
	}
}

// storeStates warms nodes until a checkpoint has stored states, says so, and does not end by
// itself.
func storeStates(path string) error {
	ctx := context.Background()
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	if _, err := g.Load(ctx, strings.NewReader(scatter(40_000)), db.LoadOptions{}); err != nil {
		return err
	}
	before, err := g.Stats()
	if err != nil {
		return err
	}
	for node := 0; ; node = (node + 1) % 1000 {
		if err := g.View(ctx, func(tx *db.Tx) error { return tx.Warm(ctx, node) }); err != nil {
			return err
		}
		s, err := g.Stats()
		if err != nil {
			return err
		}
		if s.Cache.Stored > 0 && s.Activity.Syncs > before.Activity.Syncs {
			fmt.Println(node)
			select {}
		}
	}
}

// States that a checkpoint stored are loaded after a kill, and brought up to date with later
// changes.
func TestStatesSurviveAKill(t *testing.T) {
	t.Parallel()
	notShort(t)
	path, ctx := place(t), context.Background()
	cmd := child(t, "states", path)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	if !bufio.NewScanner(out).Scan() {
		t.Fatalf("the process ended by itself: %v", cmd.Wait())
	}
	must(t, cmd.Process.Signal(os.Kill))
	_ = cmd.Wait() // it was killed
	g := dbtest.Reopen(t, path, nil)
	must(t, g.Check(ctx))
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(3)) })
	for node := range 40 {
		plain := db.PredictOptions{For: node, Among: db.Neighbors(2), NoCache: true}
		cached := plain
		cached.NoCache = false
		agree(t, g, plain, cached)
	}
	view(t, g, func(tx *db.Tx) error {
		for node := range 1000 {
			must(t, tx.Warm(ctx, node))
			if cacheStats(t, g).Loads > 0 {
				return nil
			}
		}
		return nil
	})
	if s := cacheStats(t, g); s.Loads == 0 {
		t.Errorf("no state was loaded: %+v", s)
	}
}

// sum returns a checksum of what a model answers.
func sum(g *db.DB) (uint32, error) {
	r, err := g.Predict(context.Background(), db.PredictOptions{For: 3, Among: db.All(), Model: "m", Top: -1, NoCache: true})
	if err != nil {
		return 0, err
	}
	b, err := json.Marshal(r.Links)
	return crc32.ChecksumIEEE(b), err
}

// learnFromCache observes outcomes whose contexts come from repaired states, prints the checksum of
// the answers, and does not end by itself.
func learnFromCache(path string) error {
	ctx := context.Background()
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	if _, err := g.Load(ctx, strings.NewReader(wheel(80)), db.LoadOptions{}); err != nil {
		return err
	}
	if err := g.Model("m").Create(ctx, model.Spec{}); err != nil {
		return err
	}
	for i := range 60 {
		err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(1+i%5, 7+i%60) })
		if err == nil {
			o := db.ObserveOptions{Source: i % 5, Target: 20 + i%40, Reward: float64(i % 2), Model: "m", Among: db.Keys(70, 71)}
			err = g.Observe(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	answers, err := sum(g)
	if err != nil {
		return err
	}
	s, err := g.Stats()
	fmt.Println(answers, s.Cache.CatchUps)
	if err == nil {
		select {}
	}
	return err
}

// A replay after a kill learns the contexts that were stored, so the model is the one that learned
// from the cache.
func TestReplayOfCachedContexts(t *testing.T) {
	t.Parallel()
	path := place(t)
	cmd := child(t, "learn", path)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	var want uint32
	var repaired int
	_, err = fmt.Fscan(out, &want, &repaired)
	must(t, err, cmd.Process.Signal(os.Kill))
	_ = cmd.Wait() // it was killed
	g := dbtest.Reopen(t, path, nil)
	must(t, g.Check(context.Background()))
	if got, err := sum(g); err != nil || got != want {
		t.Errorf("the checksum of the answers is %d, want %d; %v", got, want, err)
	}
	if repaired == 0 {
		t.Error("no context came from a repaired state")
	}
}
