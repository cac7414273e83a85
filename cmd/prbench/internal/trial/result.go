package trial

import (
	"math"
	"time"
)

// Curve is the result of a run of an entrant.
type Curve struct {
	Name   string
	Seed   uint64
	Regret []int // cumulative, after each round; after Thin, at evenly spaced rounds
	Live   int   // number of rounds with a positive among the candidates
	Time   time.Duration
	Parts  Parts
}

// Parts is the time that a model in memory took for the parts of a round.
type Parts struct {
	Networks time.Duration // contexts and the evaluation of the networks
	Walk     time.Duration // PageRank
	Train    time.Duration // learning from outcomes
}

// Final returns the regret of the whole run.
func (c *Curve) Final() int {
	if len(c.Regret) == 0 {
		return 0
	}
	return c.Regret[len(c.Regret)-1]
}

// Thin returns a curve with n evenly spaced values of the regret including the last one, or with
// all values if there are at most n.
func (c Curve) Thin(n int) Curve {
	if len(c.Regret) <= n {
		return c
	}
	thin := make([]int, n)
	for i := range thin {
		thin[i] = c.Regret[(i+1)*len(c.Regret)/n-1]
	}
	c.Regret = thin
	return c
}

func (p *Parts) add(q Parts) {
	p.Networks += q.Networks
	p.Walk += q.Walk
	p.Train += q.Train
}

func (p *Parts) divide(n time.Duration) {
	p.Networks /= n
	p.Walk /= n
	p.Train /= n
}

// Result holds the curves of a trial.
type Result struct {
	Protocol string
	Rounds   int
	Curves   []Curve
}

// Summary summarises one entrant over all seeds.
type Summary struct {
	Name      string
	Seeds     int
	Regret    float64       // mean of the final regrets
	Deviation float64       // sample standard deviation of the final regrets, 0 for one seed
	Live      float64       // mean number of live rounds of a run
	PerLive   float64       // mean regret of a live round
	Time      time.Duration // mean time of a run
	Parts     Parts         // mean times of a run
}

// Summaries returns one summary per entrant, in the order in which they played.
func (r *Result) Summaries() []Summary {
	var all []Summary
	for _, name := range r.Names() {
		s := Summary{Name: name}
		var live, squares float64
		for _, c := range r.Of(name) {
			s.Seeds++
			s.Regret += float64(c.Final())
			squares += float64(c.Final()) * float64(c.Final())
			live += float64(c.Live)
			s.Time += c.Time
			s.Parts.add(c.Parts)
		}
		n := float64(s.Seeds)
		s.Live = live / n
		s.PerLive = s.Regret / max(live, 1)
		s.Regret /= n
		s.Deviation = math.Sqrt(max(squares-n*s.Regret*s.Regret, 0) / max(n-1, 1))
		s.Time /= time.Duration(s.Seeds)
		s.Parts.divide(time.Duration(s.Seeds))
		all = append(all, s)
	}
	return all
}

// Names returns the names of the entrants, in the order in which they played.
func (r *Result) Names() (names []string) {
	seen := make(map[string]bool)
	for _, c := range r.Curves {
		if !seen[c.Name] {
			seen[c.Name] = true
			names = append(names, c.Name)
		}
	}
	return names
}

// Of returns the curves of an entrant, one for each seed.
func (r *Result) Of(name string) (curves []Curve) {
	for _, c := range r.Curves {
		if c.Name == name {
			curves = append(curves, c)
		}
	}
	return curves
}
