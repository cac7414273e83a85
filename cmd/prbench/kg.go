package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

// kgPlan holds the options of prbench kg.
type kgPlan struct {
	data     []string
	policies []string
	split    string
	sample   int
	seed     uint64
}

func newKG() *cobra.Command {
	var p kgPlan
	c := &cobra.Command{
		Use:   "kg --data DIR,...",
		Short: "Rank the missing triples of knowledge graphs",
		Long: `Kg loads the training triples of a knowledge graph and asks for both ends of the triples
of a test set, among all entities: which targets does a source have by a relation, and which
sources a target. A folder has train.tsv, valid.tsv and test.tsv, or the same with .gz, with a
triple a line: source, relation and target, separated by tabs.

Ranks are filtered: other true answers, of all three parts, are left out. Equal scores share
the mean of their ranks, and so do all entities that a policy does not reach. If no two nodes
of a triple of valid.tsv are joined in train.tsv, the questions leave joined nodes out
(EXCEPT NEIGHBORS), as a user who knows this would.

Policies:
  default    a model, trained with no options
  prior      the built-in model, untrained
  frequency  how often an entity is a target of the relation
  or the name of a heuristic`,
		Example: "  prbench kg --data kg/codex-s,kg/wn18rr --policies default,frequency",
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "folders of knowledge graphs")
	f.StringSliceVar(&p.policies, "policies", []string{"default", "prior", "frequency"}, "policies to ask")
	f.StringVar(&p.split, "split", "test", "the triples to ask about: valid or test")
	f.IntVar(&p.sample, "sample", 0, "number of triples to ask about, drawn at random; 0 means all")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the sample and of the model")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any file is read.
func (p *kgPlan) check() error {
	if len(p.data) == 0 {
		return errors.New("--data DIR is missing")
	}
	if p.split != "valid" && p.split != "test" {
		return fmt.Errorf("--split %s: accepted are valid and test", p.split)
	}
	return cli.Least("sample", p.sample, 0)
}

// run asks each policy about each graph, and prints a line as soon as it is known.
func (p *kgPlan) run(ctx context.Context, cmd *cobra.Command) error {
	heading := []string{"data", "policy", "questions", "MRR", "H@1", "H@3", "H@10", "1-1", "1-n", "n-1", "n-n", "training", "a question"}
	var rows [][]string
	for _, dir := range p.data {
		k, err := readKnowledge(dir)
		if err != nil {
			return err
		}
		for _, policy := range p.policies {
			row, err := p.play(ctx, k, policy)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", k.name, policy, err)
			}
			if err := cli.WriteLine(cmd.ErrOrStderr(), strings.Join(row, "  ")); err != nil {
				return err
			}
			rows = append(rows, row)
		}
		rows = append(rows, publishedTriples[k.name]...)
	}
	return writeResults(cmd.OutOrStdout(), "", nil, markdown(heading, rows), nil)
}

// publishedTriples are MRR and H@10 as published: ComplEx (Lacroix, Usunier and Obozinski, ICML 2018,
// as Safavi and Koutra report it for CoDEx, EMNLP 2020, and Ruffinelli, Broscheit and Gemulla for the
// others, ICLR 2020), AnyBURL (Meilicke et al., with the best aggregation) and NBFNet (Zhu et al.,
// NeurIPS 2021).
var publishedTriples = map[string][][]string{
	"fb15k-237": {publishedRow("fb15k-237", "ComplEx", ".348", ".536"), publishedRow("fb15k-237", "AnyBURL", ".389", ".537"), publishedRow("fb15k-237", "NBFNet", ".415", ".599")},
	"wn18rr":    {publishedRow("wn18rr", "ComplEx", ".475", ".547"), publishedRow("wn18rr", "AnyBURL", ".502", ".578"), publishedRow("wn18rr", "NBFNet", ".551", ".666")},
	"codex-s":   {publishedRow("codex-s", "ComplEx", ".465", ".646")},
}

func publishedRow(data, method, mrr, hits string) []string {
	return []string{data, method + ", published", "all", mrr, "", "", hits, "", "", "", "", "", ""}
}

// triple is an edge of a knowledge graph.
type triple struct{ source, relation, target string }

// knowledge is a knowledge graph.
type knowledge struct {
	name               string
	train, valid, test []triple
	entities           map[string]bool           // of all parts
	answers            map[triple][]string       // by kgQuestion.key
	apart              bool                      // no triple of valid joins nodes that train joins
	counts             map[kgSide]map[string]int // of the triples of train, by answer
	kinds              map[string]string         // of relations: 1-1, 1-n, n-1 or n-n
}

// kgSide is a side of a relation: the targets, or the sources if inverse is set.
type kgSide struct {
	relation string
	inverse  bool
}

// kgQuestion asks for the targets of a source, or for the sources of a target.
type kgQuestion struct {
	triple
	inverse bool
}

// side returns the side that the answers are on.
func (q kgQuestion) side() kgSide { return kgSide{q.relation, q.inverse} }

// key returns the triple with "" in place of the answer.
func (q kgQuestion) key() triple {
	if q.inverse {
		return triple{"", q.relation, q.target}
	}
	return triple{q.source, q.relation, ""}
}

// given returns the node that is asked about, and answer the one that is looked for.
func (q kgQuestion) given() string {
	if q.inverse {
		return q.target
	}
	return q.source
}

func (q kgQuestion) answer() string {
	if q.inverse {
		return q.source
	}
	return q.target
}

// bothWays returns the questions about triples.
func bothWays(all []triple) (questions []kgQuestion) {
	for _, t := range all {
		questions = append(questions, kgQuestion{t, false}, kgQuestion{t, true})
	}
	return questions
}

// readKnowledge reads a folder.
func readKnowledge(dir string) (*knowledge, error) {
	k := &knowledge{
		name: filepath.Base(dir), entities: map[string]bool{}, answers: map[triple][]string{}, counts: map[kgSide]map[string]int{}, kinds: map[string]string{},
	}
	for name, to := range map[string]*[]triple{"train": &k.train, "valid": &k.valid, "test": &k.test} {
		all, err := readTriples(filepath.Join(dir, name+".tsv"))
		if err != nil {
			return nil, err
		}
		*to = all
	}
	for _, t := range slices.Concat(k.train, k.valid, k.test) {
		k.entities[t.source], k.entities[t.target] = true, true
		for _, q := range bothWays([]triple{t}) {
			k.answers[q.key()] = append(k.answers[q.key()], q.answer())
		}
	}
	for q, all := range k.answers {
		slices.Sort(all)
		k.answers[q] = slices.Compact(all)
	}
	joined := map[[2]string]bool{}
	for _, t := range k.train {
		joined[[2]string{t.source, t.target}], joined[[2]string{t.target, t.source}] = true, true
		for _, q := range bothWays([]triple{t}) {
			if k.counts[q.side()] == nil {
				k.counts[q.side()] = map[string]int{}
			}
			k.counts[q.side()][q.answer()]++
		}
	}
	k.apart = !slices.ContainsFunc(k.valid, func(t triple) bool { return joined[[2]string{t.source, t.target}] })
	k.classify()
	return k, nil
}

// classify finds the kinds of the relations: n stands for a mean of at least 1.5 (Bordes et al., NIPS
// 2013).
func (k *knowledge) classify() {
	triples := map[string]int{}
	for _, t := range k.train {
		triples[t.relation]++
	}
	for r, n := range triples {
		each := func(inverse bool) string {
			if float64(n) >= 1.5*float64(len(k.counts[kgSide{r, inverse}])) {
				return "n"
			}
			return "1"
		}
		k.kinds[r] = each(false) + "-" + each(true)
	}
}

// readTriples reads a file, or the file with .gz.
func readTriples(path string) (all []triple, err error) {
	f, err := os.Open(path)
	packed := errors.Is(err, fs.ErrNotExist)
	if packed {
		f, err = os.Open(path + ".gz")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if packed {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		p := strings.Split(s.Text(), "\t")
		if len(p) != 3 {
			return nil, fmt.Errorf("%s, line %d: %d columns, want source, relation, target", f.Name(), line, len(p))
		}
		all = append(all, triple{p[0], p[1], p[2]})
	}
	return all, s.Err()
}

// load returns a database of the training triples.
func (k *knowledge) load(ctx context.Context) (*db.DB, error) {
	return inMemory(true, func(g *db.DB) error {
		for part := range slices.Chunk(k.train, 20000) {
			err := g.Update(ctx, func(tx *db.Tx) error {
				for _, t := range part {
					if err := tx.PutEdge(db.Str(t.source), db.Str(t.target), db.Via(t.relation)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// kgScore sums up ranks.
type kgScore struct {
	questions        int
	mrr, h1, h3, h10 float64
}

func (s *kgScore) add(rank float64) {
	s.questions++
	s.mrr += 1 / rank
	for _, h := range []struct {
		sum  *float64
		most float64
	}{{&s.h1, 1}, {&s.h3, 3}, {&s.h10, 10}} {
		if rank <= h.most {
			*h.sum++
		}
	}
}

// play returns the row of a policy.
func (p *kgPlan) play(ctx context.Context, k *knowledge, policy string) ([]string, error) {
	asked := map[string][]triple{"valid": k.valid, "test": k.test}[p.split]
	rng := rand.New(rand.NewPCG(p.seed, 31))
	if p.sample > 0 && p.sample < len(asked) {
		asked = slices.Clone(asked)
		rng.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
		asked = asked[:p.sample]
	}
	questions := bothWays(asked)
	var training time.Duration
	rank := k.byFrequency
	if policy != "frequency" {
		g, err := k.load(ctx)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		start := time.Now()
		if policy == "default" {
			if err := g.Model("default").Create(ctx, db.ModelSpec{Seed: p.seed}); err != nil {
				return nil, err
			}
			if _, err := g.Model("default").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways}); err != nil {
				return nil, err
			}
			training = time.Since(start)
		}
		name := policy
		if policy == "default" || policy == "prior" {
			name = ""
		}
		rank = func(ctx context.Context, questions []kgQuestion) ([]float64, error) {
			return k.byModel(ctx, g, name, questions)
		}
	}
	start := time.Now()
	ranks, err := rank(ctx, questions)
	if err != nil {
		return nil, err
	}
	each := time.Since(start) / time.Duration(max(1, len(questions)))
	return k.row(policy, questions, ranks, training, each), nil
}

// row returns the row of a policy from the ranks of the answers.
func (k *knowledge) row(policy string, questions []kgQuestion, ranks []float64, training, each time.Duration) []string {
	var all kgScore
	kinds := map[string]*kgScore{"1-1": {}, "1-n": {}, "n-1": {}, "n-n": {}}
	for i, q := range questions {
		all.add(ranks[i])
		if kind := kinds[k.kinds[q.relation]]; kind != nil {
			kind.add(ranks[i])
		}
	}
	n := float64(max(1, all.questions))
	row := []string{k.name, policy, fmt.Sprint(all.questions)}
	for _, v := range []float64{all.mrr, all.h1, all.h3, all.h10} {
		row = append(row, fmt.Sprintf("%.4f", v/n))
	}
	for _, kind := range []string{"1-1", "1-n", "n-1", "n-n"} {
		row = append(row, fmt.Sprintf("%.3f", kinds[kind].mrr/float64(max(1, kinds[kind].questions))))
	}
	return append(row, fmt.Sprintf("%.1f s", training.Seconds()), fmt.Sprintf("%.2f ms", each.Seconds()*1000))
}

// byFrequency returns the ranks by the number of triples of the relation that an entity answers.
func (k *knowledge) byFrequency(_ context.Context, questions []kgQuestion) (ranks []float64, err error) {
	for _, q := range questions {
		scores := map[string]float64{}
		for e, n := range k.counts[q.side()] {
			scores[e] = float64(n)
		}
		ranks = append(ranks, k.rank(q, scores))
	}
	return ranks, nil
}

// byModel returns the ranks by the predictions of a model or heuristic, "" for the one that answers.
func (k *knowledge) byModel(ctx context.Context, g *db.DB, model string, questions []kgQuestion) ([]float64, error) {
	ranks := make([]float64, len(questions))
	err := g.View(ctx, func(tx *db.Tx) error {
		var known []int // questions about nodes of the graph
		for i, q := range questions {
			if _, err := tx.Node(db.Str(q.given())); err == nil {
				known = append(known, i)
			} else {
				ranks[i] = k.rank(q, nil)
			}
		}
		requests := func(yield func(db.PredictOptions) bool) {
			for _, i := range known {
				if !yield(k.ask(questions[i], model)) {
					return
				}
			}
		}
		at := 0
		for r, err := range tx.PredictEach(ctx, requests) {
			if err != nil {
				return err
			}
			scores := map[string]float64{}
			for _, l := range r.Links {
				scores[l.Target.Value().(string)] = l.Score
			}
			ranks[known[at]] = k.rank(questions[known[at]], scores)
			at++
		}
		return nil
	})
	return ranks, err
}

// ask returns the request of a question.
func (k *knowledge) ask(q kgQuestion, model string) db.PredictOptions {
	among := db.Likely(1000)
	if k.apart {
		among = among.Except(db.Neighbors(1))
	}
	return db.PredictOptions{For: db.Str(q.given()), Relation: q.relation, Inverse: q.inverse, Among: among, Model: model, Top: -1, NoCache: true, Epsilon: 1e-4}
}

// rank returns the filtered rank of the answer. Entities without a score are below all others.
func (k *knowledge) rank(q kgQuestion, scores map[string]float64) float64 {
	others := len(k.entities) - 1 // candidates beside the answer
	own, reached := scores[q.answer()]
	for _, e := range k.answers[q.key()] {
		if e != q.answer() {
			others--
			delete(scores, e)
		}
	}
	greater, equal := 0, 0
	for e, s := range scores {
		switch {
		case e == q.answer():
		case !reached || s > own:
			greater++
		case s == own:
			equal++
		}
	}
	if !reached {
		equal = others - greater
	}
	return 1 + float64(greater) + float64(equal)/2
}
