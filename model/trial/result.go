package trial

import (
	"fmt"
	"math"
	"time"
)

// Result holds the curves of a trial.
type Result struct {
	Protocol string
	Rounds   int
	Curves   []Curve
}

// Summary is one entrant over all seeds.
type Summary struct {
	Name      string
	Seeds     int
	Regret    float64       // mean of the final regrets
	Deviation float64       // their sample standard deviation, 0 for one seed
	PerLive   float64       // mean regret of a live round
	Time      time.Duration // mean of a run
}

// Summaries returns one summary an entrant, in the order in which they played.
func (r *Result) Summaries() []Summary {
	var all []Summary
	for _, name := range r.names() {
		s := Summary{Name: name}
		var live, squares float64
		for _, c := range r.of(name) {
			s.Seeds++
			s.Regret += float64(c.Final())
			squares += float64(c.Final()) * float64(c.Final())
			live += float64(c.Live)
			s.Time += c.Time
		}
		n := float64(s.Seeds)
		s.PerLive = s.Regret / max(live, 1)
		s.Regret /= n
		s.Deviation = math.Sqrt(max(squares-n*s.Regret*s.Regret, 0) / max(n-1, 1))
		s.Time /= time.Duration(s.Seeds)
		all = append(all, s)
	}
	return all
}

func (r *Result) names() (names []string) {
	seen := make(map[string]bool)
	for _, c := range r.Curves {
		if !seen[c.Name] {
			seen[c.Name] = true
			names = append(names, c.Name)
		}
	}
	return names
}

func (r *Result) of(name string) (curves []Curve) {
	for _, c := range r.Curves {
		if c.Name == name {
			curves = append(curves, c)
		}
	}
	return curves
}

// Rows returns the summaries as a table of text with a heading.
func (r *Result) Rows() (heading []string, rows [][]string) {
	heading = []string{"policy", "seeds", "regret", "±", "a live round", "ms a round"}
	for _, s := range r.Summaries() {
		rows = append(rows, []string{
			s.Name,
			fmt.Sprint(s.Seeds),
			fmt.Sprintf("%.0f", s.Regret),
			fmt.Sprintf("%.0f", s.Deviation),
			fmt.Sprintf("%.3f", s.PerLive),
			fmt.Sprintf("%.2f", s.Time.Seconds()*1000/float64(r.Rounds)),
		})
	}
	return heading, rows
}
