package model

import (
	"runtime"
	"time"

	"kith/model/nn"
)

// Kinds of work in the phases of a training, which are slow and fast for different reasons.
const (
	workAlgebra = "algebra" // of matrices and networks
	workGraph   = "graph"   // depends on the structure of the graph
)

// Times of work on two processors, about. They were measured in trainings on five graphs, and
// differ by a factor of 2 between graphs.
const (
	linkTime   = 1800 * time.Microsecond // reading a link and its candidates, and the search for these
	choiceTime = 18 * time.Microsecond   // learning a choice once
	pairTime   = 3 * time.Microsecond    // reading the columns of a pair
	sampleTime = 2 * time.Microsecond    // learning a sample once
	eventTime  = 2200 * time.Microsecond // reading and learning an event
	againTime  = 20 * time.Microsecond   // learning an event once more
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
		{Name: Reading, Steps: links, Each: time.Duration(1+plan.Negatives) * pairTime, Work: workGraph},
	}, learning...)
}

// rankerPhases is EdgePhases for the default.
func (m *Model) rankerPhases(g Graph, plan EdgePlan, edges int) (all []Phase) {
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
		steps := 2*rank + nn.LanczosExtra
		each := n*steps*min(steps, n) + 4*countArcs(g)*steps
		all = append(all, Phase{Name: NodeVectors, Steps: plan.Folds + 1, Each: time.Duration(each), Work: workAlgebra})
	}
	choices := 9 * links / 4 // some links make fewer than three
	return append(all,
		Phase{Name: Reading, Steps: links, Each: onAll(linkTime), Work: workGraph},
		Phase{Name: Learning, Steps: rankerMembers * plan.Epochs, Each: onAll(time.Duration(choices) * choiceTime), Work: workAlgebra},
	)
}

// LogPhases returns the phases of TrainLog.
func (m *Model) LogPhases(epochs int) []Phase {
	if !m.Learns() {
		return nil
	}
	return []Phase{{
		Name: Learning, Steps: max(1, epochs*len(m.regressors())), Each: time.Duration(m.samples().Len()) * sampleTime, Work: workAlgebra,
	}}
}

// EventPhases returns the phases of TrainEvents for a number of events.
func (m *Model) EventPhases(events int) []Phase {
	if !m.Forecasts() || events == 0 {
		return nil
	}
	return []Phase{
		{Name: Replaying, Steps: events, Each: eventTime, Work: Replaying},
		{Name: LearningTimes, Steps: keptPasses * min(events, keptEvents), Each: againTime, Work: workAlgebra},
		{Name: WeighingTimes, Steps: gateInTime + gateLate, Each: eventTime, Work: Replaying},
	}
}
