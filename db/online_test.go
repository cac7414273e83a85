package db_test

import (
	"context"
	"slices"
	"testing"

	"kith/db"
	"kith/db/edgelist"
	"kith/model"
	"kith/model/trial"
)

// player takes part in a trial through the public API of a database. If the database is on the
// disk, it is reopened halfway.
type player struct {
	t       testing.TB
	g       *db.DB
	path    string // "" means in memory
	rounds  int
	restart int
}

func newPlayer(t testing.TB, d *trial.Data, spec model.Spec, path string, restart int) *player {
	p := &player{t: t, path: path, restart: restart}
	p.open()
	for from := 0; from < d.Nodes; from += 1000 {
		update(t, p.g, func(tx *db.Tx) error {
			for u := from; u < min(from+1000, d.Nodes); u++ {
				n := db.Node{Key: db.Int(int64(u))}
				if d.Features != nil {
					n.Features = d.Features[u]
				}
				if err := tx.AddNode(n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, p.g.CreateModel(context.Background(), "m", spec))
	return p
}

func (p *player) open() {
	p.g = open(p.t, p.path, &db.Options{InMemory: p.path == "", NoSync: p.path != ""})
}

// Choose returns the best candidate, or the first of equal ones.
func (p *player) Choose(ctx context.Context, arms []trial.Pair) (int, error) {
	if p.rounds++; p.path != "" && p.rounds == p.restart {
		must(p.t, p.g.Close())
		p.open()
	}
	r, err := p.g.Predict(ctx, db.Prediction{For: arms[0].Source, Among: db.Keys(keys(arms)...), Model: "m", Top: -1, NoCache: true})
	if err != nil {
		return 0, err
	}
	best, place := r.Links[0].Score, len(arms)
	for _, l := range r.Links {
		if l.Score == best {
			k, _ := l.Target.Int()
			place = min(place, slices.Index(arms, trial.Pair{Source: arms[0].Source, Target: trial.ID(k)}))
		}
	}
	return place, nil
}

func (p *player) Learn(ctx context.Context, arms []trial.Pair, chosen int, reward float64) error {
	return p.g.Observe(ctx, db.Observation{
		Source: arms[chosen].Source, Target: arms[chosen].Target, Model: "m", Among: db.Keys(keys(arms)...), Reward: reward, Insert: true,
	})
}

func keys(arms []trial.Pair) []any {
	all := make([]any, len(arms))
	for i, a := range arms {
		all[i] = a.Target
	}
	return all
}

// play lets policies play on the same draws, each in its own database.
func play(t *testing.T, d *trial.Data, rounds int, entrants ...trial.Entrant) trial.Result {
	t.Helper()
	run := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: rounds}
	r, err := run.Play(context.Background(), entrants, 1)
	must(t, err)
	for _, c := range r.Curves {
		t.Logf("%-20s regret %d of %d live rounds", c.Name, c.Final(), c.Live)
	}
	return r
}

func entrant(t *testing.T, name string, d *trial.Data, spec model.Spec, path string, restart int) trial.Entrant {
	return trial.Entrant{Name: name, New: func(seed uint64, _ []trial.Pair) (trial.Player, error) {
		spec.Seed = seed
		p := newPlayer(t, d, spec, path, restart)
		t.Cleanup(func() { must(t, p.g.Check(context.Background()), p.g.Close()) })
		return p, nil
	}}
}

// online plays the default policy, in memory and with a restart, against policies that do not
// learn.
func online(t *testing.T, d *trial.Data, rounds int) {
	t.Helper()
	r := play(t, d, rounds,
		entrant(t, "default", d, model.Spec{}, "", 0),
		entrant(t, "default, restarted", d, model.Spec{}, place(t), rounds/2),
		entrant(t, "common_neighbors", d, model.Spec{Policy: "common_neighbors"}, "", 0),
		entrant(t, "ppr", d, model.Spec{Policy: "ppr"}, "", 0))
	learned := r.Curves[0]
	if !slices.Equal(r.Curves[1].Regret, learned.Regret) {
		t.Error("over a restart it took another course")
	}
	for _, c := range r.Curves[2:] {
		if learned.Final() >= c.Final() {
			t.Errorf("default ends with regret %d, %s with %d", learned.Final(), c.Name, c.Final())
		}
	}
}

// In an online run on communities the default learns, and a second run with a restart gives the
// same result.
func TestOnline(t *testing.T) {
	t.Parallel()
	d, err := trial.Generate(trial.Communities{Nodes: 200, Groups: 5, Degree: 12, Inside: 0.9, FeatureLen: 8, Noise: 0.3}, 1)
	must(t, err)
	online(t, d, size(300, 600, 600))
}

// TestOnlineGrQc is TestOnline on the collaboration network of the PRB authors: on a slice of it,
// or with -times 7 on all of it.
func TestOnlineGrQc(t *testing.T) {
	t.Parallel()
	slow(t)
	read := func(name string) (rows [][]float32) {
		list, err := edgelist.NewFeatures(shared(t, name), edgelist.Options{Format: edgelist.NPY})
		must(t, err)
		for n, err := range list.All() {
			must(t, err)
			rows = append(rows, n.Features)
		}
		return rows
	}
	features := read("prb/grqc/features.npy")
	var links [][2]trial.ID
	for _, row := range read("prb/grqc/entry.npy") {
		if row[2] == 1 {
			links = append(links, [2]trial.ID{trial.ID(row[0]), trial.ID(row[1])})
		}
	}
	d, err := trial.NewData(t.Context(), len(features), links, features)
	must(t, err)
	online(t, d, min(300**times, 2000))
}
