package db

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db/edgelist"
	"kith/db/internal/hidden"
	"kith/index"
	"kith/model"
)

// onDemand makes g read keys, labels, vectors and rows from the store, whenever they are asked for.
func onDemand(t *testing.T, g *DB, cache int64) {
	t.Helper()
	now := g.now.Load()
	r := g.store.Read(now.ts)
	defer r.Close()
	s, err := index.Open(r, &index.Stored{Source: g.store.At(now.ts), Cache: cache})
	must(t, err)
	if s.Graph.Loaded() {
		t.Fatal("the rows are in memory")
	}
	g.publish(&snapshot{Snapshot: s, models: now.models, ts: now.ts})
}

// answers returns the nodes, and what a few questions are answered, without the cache.
func answers(t *testing.T, g *DB) (all []string) {
	t.Helper()
	ctx := context.Background()
	must(t, g.View(ctx, func(tx *Tx) error {
		for n, err := range tx.Nodes() {
			must(t, err)
			all = append(all, fmt.Sprintf("%+v", n))
		}
		all = append(all, fmt.Sprint(tx.Stats().Labels))
		return nil
	}))
	for _, source := range []int{0, 7} {
		for _, among := range []Candidates{{}, PPR(50), All()} {
			for _, m := range []string{"m", "adamic_adar", "ppr"} {
				r, err := g.Predict(ctx, PredictOptions{For: source, Among: among, Model: m, NoCache: true})
				must(t, err)
				b, err := json.Marshal(r.Links)
				must(t, err)
				all = append(all, fmt.Sprint(source, among, m, string(b)))
			}
		}
	}
	return all
}

// A graph that is read on demand gives the same answers, bit for bit, as one in memory: before and
// after changes, observations, a training and a compaction.
func TestRowsOnDemand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; TestPaged reads on demand too")
	}
	ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 1))
	now := func() time.Time { return time.Unix(1_100_000_000, 0) }
	for _, direction := range []Direction{Undirected, Directed} {
		if !isLong() && direction == Undirected {
			continue
		}
		var list strings.Builder
		for range 700 { // no edge leads from 7, which will have edges without times
			fmt.Fprintln(&list, (rng.IntN(199)+8)%200, rng.IntN(200), 1+rng.IntN(2), 1e9+rng.IntN(1e6))
		}
		dir := t.TempDir()
		open := func(name string) *DB {
			g, err := Open(filepath.Join(dir, name), &Options{Memory: 64 << 20, NoSync: true, Direction: direction, NoRefresh: true, Now: now})
			must(t, err)
			return g
		}
		first := open("a")
		_, err := first.Load(ctx, strings.NewReader(list.String()), LoadOptions{Columns: edgelist.SrcDstWeightTime})
		must(t, err, first.Model("m").Create(ctx, model.Spec{}), first.Update(ctx, func(tx *Tx) error {
			for i := range 90 {
				n := Node{Key: Int(int64(2 * i)), Label: []string{"", "even", "other"}[i%3]}
				if i%3 > 0 {
					n.Features = []float32{rng.Float32(), rng.Float32(), rng.Float32()}
				}
				must(t, tx.PutNode(n))
			}
			return nil
		}))
		_, err = first.Model("m").Train(ctx, TrainOptions{Plan: model.EdgePlan{Samples: 60, Epochs: 1}})
		must(t, err, first.Close(), os.CopyFS(filepath.Join(dir, "b"), os.DirFS(filepath.Join(dir, "a"))))
		memory, stored := open("a"), open("b")
		onDemand(t, stored, 10<<10)
		compare := func(when string) {
			t.Helper()
			want, got := answers(t, memory), answers(t, stored)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v, %s:\n%s\nwant\n%s", direction, when, got[i], want[i])
				}
			}
		}
		compare("after opening")
		for _, g := range []*DB{memory, stored} {
			must(t, g.Update(ctx, func(tx *Tx) error {
				return errors.Join(tx.PutEdge(7, 101, Weight(2)), tx.PutEdge(7, "new"), tx.DeleteNode(199),
					tx.PutNode(Node{Key: Str("newer"), Label: "even", Features: []float32{1, 2, 3}}),
					tx.SetFeatures(8, []float32{4, 5, 6}), tx.SetFeatures(10, nil), tx.DeleteNode(40))
			}))
			for i := range 20 {
				must(t, g.Observe(ctx, ObserveOptions{Source: i, Target: 150 + i, Among: Keys(1, 5, 44), Reward: float64(i % 2), Model: "m", Insert: true}))
			}
		}
		compare("after changes")
		for _, g := range []*DB{memory, stored} {
			if isLong() {
				_, err := g.Model("m").Train(ctx, TrainOptions{})
				must(t, err)
			}
			must(t, g.Check(ctx))
		}
		compare("after a training")
		must(t, memory.Compact(ctx), stored.Compact(ctx))
		compare("after a compaction")
		must(t, stored.Check(ctx), memory.Close(), stored.Close())
		stored = open("b")
		must(t, stored.Check(ctx), stored.Close())
	}
}

// Paged makes options under which nothing is loaded into memory.
func Paged(o *Options) { o.paged = true }

// OnStep makes options with which f is called when a load or a compaction has changed files.
func OnStep(o *Options, f func()) { o.onStep = f }

// A database of which nothing is loaded into memory gives the same answers, bit for bit, as one in
// memory, through loads, changes, compactions, a backup and openings.
func TestPaged(t *testing.T) {
	t.Parallel()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 2))
	nodes, edges := 200, 2000
	switch {
	case isLong():
		nodes, edges = 1000, 200_000
	case !testing.Short():
		nodes, edges = 400, 8_000
	}
	list := func() string {
		var b strings.Builder
		for range edges {
			fmt.Fprintln(&b, rng.IntN(nodes), rng.IntN(nodes), 1+rng.IntN(2), 1e9+rng.IntN(1e6))
		}
		return b.String()
	}
	for _, direction := range []Direction{Undirected, Directed} {
		dir := t.TempDir()
		open := func(name string) *DB {
			g, err := Open(filepath.Join(dir, name), &Options{Memory: 64 << 20, NoSync: true, Direction: direction, NoRefresh: true, paged: name != "memory"})
			must(t, err)
			return g
		}
		both := []*DB{open("memory"), open("paged")}
		compare := func(when string) {
			t.Helper()
			want, got := answers(t, both[0]), answers(t, both[1])
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v, %s:\n%s\nwant\n%s", direction, when, got[i], want[i])
				}
			}
			must(t, both[1].Check(ctx))
			if s := both[1].now.Load(); s.Loaded() {
				t.Fatalf("%s: the graph is in memory", when)
			}
		}
		for n := range 2 {
			lines, other := list(), rng.IntN(nodes)
			for _, g := range both {
				_, err := g.Load(ctx, strings.NewReader(lines), LoadOptions{Columns: edgelist.SrcDstWeightTime, Repeats: SumWeights})
				must(t, err)
				if n == 0 {
					must(t, g.Model("m").Create(ctx, model.Spec{}))
				}
			}
			compare("after a load")
			for _, g := range both {
				must(t, g.Update(ctx, func(tx *Tx) error {
					return errors.Join(tx.PutEdge(7, other, Weight(2)), tx.PutEdge(7, fmt.Sprint("new ", n)), tx.DeleteNode(nodes-1-n), tx.PutNode(Node{Key: Int(3), Label: fmt.Sprint("l", n)}))
				}))
			}
			compare("after changes")
			must(t, both[0].Compact(ctx), both[1].Compact(ctx))
			compare("after a compaction")
		}
		var backup bytes.Buffer
		_, err := both[1].WriteTo(ctx, &backup)
		must(t, err, both[1].Close())
		both[1] = open("paged")
		compare("after opening")
		must(t, both[1].Close(), Restore(ctx, filepath.Join(dir, "restored"), &Options{Memory: 64 << 20, paged: true}, &backup))
		both[1] = open("restored")
		compare("after a restore")
		must(t, both[0].Close(), both[1].Close())
	}
}

// A question with many candidates reads their rows past the cache, and gets the answer of a graph
// in memory, bit for bit.
func TestManyCandidatesPaged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 3))
	var list strings.Builder
	for i := range 60_000 {
		fmt.Fprintln(&list, rng.IntN(1+i%4000), rng.IntN(4000))
	}
	for _, direction := range []Direction{Undirected, Directed} {
		var links [2][]Link
		for i, paged := range []bool{false, true} {
			g, err := Open(filepath.Join(t.TempDir(), "g"), &Options{Memory: 64 << 20, NoSync: true, Direction: direction, paged: paged})
			must(t, err)
			_, err = g.Load(ctx, strings.NewReader(list.String()), LoadOptions{})
			must(t, err)
			if paged {
				onDemand(t, g, 1<<20)
			}
			for range 2 { // the second time some blocks are in the cache
				r, err := g.Predict(ctx, PredictOptions{For: 7, Among: All(), Top: -1, NoCache: true})
				must(t, err)
				if links[i] != nil && !slices.Equal(r.Links, links[i]) || len(r.Links) < 3000 {
					t.Fatalf("%v, paged %v: %d links, or others than before", direction, paged, len(r.Links))
				}
				links[i] = r.Links
			}
			must(t, g.Close())
		}
		if !slices.Equal(links[0], links[1]) {
			t.Errorf("%v: the answer of the paged graph differs", direction)
		}
	}
}

// Writers wait for a compaction when the changes take too much memory. They are not refused.
func TestWritersWait(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openTest(t, filepath.Join(t.TempDir(), "g"))
	_, err := g.Load(ctx, strings.NewReader(clubs(40, 1)), LoadOptions{})
	must(t, err)
	g.opts.Memory, g.opts.paged = 1<<20, true
	limit, first := g.opts.memory(graphPart)/2, g.now.Load().Meta
	for i := range 60 {
		must(t, g.Update(ctx, func(tx *Tx) error {
			for k := range 30 {
				if err := tx.PutEdge(1000+30*i+k, 7*i+k); err != nil {
					return err
				}
			}
			return nil
		}))
		const update = 60 * (380 + 100 + 80)
		if n := g.now.Load().ChangedBytes(); n > limit+update {
			t.Fatalf("the changes take %d bytes, of %d", n, limit)
		}
	}
	if m := g.now.Load().Meta; m.Generation == first.Generation || m.Edges != first.Edges+60*30 {
		t.Errorf("%d edges in generation %d, before %d in %d", m.Edges, m.Generation, first.Edges, first.Generation)
	}
	must(t, g.Check(ctx), g.Close())
}

// A row that cannot be read is an error of every transaction, and nothing is written.
func TestRowsUnreadable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openTest(t, filepath.Join(t.TempDir(), "g"))
	_, err := g.Load(ctx, strings.NewReader(clubs(40, 1)), LoadOptions{})
	must(t, err)
	now := g.now.Load()
	written := now.ts - 1 // the generation; now.ts is the commit that made it the base
	must(t, g.store.Batch(written, func(w index.Writer) error { return w.Set(firstOf(t, g.store, 'x', 0), []byte("other bytes")) }))
	onDemand(t, g, 1<<20)
	if _, err := g.Predict(ctx, PredictOptions{For: 3}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "block x 0") {
		t.Errorf("a question: %v", err)
	}
	if err := g.Update(ctx, func(tx *Tx) error { return tx.PutEdge(1, "new") }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a change: %v", err)
	}
	if err := g.Compact(ctx); err != nil && !errors.Is(err, ErrCorrupt) {
		t.Errorf("a compaction: %v", err)
	}
	if v := g.now.Load().Meta.Version; v != now.Meta.Version {
		t.Errorf("version %d was written after %d", v, now.Meta.Version)
	}
	must(t, g.Close())
}

// The rows of a large graph are loaded in the background when questions have read about as much as
// the load costs; questions are answered meanwhile, and Close does not wait for it.
func TestRowsAreLoaded(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	var list strings.Builder
	for i := range 2 * loadAtOnce {
		fmt.Fprintln(&list, i%30_011, (7919*i+i/30_011)%30_011)
	}
	_, err := g.Load(ctx, strings.NewReader(list.String()), LoadOptions{})
	must(t, err)
	want := answersOf(t, g)
	must(t, g.Close())
	for range 3 {
		g = openTest(t, path)
		_, err := g.Predict(ctx, PredictOptions{For: 17, Among: Neighbors(2), Model: "adamic_adar"})
		must(t, err)
		if left := g.untilLoad.Load(); left <= 0 || left >= loadCost*g.now.Load().Graph.NumEdges() {
			t.Errorf("%d bytes are left after one question", left)
		}
		if got := answersOf(t, g); got != want {
			t.Errorf("while it is loaded: %s, want %s", got, want)
		}
		must(t, g.Close())
	}
	for _, readOnly := range []bool{false, true} {
		g, err = Open(path, &Options{ReadOnly: readOnly})
		must(t, err)
		for node := 0; g.untilLoad.Load() > 0; node = (node + 7) % 30_011 {
			_, err := g.Predict(ctx, PredictOptions{For: node, Among: Neighbors(2), Model: "adamic_adar"})
			must(t, err)
		}
		g.jobs.all.Wait()
		if got := answersOf(t, g); got != want || !g.now.Load().Loaded() {
			t.Errorf("in memory: %s, want %s", got, want)
		}
		must(t, g.Close())
	}
	g = openTest(t, path)
	g.Preload()
	g.jobs.all.Wait()
	if !g.now.Load().Loaded() {
		t.Error("Preload did not read the graph")
	}
	must(t, g.Close())
	g.Preload() // without effect
}

// answersOf returns the neighbours of a node and a prediction for it.
func answersOf(t *testing.T, g *DB) string {
	t.Helper()
	r, err := g.Predict(context.Background(), PredictOptions{For: 17, Among: Neighbors(2), Model: "ppr", NoCache: true})
	must(t, err)
	b, err := json.Marshal(r.Links)
	must(t, err)
	return string(b)
}

// Where the graph is too large to be copied, a holdout hides what fits into the memory, and says
// so; its questions and those of a training are answered as on a copy without these edges. A list
// that does not fit is refused.
func TestHoldoutInLittleMemory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openClubs(t, 400, &Options{InMemory: true, Memory: 64 << 20})
	onDemand(t, g, 10<<10)
	const little = 4 * 4 * 2 * hiddenBytes
	ask := func(o EvaluateOptions, memory int64) (s *holdout, answers string) {
		must(t, g.View(ctx, func(tx *Tx) (err error) {
			g.opts.Memory = memory
			s, err = tx.hold(ctx, &o)
			if g.opts.Memory = 64 << 20; err != nil {
				return err
			}
			_, err = s.measure(ctx, &Contender{Model: "adamic_adar"}, func(out HeldOut) { answers += fmt.Sprintln(out) }, func(int) {})
			return err
		}))
		return s, answers
	}
	set, got := ask(EvaluateOptions{Share: 0.2}, little)
	if set.Hidden != 4 || set.Wanted < 40 {
		t.Errorf("%d edges are hidden of %d, want 4", set.Hidden, set.Wanted)
	}
	var links []Edge
	must(t, g.View(ctx, func(tx *Tx) error {
		for _, p := range set.hidden {
			if p[0] < p[1] {
				links = append(links, Edge{Src: tx.key(p[0]), Dst: tx.key(p[1])})
			}
		}
		all, err := hidden.Select(ctx, tx.snap.Graph, func(index.Edge) bool { return true })
		must(t, err)
		g.opts.Memory = little
		if _, err := tx.without(ctx, all[:5]); !errors.Is(err, ErrTooLarge) {
			t.Errorf("5 edges: %v", err)
		}
		return nil
	}))
	if _, want := ask(EvaluateOptions{Links: links}, 64<<20); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Vectors so long that a stored block of them has several parts, and of which few fit into the
// cache, give the same answers, bit for bit, as those in memory: after a training, changes,
// observations, a compaction and an opening.
func TestLargeVectorsOnDemand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const nodes, length, atOnce = 60, 8300, 4
	ctx, dir := context.Background(), t.TempDir()
	open := func(name string) *DB {
		g, err := Open(filepath.Join(dir, name), &Options{Memory: 64 << 20, NoSync: true, NoRefresh: true, paged: name == "paged"})
		must(t, err)
		return g
	}
	vector := func(rng *rand.Rand) []float32 {
		x := make([]float32, length)
		for range length / 10 {
			x[rng.IntN(length)] = rng.Float32()
		}
		return x
	}
	rng := rand.New(rand.NewPCG(8, 3))
	first := open("memory")
	var list strings.Builder
	for range 300 {
		fmt.Fprintln(&list, rng.IntN(nodes), rng.IntN(nodes))
	}
	_, err := first.Load(ctx, strings.NewReader(list.String()), LoadOptions{})
	must(t, err)
	for from := 0; from < nodes; from += atOnce {
		must(t, first.Update(ctx, func(tx *Tx) error {
			for u := from; u < from+atOnce; u++ {
				if err := tx.PutNode(Node{Key: Int(int64(u)), Features: vector(rng)}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	must(t, first.Model("m").Create(ctx, model.Spec{}))
	_, err = first.Model("m").Train(ctx, TrainOptions{Plan: model.EdgePlan{Samples: 100, Epochs: 1}})
	must(t, err, first.Compact(ctx), first.Close(), os.CopyFS(filepath.Join(dir, "paged"), os.DirFS(filepath.Join(dir, "memory"))))
	both := []*DB{open("memory"), open("paged")}
	onDemand(t, both[1], 8<<20) // three of four blocks
	compare := func(when string) {
		t.Helper()
		want, got := answers(t, both[0]), answers(t, both[1])
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s:\n%.2000s\nwant\n%.2000s", when, got[i], want[i])
			}
		}
		must(t, both[1].Check(ctx))
	}
	compare("after opening")
	changed, added := vector(rng), vector(rng)
	for _, g := range both {
		for _, change := range []func(tx *Tx) error{
			func(tx *Tx) error { return tx.SetFeatures(8, changed) },
			func(tx *Tx) error { return tx.SetFeatures(40, nil) },
			func(tx *Tx) error { return tx.DeleteNode(33) },
			func(tx *Tx) error {
				return errors.Join(tx.PutNode(Node{Key: Str("new"), Features: added}), tx.PutEdge("new", 7))
			},
		} {
			must(t, g.Update(ctx, change))
		}
		for i := range 5 {
			must(t, g.Observe(ctx, ObserveOptions{Source: i, Target: 50 + i, Among: Keys(1, 5, 44), Reward: float64(i % 2), Model: "m", Insert: true}))
		}
	}
	compare("after changes")
	must(t, both[0].Compact(ctx), both[1].Compact(ctx))
	compare("after a compaction")
	must(t, both[1].Close())
	both[1] = open("paged")
	compare("after opening again")
	must(t, both[0].Close(), both[1].Close())
}
