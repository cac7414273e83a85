package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"kith/model/graph"
	"kith/model/nn"
)

// gate says how much a forecast counts beside the ranker, by the age of the newest edge out of the source. The log-odds of a
// link are those of the ranker plus Weight times what those of the forecast are above Level. Whether a link that exists occurs
// again is known to the forecast alone, whatever the age.
type gate struct {
	Ages   [gateParts]float64 // the largest age of each part, ascending; the last is ageless
	Weight [gateParts]float64 // one of gateWeights
	Level  float64            // mean log-odds of a forecast
}

// gateParts is the number of parts that ages are divided into. They have equal numbers of questions.
const gateParts = 4

// alone is the weight with which a forecast replaces the ranker.
const alone = -1

// gateChoices is the number of gateWeights.
const gateChoices = 5

// gateWeights are the weights that a gate chooses from. The first leaves the answer to the ranker.
func gateWeights() [gateChoices]float64 { return [...]float64{0, 0.25, 0.5, 1, alone} }

// openGate is the gate before a training of it: the forecast answers.
func openGate() gate {
	return gate{[gateParts]float64{ageless, ageless, ageless, ageless}, [gateParts]float64{alone, alone, alone, alone}, 0}
}

// at returns the weight of a forecast for a source whose newest edge has the given age.
func (g *gate) at(age float64) float64 {
	for k, most := range g.Ages {
		if age <= most {
			return g.Weight[k]
		}
	}
	return g.Weight[gateParts-1]
}

// check reports an error for decoded values that a gate cannot have.
func (g *gate) check() error {
	weights := gateWeights()
	for _, w := range g.Weight {
		if !slices.Contains(weights[:], w) {
			return fmt.Errorf("a forecast of weight %v", w)
		}
	}
	if !nn.Finite(g.Ages[:]...) || !nn.Finite(g.Level) {
		return fmt.Errorf("a gate of ages %v and level %v", g.Ages, g.Level)
	}
	return nil
}

// weigh returns the weight of the forecast in each pair, and whether it answers all of them alone.
func (o *forecastSnapshot) weigh(dst []float64, w World, pairs []Pair) (weights []float64, all bool) {
	weights = slices.Grow(dst[:0], len(pairs))[:len(pairs)]
	g, c, open := w.Graph.(Timed), clock{}, o.gate.Weight == openGate().Weight
	if !open {
		c = clock{w.Now, paceOf(g)}
	}
	all = true
	for first, run := range graph.BySource(pairs) {
		by := float64(alone)
		if out := g.OutTimes(run[0].Source); !open {
			if by = 0; len(out) > 0 {
				by = o.gate.at(c.age(newestTime(out, w.Now)))
			}
		}
		for i, p := range run {
			weights[first+i] = by
			if by != alone && linked(w.Graph, p.Source, p.Target) {
				weights[first+i] = alone
			}
			all = all && weights[first+i] == alone
		}
	}
	return weights, all
}

// newestTime returns the newest of the times that are not later than now, or 0.
func newestTime(times []int64, now int64) (newest int64) {
	for _, t := range times {
		if t <= now {
			newest = max(newest, t)
		}
	}
	return newest
}

// Plan of TrainGate.
const (
	gateLinks    = 250 // links of each kind that are asked about
	gateOthers   = 128 // other candidates of a question
	gateNewest   = 20  // at most one in so many edges is hidden as one of the newest
	gatePool     = 16  // times gateLinks: at most so many edges are
	gateAttempts = 4   // draws for each link
)

// gateQuestion has the reciprocal rank of a hidden link with each of gateWeights.
type gateQuestion struct {
	age  float64 // of the newest edge of the source
	rank [gateChoices]float64
}

// TrainGate finds out how much the forecast counts beside the ranker, on edges of g that it hides: the newest edges, as if
// the question was asked before they occurred, and edges of any age, as if it was asked long after them. It follows
// TrainEdges and TrainEvents. Without a forecast it does nothing.
func (m *Model) TrainGate(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	of, timed := g.(Timed)
	if m.forecast.current() == nil || m.belief.ranker == nil || !timed {
		return nil
	}
	if err := m.config.rankerPlan(g, &plan); err != nil {
		return err
	}
	whole, err := without(nil)
	if err != nil {
		return err
	}
	nodes, _, err := m.config.planVectors(ctx, whole, plan.Memory)
	if err != nil {
		return err
	}
	a := gateAsker{whole: of, memory: &m.forecast.Memory, rng: rand.New(m.source)}
	for _, links := range [...][]Pair{a.newestLinks(), a.anyLinks()} {
		w, err := without(edgesOf(links))
		if err != nil {
			return err
		}
		v, err := nodes.in(ctx, a.rng, w)
		if err == nil {
			err = a.ask(ctx, m.Scorer(), v, w, links)
		}
		if err != nil {
			return err
		}
	}
	m.forecast.Gate = a.gate()
	m.forecast.snapshot, m.scorer = nil, nil
	return nil
}

func edgesOf(links []Pair) (edges [][2]ID) {
	for _, l := range links {
		edges = append(edges, [2]ID{l.Source, l.Target})
	}
	return edges
}

// gateAsker asks the questions of TrainGate.
type gateAsker struct {
	whole  Timed
	memory *eventMemory
	rng    *rand.Rand
	asked  []gateQuestion
	odds   float64 // sum of the forecast's log-odds
	pairs  float64 // number of its terms
}

// gate returns the gate that ranks the links best.
func (a *gateAsker) gate() (g gate) {
	slices.SortStableFunc(a.asked, func(a, b gateQuestion) int { return cmp.Compare(a.age, b.age) })
	n, from := len(a.asked), 0
	for k := range g.Ages {
		g.Ages[k] = ageless
		if to := (k + 1) * n / gateParts; k+1 < gateParts && to > 0 {
			g.Ages[k] = a.asked[to-1].age
		}
		to := from
		for to < n && a.asked[to].age <= g.Ages[k] {
			to++
		}
		g.Weight[k] = bestWeight(a.asked[from:to])
		from = to
	}
	g.Level = a.odds / max(a.pairs, 1)
	return g
}

// bestWeight returns the weight with the largest gain over the ranker alone that is more than a standard error.
func bestWeight(asked []gateQuestion) (weight float64) {
	best := 0.0
	for k, w := range gateWeights() {
		gain, squares := 0.0, 0.0
		for _, q := range asked {
			d := q.rank[k] - q.rank[0]
			gain += d
			squares += d * d
		}
		if gain > best && gain > math.Sqrt(squares) {
			best, weight = gain, w
		}
	}
	return weight
}

// newestLinks returns the newest links of the graph, in random order.
func (a *gateAsker) newestLinks() (links []Pair) {
	type timedLink struct {
		Pair
		time int64
	}
	edges, _ := countEdges(a.whole)
	most := min(gatePool*gateLinks, edges/gateNewest)
	var newest []timedLink
	keep := func() {
		slices.SortStableFunc(newest, func(a, b timedLink) int { return cmp.Compare(b.time, a.time) })
		newest = newest[:min(len(newest), most)]
	}
	for u := range ID(a.whole.NumNodes()) {
		out := outRow(a.whole, u)
		for i, v := range out.to {
			if _, t := out.at(i); t != 0 && (a.whole.Directed() && u != v || u < v) {
				newest = append(newest, timedLink{Pair{Source: u, Target: v}, t})
			}
		}
		if len(newest) > 4*most {
			keep()
		}
	}
	keep()
	for _, l := range newest {
		if !a.whole.Directed() && (a.memory.roles[l.Source] == asTarget || a.memory.roles[l.Target]&asTarget == 0) {
			l.Source, l.Target = l.Target, l.Source
		}
		links = append(links, l.Pair)
	}
	a.rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return links
}

// anyLinks draws sources of earlier targets, and alternately the newest or any link of each.
func (a *gateAsker) anyLinks() (links []Pair) {
	used := make(map[ID]bool)
	for range gateAttempts * gateLinks {
		t := a.memory.Targets[a.rng.IntN(len(a.memory.Targets))]
		if int(t) >= a.whole.NumNodes() {
			continue
		}
		from, _ := a.whole.In(t)
		if len(from) == 0 || len(links) == gateLinks {
			continue
		}
		u := from[a.rng.IntN(len(from))]
		out := outRow(a.whole, u)
		k := a.rng.IntN(len(out.to))
		if len(links)%2 == 0 {
			k = newest(nil, timedRow{out.to, nil, a.whole.OutTimes(u)}, math.MaxInt64)[0]
		}
		if !used[u] && len(out.to) > 1 && out.to[k] != u {
			used[u] = true
			links = append(links, Pair{Source: u, Target: out.to[k]})
		}
	}
	return links
}

// ask asks about up to gateLinks of the links in a world without them, whose nodes have vectors v, after its newest time.
func (a *gateAsker) ask(ctx context.Context, s *Scorer, v *vectors, w World, links []Pair) error {
	g, timed := w.Graph.(Timed)
	if !timed {
		return nil
	}
	w.Now = 0
	for u := range ID(g.NumNodes()) {
		w.Now = max(w.Now, newestTime(g.OutTimes(u), math.MaxInt64)+1)
	}
	belief, open := *s.belief, *s.forecast
	belief.vectors, open.gate = v, openGate()
	ranker, forecast := *s, *s
	ranker.belief, ranker.forecast = &belief, nil
	forecast.belief, forecast.forecast = &belief, &open
	c := clock{w.Now, paceOf(g)}
	left := gateLinks
	for _, l := range links {
		times := g.OutTimes(l.Source)
		if left == 0 || len(times) == 0 {
			continue
		}
		left--
		pairs := append([]Pair{l}, a.others(l)...)
		r, err := ranker.Score(ctx, w, pairs)
		if err != nil {
			return err
		}
		f, err := forecast.Score(ctx, w, pairs)
		if err != nil {
			return err
		}
		a.add(c.age(newestTime(times, w.Now)), r, f)
	}
	return nil
}

// add adds a question, given the scores of the ranker and of the forecast. The first are those of the link.
func (a *gateAsker) add(age float64, ranker, forecast []Score) {
	q := gateQuestion{age: age}
	blend := make([]float64, len(ranker))
	for k, w := range gateWeights() {
		for i := range blend {
			r, f := clampedLogit(ranker[i].Exploit), clampedLogit(forecast[i].Exploit)
			if blend[i] = r + w*f; w == alone {
				blend[i] = f
				a.odds, a.pairs = a.odds+f, a.pairs+1
			}
		}
		rank := 1.0
		for _, o := range blend[1:] {
			switch {
			case o > blend[0]:
				rank++
			case o == blend[0]:
				rank += 0.5
			}
		}
		q.rank[k] = 1 / rank
	}
	a.asked = append(a.asked, q)
}

// clampedLogit is logit, finite.
func clampedLogit(p float64) float64 { return logit(min(max(p, 1e-12), 1-1e-12)) }

// others draws targets that the source of a link is not linked to.
func (a *gateAsker) others(l Pair) (pairs []Pair) {
	used := map[ID]bool{l.Source: true, l.Target: true}
	for range 2 * gateOthers {
		t := a.memory.Targets[a.rng.IntN(len(a.memory.Targets))]
		if len(pairs) < gateOthers && int(t) < a.whole.NumNodes() && !used[t] && !linked(a.whole, l.Source, t) {
			used[t] = true
			pairs = append(pairs, Pair{Source: l.Source, Target: t})
		}
	}
	return pairs
}
