package model

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"kith/model/internal/graph"
	"kith/model/internal/spectral"
)

// Plan of a gateAsker.
const (
	gateInTime    = 400  // maximum number of questions in time
	gateLate      = 800  // maximum number of questions that are asked late
	gatePerSource = 8    // maximum number of questions in time about one source
	gateOthers    = 128  // other candidates of a question
	gateNewest    = 4096 // maximum number of the newest events whose links are in questions in time
	gateShare     = 10   // at most one event and one edge in so many is hidden
	gateLeast     = 8    // smallest number of questions of a kind that can refuse a weight
	gateErrors    = 2    // standard errors by which a weight must gain in questions of each kind
)

// gateKind is a kind of question about a link that is hidden.
type gateKind int

const (
	askedInTime gateKind = iota // a question about one of the newest links, at the time before it occurred
	lastAsked                   // a question about the newest link of a source, after all events
	anyAsked                    // a question about a link of any age, after all events
	gateKinds
)

// gateLink is a hidden link to ask about.
type gateLink struct {
	Pair
	kind gateKind
}

// gateQuestion has the results of a question with each of gateWeights.
type gateQuestion struct {
	gateLink
	age   float64              // of the newest edge of the source
	rank  [gateChoices]float64 // reciprocal rank of the hidden link
	shift [gateChoices]float64 // see gate
}

// newGateAsker hides links of the graph. Without a ranker, or with too few events for a forecast,
// it returns an asker that never asks.
func (m *Model) newGateAsker(g Graph, moments iter.Seq2[Moment, error]) (*gateAsker, error) {
	a := &gateAsker{model: m, rng: rand.New(m.source), hidden: make(map[Pair]bool), roles: make(map[ID]role)}
	for now, err := range moments {
		if err != nil {
			return nil, err
		}
		for _, p := range now.Links {
			a.roles[p.Source] |= asSource
			a.roles[p.Target] |= asTarget
			a.left++
		}
	}
	whole, timed := g.(Timed)
	if !timed || m.belief.ranker == nil || a.left < readyEvents {
		return a, nil
	}
	a.whole = whole
	a.edges, _ = countEdges(g)
	a.left -= min(gateNewest, a.left/2, max(a.edges, a.left)/gateShare)
	a.late = a.lateLinks()
	for _, l := range a.late {
		a.hidden[l.Pair] = true
		if !whole.Directed() {
			a.hidden[Pair{Source: l.Target, Target: l.Source}] = true
		}
	}
	a.spare = newForecast(&m.config)
	return a, nil
}

// learnGate sets the gate of a forecast, after the asker has heard the same moments.
func (a *gateAsker) learnGate(ctx context.Context, f *forecast, plan EdgePlan, without Without) error {
	defer plan.Progress.Finish(phaseWeighing)
	if a.spare == nil {
		return nil
	}
	plan.Progress.Begin(phaseWeighing)
	a.to = plan.Progress
	if err := a.spare.again(ctx, a.rng, a.lists, keptPasses, nil); err != nil {
		return err
	}
	if a.spare.current() != nil {
		if err := a.askAll(ctx, plan, without); err != nil {
			return err
		}
	}
	f.Gate, f.snapshot = gateOf(a.asked), nil
	return nil
}

// askAll asks about the newest links and about the late ones.
func (a *gateAsker) askAll(ctx context.Context, plan EdgePlan, without Without) error {
	if err := a.plan(ctx, plan, without); err != nil {
		return err
	}
	a.rng.Shuffle(len(a.inTime), func(i, j int) { a.inTime[i], a.inTime[j] = a.inTime[j], a.inTime[i] })
	if err := a.ask(ctx, a.before, a.inTime, gateInTime); err != nil {
		return err
	}
	after, err := without(edgesOf(a.late))
	if err != nil {
		return err
	}
	after.Now = a.before.Now
	for u := range ID(a.whole.NumNodes()) {
		after.Now = max(after.Now, latest(a.whole.OutTimes(u), math.MaxInt64)+1)
	}
	return a.ask(ctx, after, a.late, gateLate)
}

func edgesOf(links []gateLink) (edges [][2]ID) {
	for _, l := range links {
		edges = append(edges, [2]ID{l.Source, l.Target})
	}
	return edges
}

// gateAsker learns the gate of a forecast. It hides links, whose events a second forecast does not
// learn, and asks about them.
type gateAsker struct {
	model  *Model
	rng    *rand.Rand
	to     *Meter
	whole  Timed
	edges  int           // number of edges
	roles  map[ID]role   // of the nodes of the newest events
	hidden map[Pair]bool // links that the spare forecast does not learn

	left         int         // number of events until the newest ones, which the spare forecast does not learn
	spare        *forecast   // nil: never ask
	lists        []eventList // that the spare forecast learned; the newest ones
	before       World       // before the newest events
	inTime, late []gateLink

	nodes            *spectral.Plan
	ranker, forecast *Scorer
	asked            []gateQuestion
}

// gateRole reports whether a node may be a source, or a target. A node without events has the role
// that the nodes do not have that it is linked to.
func (a *gateAsker) gateRole(u ID, as role) bool {
	if a.whole.Directed() {
		return as == asSource || graph.InLen(a.whole, u) > 0
	}
	if r := a.roles[u]; r != 0 {
		return r&as != 0
	}
	for _, v := range graph.Out(a.whole, u) {
		if r := a.roles[v]; r != 0 {
			return r&^as != 0
		}
	}
	return false
}

// lateLinks draws sources, and alternately the newest or any link of each.
func (a *gateAsker) lateLinks() (links []gateLink) {
	most := min(gateLate, a.edges/gateShare)
	used := make(map[ID]bool)
	for tries := 20 * most; tries > 0 && len(links) < most; tries-- {
		u := ID(a.rng.IntN(a.whole.NumNodes()))
		out := outRow(a.whole, u)
		if used[u] || len(out.to) < 2 || !a.gateRole(u, asSource) {
			continue
		}
		used[u] = true
		k, kind := a.rng.IntN(len(out.to)), anyAsked
		if len(links)%2 == 0 {
			k, kind = newest(nil, out, math.MaxInt64)[0], lastAsked
		}
		if out.to[k] != u {
			links = append(links, gateLink{Pair{Source: u, Target: out.to[k]}, kind})
		}
	}
	return links
}

// hear teaches the spare forecast the events of a moment. Of the newest moments it only collects
// the new links.
func (a *gateAsker) hear(now Moment, lists []eventList) {
	if a.spare == nil {
		return
	}
	if a.left > 0 {
		a.left -= len(now.Links)
		for i, l := range lists {
			if !a.hidden[now.Links[i]] {
				a.spare.learnNew(l)
				a.lists = newestLists(append(a.lists, l))
			}
		}
		return
	}
	if a.before.Graph == nil {
		a.before = now.World
	}
	for _, p := range now.Links {
		if !a.hidden[p] && p.Source != p.Target && !linked(a.before.Graph, p.Source, p.Target) {
			a.hidden[p] = true
			a.inTime = append(a.inTime, gateLink{p, askedInTime})
		}
	}
}

// plan makes the scorers that are asked.
func (a *gateAsker) plan(ctx context.Context, plan EdgePlan, without Without) error {
	c := &a.model.config
	if err := c.rankerPlan(a.whole, &plan); err != nil {
		return err
	}
	whole, err := without(nil)
	if err != nil {
		return err
	}
	if a.nodes, _, err = c.planVectors(ctx, whole, plan.Memory); err != nil {
		return err
	}
	ranker := *a.model.Scorer()
	forecast := ranker
	ranker.forecast, forecast.forecast = nil, a.spare.current()
	a.ranker, a.forecast = &ranker, &forecast
	return nil
}

// ask asks about links in a world without them. most is the maximum number of questions.
func (a *gateAsker) ask(ctx context.Context, w World, links []gateLink, most int) error {
	g, timed := w.Graph.(Timed)
	if !timed || len(links) == 0 {
		return nil
	}
	belief := *a.ranker.belief
	var err error
	if belief.vectors, err = vectorsIn(ctx, a.rng, a.nodes, w, nil); err != nil {
		return err
	}
	a.ranker.belief, a.forecast.belief = &belief, &belief
	c := clockOf(w)
	count := make(map[ID]int)
	for _, l := range links {
		times := g.OutTimes(l.Source)
		if most == 0 || count[l.Source] == gatePerSource || !hasTime(times) || graph.InLen(g, l.Target) == 0 {
			continue
		}
		count[l.Source]++
		most--
		a.to.Step(1)
		pairs := append([]Pair{l.Pair}, a.others(g, l.Pair)...)
		r, err := a.ranker.Score(ctx, w, pairs)
		if err != nil {
			return err
		}
		f, err := a.forecast.Score(ctx, w, pairs)
		if err != nil {
			return err
		}
		q := gateQuestion{gateLink: l, age: c.age(latest(times, w.Now))}
		q.answer(r, f)
		a.asked = append(a.asked, q)
	}
	return nil
}

// others draws targets in graph g that the source of a link never has an edge to.
func (a *gateAsker) others(g Timed, l Pair) (pairs []Pair) {
	used := map[ID]bool{l.Source: true, l.Target: true}
	for tries := 20 * gateOthers; tries > 0 && len(pairs) < gateOthers; tries-- {
		t := ID(a.rng.IntN(g.NumNodes()))
		if !used[t] && graph.InLen(g, t) > 0 && a.gateRole(t, asTarget) && !linked(a.whole, l.Source, t) {
			used[t] = true
			pairs = append(pairs, Pair{Source: l.Source, Target: t})
		}
	}
	return pairs
}

// answer ranks the link, which is the first candidate, given the scores of the ranker and of the
// forecast.
func (q *gateQuestion) answer(ranker, forecast []Score) {
	r, f, blend := logits(ranker), logits(forecast), make([]float64, len(ranker))
	for k, w := range gateWeights() {
		for i := range blend {
			if blend[i] = r[i] + w*f[i]; w == alone {
				blend[i] = f[i]
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
		q.shift[k] = floats.LogSumExp(f) - floats.LogSumExp(blend)
	}
}

// logits returns the log-odds of scores, which are finite.
func logits(scores []Score) (all []float64) {
	for _, s := range scores {
		all = append(all, logit(min(max(s.Exploit, 1e-12), 1-1e-12)))
	}
	return all
}

// gateOf returns the gate that ranks the links best.
func gateOf(asked []gateQuestion) (g gate) {
	slices.SortStableFunc(asked, func(a, b gateQuestion) int { return cmp.Compare(a.age, b.age) })
	g.Ages = partsOf(asked)
	for k := range g.Ages {
		n := 0
		for n < len(asked) && asked[n].age <= g.Ages[k] {
			n++
		}
		c := bestWeight(asked[:n])
		g.Weight[k] = gateWeights()[c]
		for _, q := range asked[:n] {
			g.Shift[k] += q.shift[c] / float64(n)
		}
		asked = asked[n:]
	}
	return g
}

// partsOf divides the ages of questions, which are sorted by age, into parts with equal numbers of
// late ones. Those in time are about young sources, whom a user may ask about late too.
func partsOf(asked []gateQuestion) (ages [gateParts]float64) {
	var late []float64
	for _, q := range asked {
		if q.kind != askedInTime {
			late = append(late, q.age)
		}
	}
	for k := range ages {
		ages[k] = ageless
		if n := (k + 1) * len(late) / gateParts; k+1 < gateParts && n > 0 {
			ages[k] = late[n-1]
		}
	}
	return ages
}

// bestWeight returns the index of the weight with the largest gain over the ranker alone. The gain
// must be more than chance explains in questions of each kind, because the kind of a user's
// question is unknown, and a weight that finds the newest links often hides older ones.
func bestWeight(asked []gateQuestion) (choice int) {
	best := 0.0
	for k := range gateChoices {
		var all gateGain
		var kinds [gateKinds]gateGain
		for _, q := range asked {
			d := q.rank[k] - q.rank[0]
			all.add(q.Source, d)
			kinds[q.kind].add(q.Source, d)
		}
		gains := all.sum > best && all.beyond(gateErrors)
		for _, g := range kinds {
			gains = gains && (g.n < gateLeast || g.beyond(gateErrors))
		}
		if gains {
			best, choice = all.sum, k
		}
	}
	return choice
}

// gateGain is the gain of a weight in some questions.
type gateGain struct {
	n, sum  float64
	sources map[ID]float64 // sums of the sources, whose questions are alike
	squares float64        // sum of the squares of the values of sources
}

func (g *gateGain) add(source ID, gain float64) {
	if g.sources == nil {
		g.sources = make(map[ID]float64)
	}
	g.n++
	g.sum += gain
	g.squares += gain * (2*g.sources[source] + gain)
	g.sources[source] += gain
}

// beyond reports whether the gain is more than a number of standard errors.
func (g *gateGain) beyond(errors float64) bool { return g.sum > errors*math.Sqrt(max(g.squares, 0)) }
