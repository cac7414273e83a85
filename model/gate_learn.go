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
	"kith/model/progress"
)

// Plan of TrainGate.
const (
	gateQuestions = 400  // maximum number of questions in time, and of questions that are asked late
	gatePerSource = 8    // maximum number of questions in time about one source
	gateOthers    = 128  // other candidates of a question
	gateNewest    = 4096 // maximum number of the newest events whose links are asked about in time
	gateShare     = 10   // at most one event and one edge in so many is hidden
	gateLeast     = 8    // smallest number of questions of a kind that can refuse a weight
	gateErrors    = 2    // standard errors by which a weight must gain
	gateMargin    = 0.5  // standard errors by which it must gain in questions of each kind
)

// gateKind is a kind of question about a link that is hidden.
type gateKind int

const (
	askedInTime gateKind = iota // one of the newest links, asked about before it occurred
	lastAsked                   // the newest link of a source, asked about after all events
	anyAsked                    // a link of any age, asked about after all events
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

// TrainGate learns how much the forecast counts beside the ranker, by the answers to questions
// about hidden links. The forecast of these answers has not learned the links that it is asked
// about. TrainGate follows TrainEdges of the same graph and TrainEvents of the same moments, whose
// worlds must have a walker. Without a forecast it does nothing.
func (m *Model) TrainGate(
	ctx context.Context, g Graph, plan EdgePlan, without Without, moments iter.Seq2[Moment, error],
) error {
	defer plan.Progress.Finish(WeighingTimes)
	whole, timed := g.(Timed)
	if m.forecast.current() == nil || m.belief.ranker == nil || !timed {
		return nil
	}
	plan.Progress.Begin(WeighingTimes)
	a := gateAsker{model: m, to: plan.Progress, whole: whole, roles: m.forecast.Memory.roles, rng: rand.New(m.source)}
	a.edges, _ = countEdges(g)
	late := a.lateLinks()
	before, inTime, f, err := a.before(ctx, moments, late)
	if err != nil {
		return err
	}
	if f.current() != nil {
		if err := a.plan(ctx, plan, without, f); err != nil {
			return err
		}
		if err := a.ask(ctx, before, inTime); err != nil {
			return err
		}
		after, err := without(edgesOf(late))
		if err != nil {
			return err
		}
		after.Now = before.Now
		for u := range ID(whole.NumNodes()) {
			after.Now = max(after.Now, latest(whole.OutTimes(u), math.MaxInt64)+1)
		}
		if err := a.ask(ctx, after, late); err != nil {
			return err
		}
	}
	m.forecast.Gate = gateOf(a.asked)
	m.forecast.snapshot, m.scorer = nil, nil
	return nil
}

func edgesOf(links []gateLink) (edges [][2]ID) {
	for _, l := range links {
		edges = append(edges, [2]ID{l.Source, l.Target})
	}
	return edges
}

// gateAsker asks the questions of TrainGate.
type gateAsker struct {
	model            *Model
	whole            Timed
	edges            int         // number of edges
	roles            map[ID]role // of the nodes of the newest events
	rng              *rand.Rand
	to               *progress.Meter
	nodes            *vectorPlan
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
	most := min(gateQuestions, a.edges/gateShare)
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

// before makes a forecast that learns neither the newest events nor the late links. It returns the
// world before the newest events, and the links that are new in these.
func (a *gateAsker) before(
	ctx context.Context, moments iter.Seq2[Moment, error], late []gateLink,
) (w World, links []gateLink, f *forecast, err error) {
	hidden := make(map[Pair]bool)
	for _, l := range late {
		hidden[l.Pair] = true
		if !a.whole.Directed() {
			hidden[Pair{Source: l.Target, Target: l.Source}] = true
		}
	}
	left := a.model.forecast.Events
	left -= min(gateNewest, left/2, max(a.edges, left)/gateShare)
	f, err = a.model.learnMoments(ctx, a.rng, func(yield func(Moment, error) bool) {
		for now, err := range moments {
			if err != nil {
				yield(now, err)
				return
			}
			a.to.Step(len(now.Links))
			if left > 0 {
				left -= len(now.Links)
				now.Links = slices.DeleteFunc(slices.Clone(now.Links), func(p Pair) bool { return hidden[p] })
				if !yield(now, nil) {
					return
				}
				continue
			}
			if w.Graph == nil {
				w = now.World
			}
			for _, p := range now.Links {
				if !hidden[p] && p.Source != p.Target && !linked(w.Graph, p.Source, p.Target) {
					hidden[p] = true
					links = append(links, gateLink{p, askedInTime})
				}
			}
		}
	}, nil)
	a.rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return w, links, f, err
}

// plan makes the scorers that are asked.
func (a *gateAsker) plan(ctx context.Context, plan EdgePlan, without Without, f *forecast) error {
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
	ranker.forecast, forecast.forecast = nil, f.current()
	a.ranker, a.forecast = &ranker, &forecast
	return nil
}

// ask asks about links in a world without them.
func (a *gateAsker) ask(ctx context.Context, w World, links []gateLink) error {
	g, timed := w.Graph.(Timed)
	if !timed || len(links) == 0 {
		return nil
	}
	belief := *a.ranker.belief
	var err error
	if belief.vectors, err = a.nodes.in(ctx, a.rng, w, nil); err != nil {
		return err
	}
	a.ranker.belief, a.forecast.belief = &belief, &belief
	c := clock{w.Now, paceOf(g)}
	count, left := make(map[ID]int), gateQuestions
	for _, l := range links {
		times := g.OutTimes(l.Source)
		if left == 0 || count[l.Source] == gatePerSource || len(times) == 0 || graph.InLen(g, l.Target) == 0 {
			continue
		}
		count[l.Source]++
		left--
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
	n, from := len(asked), 0
	for k := range g.Ages {
		g.Ages[k] = ageless
		if to := (k + 1) * n / gateParts; k+1 < gateParts && to > 0 {
			g.Ages[k] = asked[to-1].age
		}
		to := from
		for to < n && asked[to].age <= g.Ages[k] {
			to++
		}
		part := asked[from:to]
		c := bestWeight(part)
		g.Weight[k] = gateWeights()[c]
		for _, q := range part {
			g.Shift[k] += q.shift[c] / float64(len(part))
		}
		from = to
	}
	return g
}

// bestWeight returns the index of the weight with the largest gain over the ranker alone. The gain
// must be more than chance explains, and there must be one in questions of each kind.
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
			gains = gains && (g.n < gateLeast || g.beyond(gateMargin))
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
	squares float64        // sum of the squares of these
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
