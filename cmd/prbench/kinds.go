package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

// kindsPlan holds the options of prbench kinds.
type kindsPlan struct {
	data      string
	ways      []string
	sample    int
	seeds     int
	firstSeed uint64
}

func newKinds() *cobra.Command {
	var p kindsPlan
	c := &cobra.Command{
		Use:   "kinds --data u.data",
		Short: "Predict what users like from likes, and from likes and low ratings",
		Long: `Kinds loads MovieLens 100K without a tenth of the likes, the ratings of 4 and 5, and asks for
the likes of users who lack some, among all items that they have not rated. It does so in several
ways, which see the same ratings:

  popular   the number of likes of an item, without a model
  likes     a database of the likes only
  ratings   a database of all ratings as one relation
  via       a database of two relations, likes and rated_low; the model is trained on the likes
  kinds     the same; the model is trained on both relations
  prior     a database of the likes only, and the built-in model, untrained
  priors    a database of both relations, and the built-in model

The models are of the default, trained with no options. Ranks are filtered: hidden likes of the same
user are no competitors, and equal scores share the mean of their ranks.`,
		Example: "  prbench kinds --data ml-100k/u.data",
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", "", "the ratings of MovieLens 100K")
	f.StringSliceVar(&p.ways, "ways", []string{"popular", "likes", "ratings", "via", "kinds", "prior", "priors"}, "ways to predict")
	f.IntVar(&p.sample, "sample", 300, "number of users to ask about")
	f.IntVar(&p.seeds, "seeds", 1, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	return command(c, p.check, p.run)
}

// kindsWay is a way to predict likes.
type kindsWay struct {
	name  string
	only  bool   // ratings that are no likes are not loaded
	plain bool   // likes and low ratings are one relation
	via   string // the relation that the model is trained on; "" means all
	prior bool   // there is no model
}

func kindsWays() []kindsWay {
	return []kindsWay{{name: "likes", only: true}, {name: "ratings", plain: true}, {name: "via", via: "likes"}, {name: "kinds"}, {name: "prior", only: true, prior: true}, {name: "priors", prior: true}}
}

// check reports what is wrong with the plan before any file is read.
func (p *kindsPlan) check() error {
	if p.data == "" {
		return errors.New("--data FILE is missing")
	}
	for _, name := range p.ways {
		known := func(w kindsWay) bool { return w.name == name }
		if name != "popular" && !slices.ContainsFunc(kindsWays(), known) {
			return fmt.Errorf("--ways %s: accepted are popular, likes, ratings, via, kinds, prior, priors", name)
		}
	}
	return cmp.Or(cli.Least("sample", p.sample, 1), cli.Least("seeds", p.seeds, 1), cli.Least("first-seed", p.firstSeed, 1))
}

// run plays each way of each seed, and prints a line as soon as it is known.
func (p *kindsPlan) run(ctx context.Context, cmd *cobra.Command) error {
	f, err := os.Open(p.data)
	if err != nil {
		return err
	}
	defer f.Close()
	rated, err := scanRatings(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.data, err)
	}
	heading := []string{"seed", "way", "users", "links", "MRR", "Recall@20", "NDCG@20", "reached", "training", "a question"}
	var rows [][]string
	for seed := p.firstSeed; seed < p.firstSeed+uint64(p.seeds); seed++ {
		k := newKindsQuestion(rated, p.sample, seed)
		for _, name := range p.ways {
			row, err := k.play(ctx, name)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", name, seed, err)
			}
			row = append([]string{fmt.Sprint(seed)}, row...)
			if err := printRow(cmd, row); err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	return writeResults(cmd.OutOrStdout(), "", nil, markdown(heading, rows), nil)
}

// kindsQuestion holds ratings, and the likes to find.
type kindsQuestion struct {
	seed   uint64
	rated  []rating                   // that are known
	items  []string                   // of all ratings
	linked map[string]map[string]bool // items that a user has rated, by user
	hidden map[string][]string        // likes to find, by user
	users  []string                   // to ask about
}

// newKindsQuestion hides a tenth of the likes, and draws users.
func newKindsQuestion(rated []rating, sample int, seed uint64) *kindsQuestion {
	k := &kindsQuestion{seed: seed, linked: map[string]map[string]bool{}, hidden: map[string][]string{}}
	rng := rand.New(rand.NewPCG(seed, 37))
	seen := map[string]bool{}
	for _, r := range rated {
		if seen[r.itemKey()] = true; r.likes() && rng.IntN(10) == 0 {
			k.hidden[r.userKey()] = append(k.hidden[r.userKey()], r.itemKey())
			continue
		}
		k.rated = append(k.rated, r)
		if k.linked[r.userKey()] == nil {
			k.linked[r.userKey()] = map[string]bool{}
		}
		k.linked[r.userKey()][r.itemKey()] = true
	}
	for item := range seen {
		k.items = append(k.items, item)
	}
	slices.Sort(k.items)
	for user := range k.hidden {
		k.users = append(k.users, user)
	}
	slices.Sort(k.users)
	rng.Shuffle(len(k.users), func(i, j int) { k.users[i], k.users[j] = k.users[j], k.users[i] })
	k.users = k.users[:min(sample, len(k.users))]
	return k
}

// candidates returns the items that a user has not rated.
func (k *kindsQuestion) candidates(user string) (all []string) {
	for _, item := range k.items {
		if !k.linked[user][item] {
			all = append(all, item)
		}
	}
	return all
}

// kindsScore sums up ranks.
type kindsScore struct {
	links             int
	mrr, recall, ndcg float64
	reached           float64 // share of the links among the default candidates
}

// add adds the ranks of the links of a user.
func (s *kindsScore) add(ranks []float64) {
	const most = 20
	found, gain, ideal := 0.0, 0.0, 0.0
	slices.Sort(ranks)
	for i, rank := range ranks {
		s.mrr += 1 / rank
		if at := rank + float64(i); at <= most { // with the better ones of the user
			found++
			gain += 1 / math.Log2(1+at)
		}
		if i < most {
			ideal += 1 / math.Log2(float64(2+i))
		}
	}
	s.links += len(ranks)
	s.recall += found / float64(min(len(ranks), most))
	s.ndcg += gain / ideal
}

// play returns the row of a way.
func (k *kindsQuestion) play(ctx context.Context, name string) ([]string, error) {
	var training time.Duration
	score := k.popularity()
	reached := func(string) ([]string, error) { return nil, nil }
	if at := slices.IndexFunc(kindsWays(), func(w kindsWay) bool { return w.name == name }); at >= 0 {
		way := kindsWays()[at]
		g, err := k.load(ctx, way)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		if !way.prior {
			if training, err = trainDefault(ctx, g, k.seed, way.via); err != nil {
				return nil, err
			}
		}
		score = func(user string) (map[string]float64, error) { return k.ask(ctx, g, way, user, k.candidates(user)) }
		reached = func(user string) (all []string, err error) {
			scores, err := k.ask(ctx, g, way, user, nil)
			for item := range scores {
				all = append(all, item)
			}
			return all, err
		}
	}
	var sum kindsScore
	var took time.Duration
	for _, user := range k.users {
		start := time.Now()
		scores, err := score(user)
		if err != nil {
			return nil, err
		}
		took += time.Since(start)
		sum.add(k.ranks(user, scores))
		near, err := reached(user)
		if err != nil {
			return nil, err
		}
		for _, item := range k.hidden[user] {
			if slices.Contains(near, item) {
				sum.reached++
			}
		}
	}
	n, links := float64(max(1, len(k.users))), float64(max(1, sum.links))
	return []string{
		name, fmt.Sprint(len(k.users)), fmt.Sprint(sum.links), fmt.Sprintf("%.4f", sum.mrr/links), fmt.Sprintf("%.4f", sum.recall/n),
		fmt.Sprintf("%.4f", sum.ndcg/n), fmt.Sprintf("%.4f", sum.reached/links), fmt.Sprintf("%.1f s", training.Seconds()),
		fmt.Sprintf("%.2f ms", 1000*took.Seconds()/n),
	}, nil
}

// popularity returns a function that scores items by the number of their likes.
func (k *kindsQuestion) popularity() func(user string) (map[string]float64, error) {
	likes := map[string]float64{}
	for _, r := range k.rated {
		if r.likes() {
			likes[r.itemKey()]++
		}
	}
	return func(user string) (map[string]float64, error) {
		scores := map[string]float64{}
		for _, item := range k.candidates(user) {
			scores[item] = likes[item]
		}
		return scores, nil
	}
}

// ranks returns the filtered ranks of the hidden likes of a user.
func (k *kindsQuestion) ranks(user string, scores map[string]float64) (ranks []float64) {
	for _, item := range k.hidden[user] {
		greater, equal := 0, 0
		for other, s := range scores {
			switch {
			case slices.Contains(k.hidden[user], other):
			case s > scores[item]:
				greater++
			case s == scores[item]:
				equal++
			}
		}
		ranks = append(ranks, 1+float64(greater)+float64(equal)/2)
	}
	return ranks
}

// load returns a database of the known ratings.
func (k *kindsQuestion) load(ctx context.Context, way kindsWay) (*db.DB, error) {
	return inMemory(false, func(g *db.DB) error {
		return g.Update(ctx, func(tx *db.Tx) (err error) {
			for _, item := range k.items {
				err = errors.Join(err, tx.PutNode(db.Node{Key: db.Str(item), Label: "item"}))
			}
			for _, user := range k.users {
				err = errors.Join(err, tx.PutNode(db.Node{Key: db.Str(user), Label: "user"}))
			}
			for _, r := range k.rated {
				relation := "likes"
				switch {
				case way.only && !r.likes():
					continue
				case way.plain:
					relation = "rated"
				case !r.likes():
					relation = "rated_low"
				}
				err = errors.Join(err, tx.PutEdge(r.userKey(), r.itemKey(), db.Via(relation)))
			}
			return err
		})
	})
}

// ask returns the scores of the candidates of a user. Nil stands for the default candidates.
func (k *kindsQuestion) ask(ctx context.Context, g *db.DB, way kindsWay, user string, candidates []string) (map[string]float64, error) {
	p := db.PredictOptions{For: user, Top: -1, NoCache: true}
	if !way.plain {
		p.Relation = "likes"
	}
	if candidates != nil {
		all := make([]any, len(candidates))
		for i, item := range candidates {
			all[i] = item
		}
		p.Among = db.Keys(all...)
	}
	r, err := g.Predict(ctx, p)
	if err != nil {
		return nil, err
	}
	scores := map[string]float64{}
	for _, l := range r.Links {
		scores[l.Target.Value().(string)] = l.Score
	}
	return scores, nil
}
