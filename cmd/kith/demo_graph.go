package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"kith/db"
)

// Sizes of the graph of the demo.
const (
	demoGroup    = 30 // number of people in a circle
	demoFriends  = 20 // mean number of friends
	demoFeatures = 16 // length of a feature vector
	demoHidden   = 10 // one in this many links is hidden
)

// people is a generated graph. People belong to circles and have traits, which resemble the traits
// of their circle. Two in five links close a triangle, most others stay within a circle, and of
// three people drawn for a link the person with the most similar traits is linked.
type people struct {
	rng     *rand.Rand
	circles int
	traits  [][]float32
	friends [][]int
	links   [][2]int // all links, in the order in which they were made
}

func newPeople(n int, seed uint64) *people {
	p := &people{rng: rand.New(rand.NewPCG(seed, 1)), circles: n / demoGroup, friends: make([][]int, n)}
	var centres [][]float32
	for range p.circles {
		centres = append(centres, p.around(make([]float32, demoFeatures)))
	}
	for u := range n {
		p.traits = append(p.traits, p.around(centres[u%p.circles]))
	}
	for range n * demoFriends / 2 {
		u := p.popular(n)
		v := p.meet(u)
		for range 2 {
			if w := p.meet(u); p.distance(u, w) < p.distance(u, v) {
				v = w
			}
		}
		if u != v && !slices.Contains(p.friends[u], v) {
			p.friends[u], p.friends[v] = append(p.friends[u], v), append(p.friends[v], u)
			p.links = append(p.links, [2]int{u, v})
		}
	}
	return p
}

// around draws a point near a centre.
func (p *people) around(centre []float32) []float32 {
	point := slices.Clone(centre)
	for i := range point {
		point[i] += float32(p.rng.NormFloat64() / math.Sqrt(demoFeatures))
	}
	return point
}

// popular draws a number below n. Small numbers are drawn more often.
func (p *people) popular(n int) int { return min(int(float64(n)*math.Pow(p.rng.Float64(), 1.5)), n-1) }

// meet draws someone whom u may meet: a friend of a friend, a member of the circle, or anyone.
func (p *people) meet(u int) int {
	if row := p.friends[u]; len(row) > 0 && p.rng.Float64() < 0.4 {
		next := p.friends[row[p.rng.IntN(len(row))]]
		return next[p.rng.IntN(len(next))]
	}
	if p.rng.Float64() < 0.85 {
		return u%p.circles + p.circles*p.popular((len(p.friends)-u%p.circles-1)/p.circles+1)
	}
	return p.popular(len(p.friends))
}

// distance is the squared distance of the traits. The distance to oneself is infinite.
func (p *people) distance(u, v int) float64 {
	if u == v {
		return math.Inf(1)
	}
	sum := 0.0
	for i, x := range p.traits[u] {
		d := float64(x - p.traits[v][i])
		sum += d * d
	}
	return sum
}

// split writes most links to w, as lines "source target", and returns the others.
func (p *people) split(w io.Writer) (hidden [][2]int) {
	for _, l := range p.links {
		if p.rng.IntN(demoHidden) == 0 {
			hidden = append(hidden, l)
			continue
		}
		fmt.Fprintln(w, l[0], l[1])
	}
	return hidden
}

// linked reports whether a node is linked to u, hidden or not.
func (p *people) linked(u int, to db.Key) bool {
	v, _ := to.Int()
	return slices.Contains(p.friends[u], int(v))
}
