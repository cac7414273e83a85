package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kith/cmd/internal/ogb"
	"kith/model"
	"kith/model/trial"
)

// offlineRun is the result of one policy on one split.
type offlineRun struct {
	Policy      string
	Split       int
	Seed        uint64
	Train       float64 // seconds
	Score       float64 // seconds
	Valid, Test offlineScore
}

// offlineScore measures how well positives rank above negatives.
type offlineScore struct {
	Hits map[int]float64 // by K
	MRR  float64
	AUC  float64
}

func hitsAt() []int { return []int{20, 50, 100} }

// one trains and evaluates one policy.
func (p *offlinePlan) one(ctx context.Context, d *heldOut, policy string, seed uint64) (r offlineRun, err error) {
	m, err := p.settings(policy, d.featureLen(), seed).model()
	if err != nil {
		return r, err
	}
	r = offlineRun{Policy: policy, Seed: seed}
	g := d.graph(d.train)
	began := time.Now()
	if err := p.train(ctx, d, g, m, seed); err != nil {
		return r, err
	}
	r.Train = time.Since(began).Seconds()
	began = time.Now()
	if r.Valid, err = score(ctx, m.Scorer(), d.world(g), d.valid); err != nil {
		return r, err
	}
	if p.validEdges {
		g = d.graph(d.train, d.valid.Links)
		if m.Policy() == "default" { // default depends on what it computed from the training graph; the other policies read the current one
			if err := p.train(ctx, d, g, m, seed); err != nil {
				return r, err
			}
		}
	}
	r.Test, err = score(ctx, m.Scorer(), d.world(g), d.test)
	r.Score = time.Since(began).Seconds()
	return r, err
}

// train trains a model on the training edges. The default, and policies that support nothing else, are trained as
// TRAIN does. Others are trained round by round: each round has a node to serve and candidates, of which those with a
// training edge are links.
func (p *offlinePlan) train(ctx context.Context, d *heldOut, g *trial.Graph, m *model.Model, seed uint64) error {
	switch {
	case m.Fitted() || m.Policy() == "default":
		return m.TrainEdges(ctx, g, model.EdgePlan{}, func(hidden [][2]model.ID) (model.World, error) {
			return d.world(g.Without(hidden)), nil
		})
	case !m.Learns():
		return nil
	}
	data, err := trial.NewData(ctx, d.nodes, d.train, d.features)
	if err != nil {
		return err
	}
	t := trial.Trial{Data: data, Protocol: trial.Fresh(), Rounds: p.rounds}
	_, err = t.Play(ctx, []trial.Entrant{{
		Name: m.Policy(),
		New:  func(_ uint64, known []trial.Pair) (trial.Player, error) { return trial.NewPlayer(m, data, known), nil },
	}}, seed)
	return err
}

// score scores all pairs of a part. Pairs with the same first node are candidates of one round.
func score(ctx context.Context, s *model.Scorer, w model.World, part ogb.Part) (offlineScore, error) {
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
		scores, err := s.Score(ctx, w, pairs)
		if err != nil {
			return offlineScore{}, err
		}
		for i, n := range numbers {
			values[n] = scores[i].Score
		}
	}
	return judge(values[:len(part.Links)], values[len(part.Links):]), nil
}

func judge(positives, negatives []float64) offlineScore {
	s := offlineScore{
		Hits: make(map[int]float64), MRR: trial.MRR(positives, negatives), AUC: trial.AUC(positives, negatives),
	}
	for _, k := range hitsAt() {
		s.Hits[k] = trial.HitsAt(k, positives, negatives)
	}
	return s
}

// offlineResults holds all results of prbench offline.
type offlineResults struct {
	Dataset    string
	K          int  // K of the data set's own Hits@K
	ValidEdges bool // validation edges were input when the test part was ranked
	Runs       []offlineRun
}

// table returns a table with a row for each policy: means and standard deviations over splits and seeds, in percent.
func (r *offlineResults) table() string {
	ks := append([]int{r.K}, slices.DeleteFunc(hitsAt(), func(k int) bool { return k == r.K })...)
	heading := []string{r.Dataset}
	for _, k := range ks {
		heading = append(heading, fmt.Sprintf("test Hits@%d", k), fmt.Sprintf("valid Hits@%d", k))
	}
	heading = append(heading, "test MRR", "test AUC", "validation edges input", "training s", "runs", fmt.Sprintf("paper Hits@%d", r.K))
	var rows [][]string
	for _, runs := range grouped(r.Runs, func(o offlineRun) string { return o.Policy }) {
		rows = append(rows, r.row(runs, ks))
	}
	return markdown(heading, rows)
}

// row returns the row of the runs of one policy.
func (r *offlineResults) row(runs []offlineRun, ks []int) []string {
	cells := []string{runs[0].Policy}
	add := func(scale float64, of func(offlineRun) float64) {
		s := spreadOf(runs, func(o offlineRun) float64 { return scale * of(o) })
		cell := fmt.Sprintf("%.2f", s.Mean)
		if len(runs) > 1 {
			cell += fmt.Sprintf(" ± %.2f", s.SD)
		}
		cells = append(cells, cell)
	}
	for _, k := range ks {
		add(100, func(o offlineRun) float64 { return o.Test.Hits[k] })
		add(100, func(o offlineRun) float64 { return o.Valid.Hits[k] })
	}
	add(100, func(o offlineRun) float64 { return o.Test.MRR })
	add(100, func(o offlineRun) float64 { return o.Test.AUC })
	cells = append(cells, map[bool]string{true: "yes", false: "no"}[r.ValidEdges])
	add(1, func(o offlineRun) float64 { return o.Train })
	paper := ""
	b, _ := rowOf(benchmarks(), r.Dataset) // a data set without figures prints none
	if v, known := b.paper[runs[0].Policy]; known {
		paper = fmt.Sprintf("%.2f", v)
	}
	return append(cells, strconv.Itoa(len(runs)), paper)
}
