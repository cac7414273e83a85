package db

import (
	"errors"
	"maps"
	"slices"

	"kith/index"
)

// A version that was trained on the edges of the graph is trained again, in the background, when a tenth of the edges has changed
// since, and enough edges for the work to be worth it. It takes the place of the version before if it finds links better.
const minRefresh = 1000

// deployAhead deploys a version only if its comparison says that it is better, and stores no other.
const deployAhead DeployRule = "ahead"

// refreshIfDue begins to train a model again in the background. The writer calls it.
func (db *DB) refreshIfDue(s *snapshot) {
	if db.opts.NoRefresh || len(s.models) == 0 {
		return
	}
	name := db.refreshDue(s)
	if name == "" {
		return
	}
	select {
	case <-db.refresher:
	default:
		return // one is under way
	}
	db.refreshed[name] = trainedOn{s.models[name].Version, s.Meta.Version, s.Meta.Edges}
	db.background.Add(1)
	go func() {
		defer db.background.Done()
		defer func() { db.refresher <- struct{}{} }()
		db.refresh(name)
	}()
}

// refresh trains a model again until the database is closed.
func (db *DB) refresh(name string) {
	made, err := db.Train(db.running, Training{Model: name, Deploy: deployAhead})
	switch log := db.opts.Logger; {
	case errors.Is(err, ErrClosed), errors.Is(err, ErrNoModel), db.running.Err() != nil:
	case err != nil:
		log.Error("refresh", "model", name, "err", err)
	case made.Held:
		log.Info("refresh", "model", name, "deployed", false, "comparison", made.Comparison.String())
	default:
		log.Info("refresh", "model", name, "deployed", true, "version", made.Version, "comparison", made.Comparison.String())
	}
}

// trainedOn is the graph that a version of a model was trained on.
type trainedOn struct {
	number int    // of the version of the model
	graph  uint64 // version of the graph
	edges  int64
}

// refreshDue returns the name of a model that is to be trained again, "" if there is none. The writer calls it.
func (db *DB) refreshDue(s *snapshot) string {
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		m := s.models[name]
		v, _ := m.find(m.Version)
		if m.Frozen || v.From != Edges && v.From != Refreshed || v.Graph == 0 {
			continue
		}
		on := trainedOn{v.Number, v.Graph, v.Edges}
		tried, ok := db.refreshed[name]
		if ok = ok && tried.number == v.Number; ok {
			on = tried
		}
		if m.outdated && !ok || on.changes(s.Snapshot) >= max(minRefresh, on.edges/10) {
			return name
		}
	}
	return ""
}

// changes is how many edges have changed since, or at least the difference in their number where the log does not reach back.
func (t trainedOn) changes(s *index.Snapshot) int64 {
	n := s.Meta.Edges - t.edges
	changes, _ := s.Log.Since(t.graph)
	return max(n, -n, int64(len(changes)))
}
