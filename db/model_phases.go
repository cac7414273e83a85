package db

import (
	"cmp"
	"time"

	"kith/model"
)

// Phases of a training, besides those of package model.
const (
	phaseHide       = "hiding links for the comparison"
	phaseModels     = "comparing with other models"
	phaseHeuristics = "comparing with heuristics"
)

// Times of work in these phases, about.
const (
	hideTime      = 50 * time.Nanosecond   // for each entry of a row of the graph
	askTime       = 600 * time.Microsecond // for a question to a model
	heuristicTime = 150 * time.Microsecond // for a question to a heuristic
)

// logEpochs is the number of passes of a training from outcomes.
const logEpochs = 10

// phases returns the phases of fit.
func (tx *Tx) phases(m *model.Model, t *TrainOptions) []model.Phase {
	if t.Log {
		return m.LogPhases(cmp.Or(t.Plan.Epochs, logEpochs))
	}
	plan := t.Plan
	plan.Memory = cmp.Or(plan.Memory, tx.db.opts.memory(workPart))
	return append(m.EdgePhases(tx.snap.Graph, plan), m.EventPhases(min(len(tx.snap.Events.All()), trainedEvents))...)
}

// phasesWithComparison returns the phases of trainAndCompare.
func (tx *Tx) phasesWithComparison(l *learner, t *TrainOptions) []model.Phase {
	all := tx.phases(l.model, t)
	if t.Log {
		return all
	}
	models := 2
	if before := tx.snap.models[l.name]; before != nil && before.info.Trained {
		models++
	}
	return append([]model.Phase{{Name: phaseHide, Steps: 1, Each: time.Duration(tx.snap.Graph.Arcs()) * hideTime}}, append(all,
		model.Phase{Name: phaseModels, Steps: models * validationSources, Each: askTime},
		model.Phase{Name: phaseHeuristics, Steps: len(tx.comparedHeuristics()) * validationSources, Each: heuristicTime},
	)...)
}
