package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// TrainEdges learns from the edges of g. Each drawn edge is a candidate with reward 1, read from a
// world that lacks it and the rest of its fold. Nodes that its source is not linked to are
// candidates with reward 0. The samples replace those of an earlier call. They are kept in addition
// to the samples of outcomes; option replay limits them when the next outcome is learned. The model
// is unchanged until all samples are drawn. If ctx ends later, the model is left as by TrainLog.
func (m *Model) TrainEdges(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	err := m.trainEdges(ctx, g, plan, without)
	m.outdated = m.outdated && err != nil
	return err
}

func (m *Model) trainEdges(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	if !m.policy.learns {
		return fmt.Errorf("%w: %s", errNotLearning, m.policy.name)
	}
	if m.belief != nil && m.belief.ranker != nil {
		return m.trainRanker(ctx, g, plan, without)
	}
	if err := plan.check(g); err != nil {
		return err
	}
	plan.fill(edgeDefaults())
	rng := rand.New(m.source)
	folds, err := drawFolds(rng, g, plan)
	if err != nil {
		return err
	}
	fresh, err := m.edgeSamples(ctx, rng, g, folds, plan, without)
	if err != nil {
		return err
	}
	if m.belief != nil {
		before := m.belief.data
		m.belief.data.ReplaceEdges(m.belief.unseen(fresh))
		plan.Progress.Begin(phaseLearning)
		if err := m.refit(ctx, plan.Progress); err != nil {
			m.belief.data = before
			return err
		}
		return nil
	}
	m.exploit.Data.ReplaceEdges(fresh)
	plan.Progress.Begin(phaseLearning)
	err = m.epochs(ctx, m.exploit, plan.Epochs, plan.Progress)
	if err != nil || m.explore == nil {
		return err
	}
	m.explore.Data.ReplaceEdges(m.residuals(fresh))
	return m.epochs(ctx, m.explore, plan.Epochs, plan.Progress)
}

// edgeSamples reads the contexts of the edges and of their negatives, fold by fold, of as many as
// there is time for.
func (m *Model) edgeSamples(
	ctx context.Context, rng *rand.Rand, g Graph, folds [][][2]ID, plan EdgePlan, without Without,
) (nn.Samples, error) {
	fresh := nn.Samples{Dim: m.config.width()}
	plan.Progress.Begin(phaseReading)
	for _, hidden := range folds {
		w, err := without(hidden)
		if err != nil {
			return fresh, err
		}
		for _, e := range hidden {
			candidates := append([]ID{e[1]}, nonNeighbors(rng, g, e[0], plan.Negatives, false)...)
			if err := m.addEdge(ctx, &fresh, w, e[0], candidates); err != nil {
				return fresh, err
			}
			if plan.Progress.Step(1); plan.Progress.Spent() >= 1 {
				return fresh, nil
			}
		}
	}
	return fresh, nil
}

// addEdge adds a sample for each candidate: only the first is a link.
func (m *Model) addEdge(ctx context.Context, fresh *nn.Samples, w World, source ID, candidates []ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.config.contexts(ctx, w, Pairs(source, candidates), &m.scratch); err != nil {
		return err
	}
	reward := 1.0
	for i := range candidates {
		x := nn.Row(m.scratch.x, i)
		if m.belief == nil { // the mean of a belief includes the prior
			reward -= m.config.offset(x)
		}
		fresh.Add(x, reward)
		reward = 0
	}
	return nil
}

// residuals returns the residuals of f1 at its own samples, at their φ.
func (m *Model) residuals(of nn.Samples) nn.Samples {
	out := nn.Samples{Dim: m.explore.Data.Dim}
	for i := range of.Len() {
		f := m.exploit.Net.Forward(&m.scratch.net, nn.NewMatrix(of.Row(i), of.Dim))[0]
		phi := nn.Resize(blas32.General{}, 1, out.Dim)
		m.exploit.Net.Phi(&m.scratch.net, m.config.Pool, phi)
		out.Add(phi.Data, float64(of.Y[i]-f))
	}
	return out
}

// edgeDefaults is the plan of policies with networks.
func edgeDefaults() EdgePlan { return EdgePlan{Samples: 2000, Negatives: 4, Folds: 5, Epochs: 10} }

// TrainLog makes full passes over all observed samples, independent of the schedule. A belief makes
// a single pass from scratch, which is all that it can learn. If ctx ends, TrainLog stops between
// two passes and returns the error of ctx. Networks then keep what they have learned so far; a
// belief is unchanged.
func (m *Model) TrainLog(ctx context.Context, epochs int, to *Meter) error {
	switch {
	case !m.policy.learns:
		return fmt.Errorf("%w: %s", errNotLearning, m.policy.name)
	case epochs < 1:
		return optionf("epochs = %d (accepted: 1 and more)", epochs)
	case m.samples().Len() == 0:
		return fmt.Errorf("%w: nothing observed to train on", ErrInput)
	case m.belief != nil:
		to.Begin(phaseLearning)
		return m.refit(ctx, to)
	}
	to.Begin(phaseLearning)
	for _, r := range m.regressors() {
		if err := m.epochs(ctx, r, epochs, to); err != nil {
			return err
		}
	}
	return nil
}

// samples returns the samples that f1 learns from.
func (m *Model) samples() *nn.Samples {
	if m.belief != nil {
		return &m.belief.data
	}
	return &m.exploit.Data
}

// refit makes the belief learn its samples again. One pass is enough, in the order in which they
// were added.
func (m *Model) refit(ctx context.Context, to *Meter) error {
	if err := m.belief.refit(ctx); err != nil {
		return err
	}
	m.scorer, m.trained = nil, true
	to.Step(1)
	return nil
}

// epochs makes n full passes with one network. Each pass is a step of the progress.
func (m *Model) epochs(ctx context.Context, r *nn.Regressor, n int, to *Meter) error {
	m.scorer, m.trained = nil, true
	return r.Epochs(ctx, rand.New(m.source), n, func() bool {
		to.Step(1)
		return to.Spent() < 1
	})
}

// Kinds of work in the phases of a training, which are slow and fast for different reasons.
const (
	workAlgebra = "algebra" // of matrices and networks
	workGraph   = "graph"   // depends on the structure of the graph
)

// Times of work on two processors, about. They were measured in trainings on five graphs, and
// differ by a factor of 2 between graphs.
const (
	linkTime   = 250 * time.Microsecond  // reading a link and its candidates, and the search for these
	choiceTime = 7 * time.Microsecond    // learning a choice once
	pairTime   = 3 * time.Microsecond    // reading the columns of a pair
	sampleTime = 2 * time.Microsecond    // learning a sample once
	eventTime  = 2200 * time.Microsecond // reading and learning an event
	againTime  = 20 * time.Microsecond   // learning an event once more

	headTime     = 30 * time.Millisecond // mining the rules of a head
	evidenceTime = 3 * time.Millisecond  // reading the evidence for a question
	opinionTime  = 4 * time.Millisecond  // asking the ranker about a list
	factorTime   = 7 * time.Microsecond  // learning the vectors of an edge once
	listTime     = 36 * time.Microsecond // learning a list of a relation once
)

// onAll returns the time of work that takes a time on two processors and is divided among all.
func onAll(t time.Duration) time.Duration { return 2 * t / time.Duration(runtime.GOMAXPROCS(0)) }

// EdgePhases returns the phases of TrainEdges, with the time that they may take.
func (m *Model) EdgePhases(g Graph, plan EdgePlan) []Phase {
	edges, loops := countEdges(g)
	switch {
	case !m.Learns():
		return nil
	case m.belief != nil && m.belief.ranker != nil:
		return m.rankerPhases(g, plan, edges-loops)
	}
	plan.fill(edgeDefaults())
	links := min(plan.Samples, edges-loops)
	samples := links * (1 + plan.Negatives)
	learning := m.LogPhases(plan.Epochs)
	learning[0].Each = time.Duration(samples) * sampleTime
	return append([]Phase{
		{Name: phaseReading, Steps: links, Each: time.Duration(1+plan.Negatives) * pairTime, Work: workGraph},
	}, learning...)
}

// rankerPhases is EdgePhases for the default.
func (m *Model) rankerPhases(g Graph, plan EdgePlan, edges int) (all []Phase) {
	plan.Again = plan.Again && m.belief.rankerTrained
	if m.config.rankerPlan(g, &plan) != nil { // TrainEdges returns the error
		return nil
	}
	links := min(plan.Samples, edges)
	if !g.Directed() {
		links = min(plan.Samples, 2*links)
	}
	links += links / newcomerEvery * 2
	n := g.NumNodes()
	if rank, _ := m.config.vectorRank(n, plan.Memory); rank > 0 {
		steps := nn.KrylovVectors(rank)
		each := n*steps*min(steps, n)/30 + 5*countArcs(g)*steps + 2*steps*steps*min(steps, n)
		all = append(all, Phase{Name: phaseVectors, Steps: plan.Folds + 1, Each: time.Duration(each), Work: workAlgebra})
	}
	choices := 9 * links / 4 // some links make fewer than three
	return append(all,
		Phase{Name: phaseReading, Steps: links, Each: onAll(linkTime), Work: workGraph},
		Phase{Name: phaseLearning, Steps: rankerMembers * plan.Epochs, Each: onAll(time.Duration(choices) * choiceTime), Work: workAlgebra},
	)
}

// LogPhases returns the phases of TrainLog.
func (m *Model) LogPhases(epochs int) []Phase {
	if !m.Learns() {
		return nil
	}
	return []Phase{{
		Name: phaseLearning, Steps: max(1, epochs*len(m.regressors())), Each: time.Duration(m.samples().Len()) * sampleTime, Work: workAlgebra,
	}}
}

// EventPhases returns the phases of TrainEvents for a number of events.
func (m *Model) EventPhases(events int) []Phase {
	if !m.Forecasts() || events == 0 {
		return nil
	}
	return []Phase{
		{Name: phaseReplaying, Steps: events, Each: eventTime, Work: phaseReplaying},
		{Name: phaseTimes, Steps: keptPasses * min(events, keptEvents), Each: againTime, Work: workAlgebra},
		{Name: phaseWeighing, Steps: gateInTime + gateLate, Each: eventTime, Work: phaseReplaying},
	}
}
