package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/edgelist"
	"kith/model"
)

// latePlan holds the options of prbench late.
type latePlan struct {
	data, hide []string
	sample     int
	seeds      int
	firstSeed  uint64

	graphs []graphFile // the parsed data
}

func newLate() *cobra.Command {
	var p latePlan
	c := &cobra.Command{
		Use:   "late --data FILE:KIND+COLUMNS,...",
		Short: "Ask a graph with times, with and without its times",
		Long: `Late does what a user does: it loads a list without the events that it hides, makes a model,
trains it with no options, and asks for links of a sample of the sources with hidden links,
among all nodes that events lead to. It does so once with the times of the list, once
without them, and beside them stands popularity, the number of edges to a node.

What is hidden:
  last     the last new link of each source; all are asked now, after the newest time
  own      the same, but each source is asked at the time of its hidden link
  random   a random tenth of the links; all are asked now
  next     the last twentieth of the links; all are asked at the time of the first of them

A link is a pair, whose time is that of its first event. Sources without another link, and
links to nodes that are left without edges, are left out.`,
		Example: "  prbench late --data ml-100k/u.data:bipartite+weight+time,snap/CollegeMsg.txt.gz:directed+time",
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "files of lists with times, each followed by :undirected, :directed or :bipartite, and +columns")
	f.StringSliceVar(&p.hide, "hide", []string{"last", "own", "random", "next"}, "what is hidden")
	f.IntVar(&p.sample, "sample", 500, "number of sources to ask about")
	f.IntVar(&p.seeds, "seeds", 1, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	return command(c, p.check, p.run)
}

// lateHiding is a way to hide links, which are in the order of their times.
type lateHiding struct {
	name string
	hide func(rng *rand.Rand, links []edgelist.Edge) (hidden []edgelist.Edge)
	at   func(hidden []edgelist.Edge, of edgelist.Edge) int64 // time of the question about a hidden link; 0: now
}

func (h lateHiding) title() string { return h.name }

func lateHidings() []lateHiding {
	now := func([]edgelist.Edge, edgelist.Edge) int64 { return 0 }
	return []lateHiding{
		{"last", lastLinks, now},
		{"own", lastLinks, func(_ []edgelist.Edge, of edgelist.Edge) int64 { return of.Time }},
		{"random", func(rng *rand.Rand, links []edgelist.Edge) (hidden []edgelist.Edge) {
			for _, e := range links {
				if rng.IntN(10) == 0 {
					hidden = append(hidden, e)
				}
			}
			return hidden
		}, now},
		{"next", func(_ *rand.Rand, links []edgelist.Edge) []edgelist.Edge { return links[len(links)-len(links)/20:] },
			func(hidden []edgelist.Edge, _ edgelist.Edge) int64 { return hidden[0].Time }},
	}
}

// lastLinks returns the last link of each source.
func lastLinks(_ *rand.Rand, links []edgelist.Edge) (hidden []edgelist.Edge) {
	seen := make(map[edgelist.Token]bool)
	for _, e := range slices.Backward(links) {
		if !seen[e.Src] {
			seen[e.Src] = true
			hidden = append(hidden, e)
		}
	}
	return hidden
}

// check reports what is wrong with the plan before any file is read.
func (p *latePlan) check() (err error) {
	if len(p.data) == 0 {
		return errors.New("--data FILE is missing")
	}
	for _, name := range p.hide {
		if !slices.ContainsFunc(lateHidings(), func(h lateHiding) bool { return h.name == name }) {
			return fmt.Errorf("--hide %s: accepted are last, own, random, next", name)
		}
	}
	if err := cmp.Or(cli.Least("sample", p.sample, 1), cli.Least("seeds", p.seeds, 1)); err != nil {
		return err
	}
	p.graphs, err = parseGraphFiles(p.data)
	return err
}

// run plays each list and way to hide, and prints a line as soon as it is known.
func (p *latePlan) run(ctx context.Context, cmd *cobra.Command) error {
	heading := []string{"data", "hidden", "seed", "questions", "timed HR@10", "untimed", "popular", "timed MRR", "untimed", "popular", "ratio of HR@10", "of MRR", "of training"}
	var rows [][]string
	for _, g := range p.graphs {
		events, err := g.edges()
		if err != nil {
			return err
		}
		for _, h := range lateHidings() {
			for seed := p.firstSeed; seed < p.firstSeed+uint64(p.seeds) && slices.Contains(p.hide, h.name); seed++ {
				m := newLateMatch(g, h, events, seed, p.sample)
				row, err := m.play(ctx)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", g.name, h.name, err)
				}
				if err := printRow(cmd, row); err != nil {
					return err
				}
				rows = append(rows, row)
			}
		}
	}
	return writeResults(cmd.OutOrStdout(), "", nil, markdown(heading, rows), nil)
}

// edges returns the edges of a list, in the order of their times.
func (g graphFile) edges() (all []edgelist.Edge, err error) {
	f, err := os.Open(g.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o, err := g.options()
	if err != nil {
		return nil, err
	}
	r, err := edgelist.NewReader(f, edgelist.Options{Name: o.Name, Columns: o.Columns})
	if err != nil {
		return nil, err
	}
	for e, err := range r.Edges() {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b edgelist.Edge) int { return cmp.Compare(a.Time, b.Time) })
	return all, nil
}

// lateMatch is a list without hidden links, and the questions about them.
type lateMatch struct {
	graph     graphFile
	hiding    string
	seed      uint64
	known     []edgelist.Edge
	questions []lateQuestion
	popular   map[edgelist.Token]float64 // number of links to each node
	linked    map[[2]edgelist.Token]bool
}

// lateQuestion asks for the hidden links of a source.
type lateQuestion struct {
	source  edgelist.Token
	targets []edgelist.Token
	at      int64 // 0: now
}

func newLateMatch(g graphFile, h lateHiding, events []edgelist.Edge, seed uint64, sample int) *lateMatch {
	m := &lateMatch{graph: g, hiding: h.name, seed: seed, popular: make(map[edgelist.Token]float64), linked: make(map[[2]edgelist.Token]bool)}
	pair := func(e edgelist.Edge) [2]edgelist.Token {
		if g.kind == "undirected" && m.linked[[2]edgelist.Token{e.Dst, e.Src}] {
			return [2]edgelist.Token{e.Dst, e.Src}
		}
		return [2]edgelist.Token{e.Src, e.Dst}
	}
	var links []edgelist.Edge
	for _, e := range events {
		if p := pair(e); !m.linked[p] && e.Src != e.Dst {
			m.linked[p] = true
			links = append(links, e)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 21))
	hidden := h.hide(rng, links)
	for _, e := range hidden {
		delete(m.linked, pair(e))
	}
	sources, targets := make(map[edgelist.Token]bool), make(map[edgelist.Token]bool)
	for _, e := range events {
		if m.linked[pair(e)] {
			m.known = append(m.known, e)
			sources[e.Src], targets[e.Dst] = true, true
		}
	}
	for p := range m.linked {
		m.popular[p[1]]++
	}
	number := make(map[edgelist.Token]int)
	for _, e := range hidden {
		if !sources[e.Src] || !targets[e.Dst] {
			continue
		}
		i, ok := number[e.Src]
		if !ok {
			i = len(m.questions)
			number[e.Src] = i
			m.questions = append(m.questions, lateQuestion{source: e.Src, at: h.at(hidden, e)})
		}
		m.questions[i].targets = append(m.questions[i].targets, e.Dst)
	}
	rng.Shuffle(len(m.questions), func(i, j int) { m.questions[i], m.questions[j] = m.questions[j], m.questions[i] })
	m.questions = m.questions[:min(sample, len(m.questions))]
	return m
}

// lateScore is how well one contender answers.
type lateScore struct {
	hits, mrr float64
	training  time.Duration
}

// play returns the row of the table.
func (m *lateMatch) play(ctx context.Context) ([]string, error) {
	timed, err := m.ask(ctx, true)
	if err != nil {
		return nil, err
	}
	untimed, err := m.ask(ctx, false)
	if err != nil {
		return nil, err
	}
	popular := m.popularity()
	row := []string{m.graph.name, m.hiding, fmt.Sprint(m.seed), fmt.Sprint(len(m.questions))}
	for _, v := range []float64{timed.hits, untimed.hits, popular.hits, timed.mrr, untimed.mrr, popular.mrr} {
		row = append(row, fmt.Sprintf("%.4f", v))
	}
	for _, v := range []float64{timed.hits / untimed.hits, timed.mrr / untimed.mrr, timed.training.Seconds() / untimed.training.Seconds()} {
		row = append(row, fmt.Sprintf("%.3f", v))
	}
	return row, nil
}

// load returns a database of the known edges, with or without their times.
func (m *lateMatch) load(ctx context.Context, timed bool) (*db.DB, error) {
	var text bytes.Buffer
	weighted := slices.Contains(m.graph.columns, "weight")
	for _, e := range m.known {
		fmt.Fprintf(&text, "%s\t%s", nameOf(e.Src), nameOf(e.Dst))
		if weighted {
			fmt.Fprintf(&text, "\t%v", e.Weight)
		}
		if timed {
			fmt.Fprintf(&text, "\t%d", e.Time)
		}
		text.WriteByte('\n')
	}
	g := m.graph
	g.columns = slices.DeleteFunc(slices.Clone(g.columns), func(c string) bool { return c == "time" && !timed })
	return inMemory(g.kind == "directed", func(store *db.DB) error {
		o, err := g.options()
		if err == nil {
			o.Name = "list.txt"
			_, err = store.Load(ctx, &text, o)
		}
		return err
	})
}

// key returns the key of a node in the database.
func (m *lateMatch) key(t edgelist.Token, label string) db.Key {
	switch {
	case m.graph.kind == "bipartite":
		return db.Str(label + ":" + nameOf(t))
	case t.IsInt:
		return db.Int(t.Int)
	}
	return db.Str(t.Str)
}

// nameOf returns the text of a node's name.
func nameOf(t edgelist.Token) string {
	if t.IsInt {
		return fmt.Sprint(t.Int)
	}
	return t.Str
}

// ask trains a model and asks the questions.
func (m *lateMatch) ask(ctx context.Context, timed bool) (s lateScore, err error) {
	store, err := m.load(ctx, timed)
	if err != nil {
		return s, err
	}
	defer store.Close()
	if s.training, err = trainDefault(ctx, store, m.seed, ""); err != nil {
		return s, err
	}
	among := db.All()
	if m.graph.kind == "bipartite" {
		among = db.Label("target")
	}
	err = store.View(ctx, func(tx *db.Tx) error {
		for _, q := range m.questions {
			p := db.PredictOptions{For: m.key(q.source, "source"), Among: among, Model: "default", Top: -1, NoCache: true, Epsilon: 1e-4}
			if timed && q.at != 0 {
				p.At = time.Unix(q.at, 0)
			}
			r, err := tx.Predict(ctx, p)
			if err != nil {
				return err
			}
			scores := make(map[db.Key]float64, len(r.Links))
			for _, l := range r.Links {
				scores[l.Target] = l.Score
			}
			m.add(&s, q, func(t edgelist.Token) (float64, bool) {
				v, ok := scores[m.key(t, "target")]
				return v, ok
			})
		}
		return nil
	})
	return s, err
}

// popularity ranks nodes by the number of links to them.
func (m *lateMatch) popularity() (s lateScore) {
	for _, q := range m.questions {
		m.add(&s, q, func(t edgelist.Token) (float64, bool) { return m.popular[t], true })
	}
	return s
}

// add adds the answer to a question, given the scores of nodes, to the means.
func (m *lateMatch) add(s *lateScore, q lateQuestion, score func(edgelist.Token) (float64, bool)) {
	var found, others []float64
	for t := range m.popular {
		v, ok := score(t)
		switch {
		case slices.Contains(q.targets, t) && ok:
			found = append(found, v)
		case ok && t != q.source && !m.linked[[2]edgelist.Token{q.source, t}]:
			others = append(others, v)
		}
	}
	by := float64(len(found)) / float64(len(q.targets)) / float64(len(m.questions))
	s.hits += by * model.HitsAt(10, found, others)
	s.mrr += by * model.MRR(found, others)
}
