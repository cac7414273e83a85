package db

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"kith/model"
)

// At most one model answers requests that name no model; index.Meta stores its name. If there is none, the
// first model to be trained becomes it. Deploy selects another, and DropModel removes it. While the deployed version of
// that model is untrained, the learned start answers.

// model returns the named model. For "" it returns the model that answers requests without a name, or nil if the
// learned start answers them. A heuristic is returned as a model of version 0.
func (tx *Tx) model(name string) (*served, error) {
	if slices.Contains(Heuristics(), name) {
		return tx.heuristic(name)
	}
	if name != "" {
		if m := tx.snap.models[name]; m != nil {
			return m, nil
		}
		return nil, noModel(name, tx.snap, Heuristics()...)
	}
	if m := tx.snap.models[tx.snap.Meta.Model]; m != nil && m.trained {
		return m, nil
	}
	return nil, nil
}

func (tx *Tx) heuristic(name string) (*served, error) {
	m, err := newModel(model.Spec{Policy: name}, tx.snap.Snapshot)
	if err != nil {
		return nil, err
	}
	return (&learner{name: name, model: m}).serve(), nil
}

// someModel is model for requests that need a model: it returns ErrNoModel instead of nil.
func (tx *Tx) someModel(name string) (*served, error) {
	m, err := tx.model(name)
	if m == nil && err == nil {
		err = missing(KindModel, "", nil, ErrNoModel, "no model is named, and %s", tx.whyPrior())
	}
	return m, err
}

// answeredBy describes m as the source of an answer. A nil m is the learned start.
func (tx *Tx) answeredBy(m *served) string {
	if m == nil {
		return "the learned start: " + tx.whyPrior()
	}
	if m.Version == 0 {
		return "policy " + m.name
	}
	name := fmt.Sprintf("model %s version %d", m.name, m.Version)
	switch basis := m.scorer.Basis(); {
	case m.trained:
		return name
	case basis == m.policy:
		return name + ": " + basis
	default:
		return name + ", which is " + m.state() + ": " + basis
	}
}

// state describes a model that is not trained.
func (m *served) state() string {
	if m.outdated {
		return "untrained, as another version of kith stored it (TRAIN MODEL trains it again)"
	}
	return "untrained"
}

// whyPrior says why no model answers requests that name none.
func (tx *Tx) whyPrior() string {
	models := tx.snap.models
	if m := models[tx.snap.Meta.Model]; m != nil {
		return fmt.Sprintf("version %d of model %s, which is deployed, is %s", m.Version, m.name, m.state())
	}
	if len(models) == 0 {
		return "there is no model"
	}
	for _, m := range models {
		if m.trained {
			return "no model is deployed"
		}
	}
	return "no model is trained"
}

// Models describes every model, by name.
func (tx *Tx) Models() []ModelInfo {
	var all []ModelInfo
	for _, m := range tx.snap.models {
		all = append(all, tx.info(m))
	}
	slices.SortFunc(all, func(a, b ModelInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Model describes the model with this name or, for "", the one that answers requests without a name. It returns
// ErrNoModel if there is no such model.
func (tx *Tx) Model(name string) (ModelInfo, error) {
	m, err := tx.someModel(name)
	if err != nil {
		return ModelInfo{}, err
	}
	return tx.info(m), nil
}

func (tx *Tx) info(m *served) ModelInfo { return m.info(tx.snap.Meta.Model) }

// info describes a model. answering is the name of the model that answers requests without a name.
func (m *served) info(answering string) ModelInfo {
	before, _ := m.before()
	return ModelInfo{
		Name: m.name, Version: m.Version, Deployed: moment(m.Since), Before: before, Frozen: m.Frozen,
		Answers: m.name == answering && m.trained, Policy: m.policy, Trained: m.trained, Outdated: m.outdated, Rounds: m.rounds, Bytes: m.bytes,
		Options: m.options,
	}
}

// priors caches the learned start for feature vectors of the graph's length.
type priors struct {
	mu       sync.Mutex // protects following fields
	features int
	scorer   *model.Scorer
}

// of returns the scorer for feature vectors of the given length and caches it.
func (p *priors) of(features int) *model.Scorer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scorer == nil || p.features != features {
		p.features, p.scorer = features, model.Prior(features)
	}
	return p.scorer
}
