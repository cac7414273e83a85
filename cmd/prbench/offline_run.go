package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// offlineSettings are all parameters that determine the result of a run of prbench offline.
type offlineSettings struct {
	Data       string `json:"data"`
	DataSum    string `json:"data_sum"`
	Split      int    `json:"split"`
	Negatives  string `json:"negatives"`
	ValidEdges bool   `json:"valid_edges,omitempty"` // validation edges were input when the test part was ranked
	FeatureLen int    `json:"feature_len"`
	variant
	Rounds int    `json:"rounds,omitempty"` // rounds on the training edges, or 0
	Epochs int    `json:"epochs,omitempty"` // passes over the training edges, or 0
	Seed   uint64 `json:"seed"`
}

// The result of a run is how well it ranks.
type (
	offlineRun   = run[offlineSettings, offlineResult]
	offlineJob   = job[offlineSettings, offlineResult]
	offlineShelf = shelf[offlineSettings, offlineResult]
)

// offlineResult is the result of a policy on a split.
type offlineResult struct {
	Train float64 // seconds
	Score float64 // seconds of scoring the test part
	Valid ogb.Measures
	Test  ogb.Measures
}

func (s offlineSettings) spec() (model.Spec, error) {
	return settings{variant: s.variant, FeatureLen: s.FeatureLen, Seed: s.Seed}.spec()
}

// model returns a new model, or nil for a fitted policy.
func (s offlineSettings) model() (*model.Model, error) {
	if fitted.Is(s.Policy) {
		return nil, nil
	}
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	return trial.NewModel(spec)
}

func (s offlineSettings) data() (name, sum string) {
	return fmt.Sprintf("%s, split %d, negatives %s", s.Data, s.Split, s.Negatives), s.DataSum
}

func (s offlineSettings) name() string {
	return runName(s, s.Data, fmt.Sprint(s.Split), s.Negatives, s.Policy, fmt.Sprintf("s%d", s.Seed))
}

// title returns the player with its training and the options that differ from its preset.
func (s offlineSettings) title() string {
	text := s.variant.title()
	switch {
	case s.Rounds > 0:
		text += fmt.Sprintf(", %d rounds", s.Rounds)
	case s.Epochs > 0:
		text += fmt.Sprintf(", %d epochs", s.Epochs)
	}
	return text
}

// offlineLine describes a run in a line.
func offlineLine(r *offlineRun) string {
	s, is := r.Settings, r.Result
	return fmt.Sprintf("playing %s, split %d, negatives %s: %s, seed %d: test MRR %.2f, AUC %.2f, training %.1f s",
		s.Data, s.Split, s.Negatives, s.title(), s.Seed, 100*is.Test.MRR, 100*is.Test.AUC, is.Train)
}

// trainee returns the policy before its training.
func (s offlineSettings) trainee() (t trainee, err error) {
	if fitted.Is(s.Policy) {
		t.rival, err = fitted.New(s.Policy, s.FeatureLen, s.Seed, s.Options)
		return t, err
	}
	t.model, err = s.model()
	return t, err
}

// play trains and evaluates one policy.
func (s offlineSettings) play(ctx context.Context, d *heldOut) (r offlineResult, err error) {
	if s.Negatives == "heart" {
		if err := d.drawHeart(ctx); err != nil {
			return r, err
		}
	}
	t, err := s.trainee()
	if err != nil {
		return r, err
	}
	train := func(g *trial.Graph) error {
		began := time.Now()
		defer func() { r.Train += time.Since(began).Seconds() }()
		return s.train(ctx, d, g, &t)
	}
	g := ogb.GraphOf(d.nodes, d.Train)
	if err := train(g); err != nil {
		return r, err
	}
	if r.Valid, err = score(ctx, t, d.world(g), d.Valid); err != nil {
		return r, err
	}
	if s.ValidEdges {
		g = ogb.GraphOf(d.nodes, d.Train, d.Valid.Links)
		if s.Policy == "default" { // the default depends on what it computed from the training graph; other policies read the current graph
			if err := train(g); err != nil {
				return r, err
			}
		}
	}
	began := time.Now()
	r.Test, err = score(ctx, t, d.world(g), d.Test)
	r.Score = time.Since(began).Seconds()
	return r, err
}

// size returns the units of progress of a run: about the seconds that it takes on one core.
func (s offlineSettings) size(d *heldOut) int {
	switch {
	case s.Rounds > 0:
		return 1 + s.Rounds/400
	case s.Epochs > 0:
		return 1 + s.Epochs*len(d.Train)/4000
	case s.Preset != "":
		return 20
	}
	return 1
}

// train trains a model on the training edges: as TRAIN does, or by passes over all edges, or round
// by round.
func (s offlineSettings) train(ctx context.Context, d *heldOut, g *trial.Graph, t *trainee) error {
	without := func(hidden [][2]model.ID) (model.World, error) { return d.world(g.Without(hidden)), nil }
	switch {
	case s.Rounds > 0:
		return s.rounds(ctx, d, t)
	case s.Epochs > 0:
		return t.trainEdges(ctx, g, model.EdgePlan{Samples: len(d.Train), Negatives: 1, Epochs: s.Epochs}, without)
	case t.learns():
		return t.trainEdges(ctx, g, model.EdgePlan{}, without)
	}
	return nil
}

// rounds plays rounds of protocol paper with the training edges as truth (section 5.2). Links that
// were won stay among the candidates. If they were left out, as in protocol fresh, the close pairs
// that remain would be pairs without a link, and a policy that reads the structure of the graph
// would learn to avoid close pairs.
func (s offlineSettings) rounds(ctx context.Context, d *heldOut, t *trainee) error {
	data, err := trial.NewData(ctx, d.nodes, d.Train, d.features)
	if err != nil {
		return err
	}
	entrant := trial.Entrant{
		Name: s.Policy, Known: trial.KnownEdges(s.Policy),
		New: func(_ uint64, known []trial.Pair) (trial.Player, error) {
			return trial.NewPlayer(t.model, data, known), nil
		},
	}
	if s.Preset == "released" {
		if entrant, err = s.released(data, t); err != nil {
			return err
		}
	}
	game := trial.Trial{Data: data, Protocol: trial.Paper(), Rounds: s.Rounds}
	_, err = game.Play(ctx, []trial.Entrant{entrant}, s.Seed)
	return err
}

// released returns an entrant with the networks of preset released. Its player becomes the player
// of t.
func (s offlineSettings) released(data *trial.Data, t *trainee) (trial.Entrant, error) {
	entry, err := settings{variant: s.variant, FeatureLen: s.FeatureLen, Seed: s.Seed}.entry()
	entrant := entry.Entrant(data)
	create := entrant.New
	entrant.New = func(seed uint64, known []trial.Pair) (trial.Player, error) {
		p, err := create(seed, known)
		if err == nil {
			t.player = p.(*trial.ReleasedPlayer)
		}
		return p, err
	}
	return entrant, err
}

// score scores all pairs of a part. Pairs with the same first node are candidates of the same
// round.
func score(ctx context.Context, t trainee, w model.World, part ogb.Part) (ogb.Measures, error) {
	all := slices.Concat(part.Links, part.Others)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(all[i][0], all[j][0]) })
	values := make([]float64, len(all))
	for _, numbers := range grouped(order, func(i int) model.ID { return all[i][0] }) {
		var pairs []model.Pair
		for _, n := range numbers {
			pairs = append(pairs, model.Pair{Source: all[n][0], Target: all[n][1]})
		}
		scores, err := t.scores(ctx, w, pairs)
		if err != nil {
			return ogb.Measures{}, err
		}
		for i, n := range numbers {
			values[n] = scores[i]
		}
	}
	return part.Measure(values), nil
}
