package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// library is a graph of readers, who keep papers, and of papers with tags that come from their
// topics. A fifth of the papers, those with numbers divisible by 5, has no edges at all. Of the
// links of the rest, a quarter is hidden.
type library struct {
	readers, papers int
	kept            map[[2]int]bool // links of readers and papers
}

func readerKey(i int) string { return fmt.Sprint("r", i) }
func paperKey(i int) string  { return fmt.Sprint("p", i) }

func (l *library) hidden(reader, paper int) bool { return paper%5 == 0 || (reader/5+paper)%4 == 0 }

// fill adds the library to a graph. The tags of a paper are four of the 25 of its topic, and two of
// 100 that any paper may have.
func (l *library) fill(t *testing.T, g *db.DB) {
	t.Helper()
	const topics = 12
	rng := rand.New(rand.NewPCG(1, 2))
	l.kept = map[[2]int]bool{}
	byTopic := make([][]int, topics)
	update(t, g, func(tx *db.Tx) error {
		for i := range l.papers {
			topic := rng.IntN(topics)
			byTopic[topic] = append(byTopic[topic], i)
			var tags []string
			for range 4 {
				tags = append(tags, fmt.Sprintf("t%d.%d", topic, rng.IntN(25)))
			}
			for range 2 {
				tags = append(tags, fmt.Sprint("any", rng.IntN(100)))
			}
			n := db.Node{Key: db.Str(paperKey(i)), Label: "paper"}
			n.Properties = map[string]any{"tags": tags, "url": fmt.Sprint("https://papers.org/", i)}
			must(t, tx.AddNode(n))
		}
		for _, of := range byTopic {
			rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		}
		for r := range l.readers {
			must(t, tx.AddNode(db.Node{Key: db.Str(readerKey(r)), Label: "reader"}))
			likes := [2]int{rng.IntN(topics), rng.IntN(topics)}
			for range 25 {
				of := byTopic[likes[rng.IntN(2)]]
				if rng.IntN(5) == 0 {
					of = byTopic[rng.IntN(topics)]
				}
				p := of[int(float64(len(of))*rng.Float64()*rng.Float64())] // the first ones are popular
				if l.kept[[2]int{r, p}] = true; !l.hidden(r, p) {
					must(t, tx.PutEdge(readerKey(r), paperKey(p)))
				}
			}
		}
		return nil
	})
}

// hits returns the share of the hidden links of some readers that are among the first ten, and the
// share by chance. cold asks for links to papers without edges only.
func (l *library) hits(t *testing.T, g *db.DB, model string, among db.Candidates, cold bool) (share, chance float64) {
	t.Helper()
	all, hits, expected := 0, 0, 0.0
	for r := 0; r < l.readers; r += 5 {
		p, err := g.Predict(context.Background(), db.PredictOptions{For: readerKey(r), Among: among, Model: model})
		must(t, err)
		for c := range l.papers {
			if !l.kept[[2]int{r, c}] || !l.hidden(r, c) || cold && c%5 != 0 {
				continue
			}
			all++
			expected += 10 / float64(p.Candidates)
			if slices.ContainsFunc(p.Links, func(k db.Link) bool { return k.Target == db.Str(paperKey(c)) }) {
				hits++
			}
		}
	}
	return float64(hits) / float64(all), expected / float64(all)
}

// The default learns from tags whom papers without edges will be linked to: among all papers it
// finds at least twice as many of the hidden links as popularity does, and among the papers without
// edges far more than chance. They are among the default candidates, too.
func TestContentOfNewNodes(t *testing.T) {
	t.Parallel()
	notShort(t)
	l := &library{readers: 300, papers: 400}
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 256 << 20})
	l.fill(t, g)
	var cold []any
	for c := 0; c < l.papers; c += 5 {
		cold = append(cold, paperKey(c))
	}
	untrained, _ := l.hits(t, g, "", db.Keys(cold...), true)
	_, err := g.Model("").Train(context.Background(), db.TrainOptions{})
	must(t, err)
	papers := db.Label("paper")
	whole, _ := l.hits(t, g, "", papers, false)
	popular, _ := l.hits(t, g, "preferential_attachment", papers, false)
	fresh, _ := l.hits(t, g, "", papers, true)
	byDefault, _ := l.hits(t, g, "", db.Candidates{}, true)
	alone, chance := l.hits(t, g, "", db.Keys(cold...), true)
	t.Logf("hits@10 among all papers: %.3f, popularity %.3f; of papers without edges %.3f, among the default candidates %.3f", whole, popular, fresh, byDefault)
	t.Logf("hits@10 among papers without edges: %.3f, before training %.3f, chance %.3f", alone, untrained, chance)
	if whole < 2*popular || fresh < 2*popular || byDefault < 0.8*fresh || alone < 3*chance || untrained < 2*chance {
		t.Error("the tags tell too little")
	}
}

// blog is a graph of people who like posts about go or about tea. 'new' is a post about go that
// nobody likes yet.
func blog(t *testing.T, g *db.DB) {
	t.Helper()
	update(t, g, func(tx *db.Tx) error {
		for i := range 40 {
			topic := []string{"go", "tea"}[i%2]
			must(t, tx.AddNode(db.Node{Key: db.Str(fmt.Sprint(topic, i)), Label: "post", Properties: map[string]any{
				"tags": []string{topic, fmt.Sprint("month", i%12)}, "url": fmt.Sprint("https://blog.org/", i),
			}}))
		}
		for u := range 20 {
			must(t, tx.AddNode(db.Node{Key: db.Str(fmt.Sprint("u", u)), Label: "person"}))
			for k := range 6 {
				i := (7*u + 2*k*(u+3)) % 40
				must(t, tx.PutEdge(fmt.Sprint("u", u), fmt.Sprint([]string{"go", "tea"}[i%2], i)))
			}
		}
		return tx.AddNode(db.Node{Key: db.Str("new"), Label: "post", Properties: map[string]any{"tags": []string{"go"}}})
	})
}

// standing returns the place of a post among the default candidates of a person; 0 means that it is
// none.
func standing(t *testing.T, tx *db.Tx, who, post string) int {
	t.Helper()
	p, err := tx.Predict(context.Background(), db.PredictOptions{For: who, Top: -1})
	must(t, err)
	return 1 + slices.IndexFunc(p.Links, func(l db.Link) bool { return l.Target == db.Str(post) })
}

// A post with tags and without edges is recommended at once, to those who like such posts, also
// before any training, and follows a change of its tags in the same transaction.
func TestContentAtOnce(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	blog(t, g)
	update(t, g, func(tx *db.Tx) error {
		if standing(t, tx, "u0", "new") == 0 {
			t.Error("the new post about go is not recommended to a person who likes go")
		}
		if at := standing(t, tx, "u1", "new"); at != 0 {
			t.Errorf("the new post about go is recommended to a person who likes tea: place %d", at)
		}
		must(t, tx.SetProperties("new", map[string]any{"tags": []string{"tea"}}))
		if at := standing(t, tx, "u0", "new"); at != 0 {
			t.Errorf("the new post about tea is recommended to a person who likes go: place %d", at)
		}
		if standing(t, tx, "u1", "new") == 0 {
			t.Error("the new post about tea is not recommended to a person who likes tea")
		}
		return nil
	})
}

// Why names the words that speak for a link.
func TestContentInWhy(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	blog(t, g)
	update(t, g, func(tx *db.Tx) error {
		return tx.SetProperties("u0", map[string]any{"tags": []string{"go"}})
	})
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		r, err := tx.Why(context.Background(), db.PredictOptions{For: "u0"}, "new", 1)
		must(t, err)
		n := len(r.Words)
		if n != 1 || r.Words[0].Word != "go" || !r.Words[0].Source || r.Words[0].Links == 0 || r.Words[0].Links > r.Words[0].Of {
			t.Errorf("words: %v", r.Words)
		}
		if got := fmt.Sprint(r.Words); !strings.HasPrefix(got, "[tags 'go': both have it, and ") {
			t.Errorf("words in words: %s", got)
		}
		return nil
	}))
}

// Words are functions of the graph: not of how it was written, of commits and bases, and of what
// was asked before.
func TestContentOfHistories(t *testing.T) {
	t.Parallel()
	const nodes = 9000 // more than a sample has
	set := func(tx *db.Tx, i int, old bool) error {
		if old {
			return tx.SetProperties(i, map[string]any{"kind": "old", "size": -i})
		}
		return tx.SetProperties(i, map[string]any{"kind": fmt.Sprint("k", i%97), "size": i, "name": fmt.Sprint("n", i)})
	}
	answers := func(g *db.DB) (all []db.Link) {
		for i := 0; i < nodes; i += 1500 {
			p, err := g.Predict(context.Background(), db.PredictOptions{For: i, Among: db.Sample(40, 1), NoCache: true})
			must(t, err)
			all = append(all, p.Links...)
		}
		return all
	}
	edges := func(g *db.DB) {
		update(t, g, func(tx *db.Tx) error {
			for i := range nodes {
				must(t, tx.PutEdge(i, (i+7)%nodes), tx.PutEdge(i, (i*i+1)%nodes))
			}
			return nil
		})
	}
	once := dbtest.Open(t, &db.Options{InMemory: true})
	edges(once)
	update(t, once, func(tx *db.Tx) error {
		for i := range nodes {
			must(t, set(tx, i, false))
		}
		return nil
	})
	want := answers(once)
	path := t.TempDir()
	often, err := db.Open(path, nil)
	must(t, err)
	edges(often)
	for _, old := range []bool{true, false} {
		for part := range 3 {
			update(t, often, func(tx *db.Tx) error {
				for i := part; i < nodes; i += 3 {
					must(t, set(tx, i, old))
				}
				return nil
			})
			answers(often)
		}
		must(t, often.Close())
		often, err = db.Open(path, nil)
		must(t, err)
	}
	defer often.Close()
	if got := answers(often); !slices.Equal(got, want) {
		t.Errorf("answers of another history: %v, want %v", got, want)
	}
}

// The time of a SET and a question that sees it, where many nodes have properties.
func BenchmarkSetThenPredict(b *testing.B) {
	const nodes = 50_000
	g := dbtest.Open(b, &db.Options{InMemory: true, Memory: 256 << 20})
	update(b, g, func(tx *db.Tx) error {
		for i := range nodes {
			must(b, tx.PutEdge(i, (i+7)%nodes), tx.SetProperties(i, map[string]any{"kind": fmt.Sprint("k", i%97), "size": i}))
		}
		return nil
	})
	for i := 0; b.Loop(); i++ {
		update(b, g, func(tx *db.Tx) error { return tx.SetProperties(i*31%nodes, map[string]any{"size": i}) })
		_, err := g.Predict(context.Background(), db.PredictOptions{For: i % nodes, Among: db.Neighbors(2), NoCache: true})
		must(b, err)
	}
}
