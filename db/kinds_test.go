package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
)

// circle is a made social graph. A person follows others, likes some of what they like, and nothing
// that one of them hides. The relations shares and visits join random nodes.
type circle struct {
	likes, hides [][]int // posts, by person
	follows      [][]int // people, by person
	out          [][]int // likes that are left out, by person
	rng          *rand.Rand
}

const circlePeople, circlePosts = 240, 160

func newCircle(seed uint64) *circle {
	c := &circle{rng: rand.New(rand.NewPCG(seed, 9))}
	for u := range circlePeople {
		c.follows = append(c.follows, nil)
		for len(c.follows[u]) < 6 && u >= 8 {
			if v := c.rng.IntN(u); !slices.Contains(c.follows[u], v) {
				c.follows[u] = append(c.follows[u], v)
			}
		}
		c.draw(u)
	}
	return c
}

// draw draws what a person likes and hides. People before it have drawn.
func (c *circle) draw(u int) {
	var liked, hidden, likes, hides, out []int
	for _, v := range c.follows[u] {
		liked, hidden = append(append(liked, c.likes[v]...), c.out[v]...), append(hidden, c.hides[v]...)
	}
	for range 2 {
		likes, hides = append(likes, c.rng.IntN(circlePosts)), append(hides, c.rng.IntN(circlePosts))
	}
	c.rng.Shuffle(len(liked), func(i, j int) { liked[i], liked[j] = liked[j], liked[i] })
	for _, p := range append(liked, hidden...) {
		switch {
		case slices.Contains(likes, p) || slices.Contains(hides, p) || slices.Contains(out, p):
		case slices.Contains(hidden, p):
			if len(hides) < 6 {
				hides = append(hides, p)
			}
		case len(likes)+len(out) < 9 && c.rng.IntN(4) > 0:
			if c.rng.IntN(6) == 0 {
				out = append(out, p)
			} else {
				likes = append(likes, p)
			}
		}
	}
	c.likes, c.hides, c.out = append(c.likes, likes), append(c.hides, hides), append(c.out, out)
}

func person(u int) string { return fmt.Sprint("person ", u) }

func post(p int) string { return fmt.Sprint("post ", p) }

// write adds the edges to a database.
func (c *circle) write(tx *db.Tx) (err error) {
	for _, r := range []string{"shares", "follows", "likes", "hides", "visits"} {
		err = errors.Join(err, tx.AddRelation(db.Relation{Name: r, Directed: true}))
	}
	for p := range circlePosts {
		err = errors.Join(err, tx.PutNode(db.Node{Key: db.Str(post(p))}))
	}
	for u := range circlePeople {
		for _, v := range c.follows[u] {
			err = errors.Join(err, tx.PutEdge(person(u), person(v), db.Via("follows")))
		}
		for _, p := range c.likes[u] {
			err = errors.Join(err, tx.PutEdge(person(u), post(p), db.Via("likes")))
		}
		for _, p := range c.hides[u] {
			err = errors.Join(err, tx.PutEdge(person(u), post(p), db.Via("hides")))
		}
		for range 4 {
			v := c.rng.IntN(circlePeople)
			err = errors.Join(err, tx.PutEdge(person(u), post(c.rng.IntN(circlePosts)), db.Via("shares")))
			if v != u {
				err = errors.Join(err, tx.PutEdge(person(u), person(v), db.Via("visits")))
			}
		}
	}
	return err
}

// mrr returns the mean reciprocal rank of the likes that are left out, among all posts that a
// person neither likes nor hides.
func (c *circle) mrr(t *testing.T, g *db.DB, model string) float64 {
	t.Helper()
	sum, n := 0.0, 0
	for u, out := range c.out {
		if len(out) == 0 {
			continue
		}
		var posts []any
		for p := range circlePosts {
			if !slices.Contains(c.likes[u], p) && !slices.Contains(c.hides[u], p) {
				posts = append(posts, post(p))
			}
		}
		r, err := g.Predict(context.Background(), db.PredictOptions{
			For: person(u), Relation: "likes", Among: db.Keys(posts...), Model: model, Top: -1, NoCache: true,
		})
		must(t, err)
		score := map[string]float64{}
		for _, l := range r.Links {
			score[l.Target.Value().(string)] = l.Score
		}
		for _, p := range out {
			own, rank := score[post(p)], 1.0
			delete(score, post(p))
			for _, s := range score {
				if s > own {
					rank++
				} else if s == own {
					rank += 0.5
				}
			}
			score[post(p)] = own
			sum += 1 / rank
			n++
		}
	}
	return sum / float64(n)
}

// A default that reads several kinds of feedback finds the rules between them and no rules of
// noise, and predicts likes better than the likes alone do.
func TestKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains twice")
	}
	t.Parallel()
	ctx := context.Background()
	c := newCircle(4)
	g := open(t, "", &db.Options{InMemory: true, Seed: 3})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(ctx, c.write))
	best := 0.0
	for _, name := range []string{"ppr", "katz", "preferential_attachment"} {
		best = max(best, c.mrr(t, g, name))
	}
	must(t, g.Model("likes").Create(ctx, db.ModelSpec{}))
	_, err := g.Model("likes").Train(ctx, db.TrainOptions{Relation: "likes", Deploy: db.DeployAlways})
	must(t, err)
	best = max(best, c.mrr(t, g, "likes"))
	_, err = g.Model("default").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways})
	must(t, err)
	own := c.mrr(t, g, "default")
	t.Logf("mrr %.4f, by one relation %.4f", own, best)
	if own < 1.3*best {
		t.Errorf("mrr %.4f, by one relation %.4f", own, best)
	}
	must(t, g.View(ctx, func(tx *db.Tx) error {
		all, err := tx.Rules("likes", false, "default", 0)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(all, func(r db.Rule) bool { return r.String() == "likes(X, Y) <- follows(X, Z), likes(Z, Y)" }); at < 0 || at > 4 {
			t.Errorf("the rule of likes is at place %d", at+1)
		}
		against := false
		for i, r := range all {
			noise := strings.Contains(r.String(), "shares") || strings.Contains(r.String(), "visits")
			if i < 5 && noise && !r.Against() {
				t.Errorf("noise is among the best rules: %s, %.3f", r, r.Confidence)
			}
			against = against || r.Against() && r.String() == "likes(X, Y) <- follows(X, Z), hides(Z, Y)"
		}
		if !against {
			t.Error("no rule says that people do not like what others hide whom they follow")
		}
		return nil
	}))
}
