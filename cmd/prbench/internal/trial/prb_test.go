package trial_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sbinet/npyio"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

var full = flag.Bool("full", false, "play 2,000 rounds of grqc with three seeds and log the table")

// matrix reads a two-dimensional .npy file in C order.
func matrix[T int32 | float64](t *testing.T, path string) (rows, cols int, data []T) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("shared/data is not there: %v", err)
	}
	r, err := npyio.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(&data); err != nil {
		t.Fatal(err)
	}
	shape := r.Header.Descr.Shape
	return shape[0], shape[1], data
}

// grqc reads the data published by the authors of the PRB paper.
func grqc(t *testing.T) *trial.Data {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "prb", "grqc")
	n, cols, entries := matrix[int32](t, filepath.Join(dir, "entry.npy"))
	var links [][2]trial.ID
	for i := range n {
		if e := entries[i*cols:]; e[2] == 1 {
			links = append(links, [2]trial.ID{trial.ID(e[0]), trial.ID(e[1])})
		}
	}
	nodes, length, numbers := matrix[float64](t, filepath.Join(dir, "features.npy"))
	features := make([][]float32, nodes)
	for i := range features {
		for _, v := range numbers[i*length : (i+1)*length] {
			features[i] = append(features[i], float32(v))
		}
	}
	d, err := trial.NewData(t.Context(), nodes, links, features)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// entrants returns an entrant in memory for each spec. "prb/paper" is policy prb with preset paper.
func entrants(d *trial.Data, features int, specs ...model.Spec) (all []trial.Entrant) {
	for _, s := range specs {
		name := s.Policy
		if s.Preset != "" {
			name += "/" + s.Preset
		}
		all = append(all, trial.Entrant{Name: name, New: func(seed uint64, known []trial.Pair) (trial.Player, error) {
			spec := s
			spec.FeatureLen, spec.Seed = features, seed
			m, err := trial.NewModel(spec)
			if err != nil {
				return nil, err
			}
			return trial.NewPlayer(m, d, known), nil
		}})
	}
	return all
}

// The default has less regret than the policies that do not learn. The test plays a part of the
// rounds, and all of them with -full.
func TestOnlineGrQc(t *testing.T) {
	if testing.Short() {
		t.Skip("plays on real data")
	}
	d := grqc(t)
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 400}
	seeds := []uint64{1}
	specs := []model.Spec{{Policy: "default"}, {Policy: "common_neighbors"}, {Policy: "ppr"}}
	if *full {
		tr.Rounds, seeds = 2000, []uint64{1, 2, 3}
		specs = append(specs, model.Spec{Policy: "prb", Preset: "default"}, model.Spec{Policy: "neural_greedy", Preset: "default"})
		for _, policy := range []string{"prb", "prb_greedy", "ee_net", "neural_greedy"} {
			specs = append(specs, model.Spec{Policy: policy, Preset: "paper"})
		}
	}
	r, err := tr.Play(context.Background(), entrants(d, len(d.Features[0]), specs...), seeds...)
	if err != nil {
		t.Fatal(err)
	}
	all := r.Summaries()
	for _, s := range all {
		ms := s.Time.Seconds() * 1e3 / float64(r.Rounds)
		t.Logf("%-24s %6.0f ± %3.0f in %d rounds, %.2f ms a round", s.Name, s.Regret, s.Deviation, r.Rounds, ms)
	}
	for _, s := range all[1:3] {
		if all[0].Regret >= s.Regret {
			t.Errorf("regret of default %.0f, of %s %.0f", all[0].Regret, s.Name, s.Regret)
		}
	}
}
