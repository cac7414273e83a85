package trial

import "kith/model"

// NewEntrant returns an entrant that plays a model in memory, made from the spec and the seed of the run. It has the
// policy's name and knows the share of links that model.Known returns for the policy.
func NewEntrant(d *Data, spec model.Spec) Entrant {
	return Entrant{Name: spec.Policy, Known: model.Known(spec.Policy), New: func(seed uint64, known []Pair) (Player, error) {
		spec.Seed = seed
		m, err := model.New(spec)
		if err != nil {
			return nil, err
		}
		return NewPlayer(m, d, known), nil
	}}
}
