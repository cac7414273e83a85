package trial_test

import (
	"context"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// Policies play with the networks of preset released, which differ from those of the paper.
// Policies without networks, or with a bonus, have no such preset.
func TestReleasedPlays(t *testing.T) {
	t.Parallel()
	d := communities(t, 4)
	final := map[string]int{}
	for _, policy := range []string{"prb", "prb_greedy", "ee_net", "neural_ucb", "default"} {
		for _, preset := range []string{"paper", "released"} {
			spec, err := trial.WithPreset(model.Spec{Policy: policy, FeatureLen: 4}, preset)
			if err == nil {
				err = spec.Set("width", 12)
			}
			if policy == "default" {
				spec, err = trial.WithPreset(model.Spec{Policy: policy, FeatureLen: 4}, preset)
			}
			if err != nil {
				t.Fatal(err)
			}
			tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 120}
			r, err := tr.Play(context.Background(), []trial.Entrant{trial.Entry{Spec: spec, Released: preset == "released"}.Entrant(d)}, 1)
			if refused := preset == "released" && (policy == "neural_ucb" || policy == "default"); (err != nil) != refused {
				t.Fatalf("%s/%s: %v", policy, preset, err)
			}
			if err == nil {
				final[policy+"/"+preset] = r.Curves[0].Final()
			}
		}
	}
	if final["prb/paper"] == final["prb/released"] && final["ee_net/paper"] == final["ee_net/released"] {
		t.Errorf("regrets %v", final)
	}
}
