package db

import (
	"errors"
	"maps"
	"slices"

	"kith/index"
)

// A version that was trained on the edges of the graph is trained again in the background when a tenth of the edges,
// and at least minRefresh, have changed since. The new version replaces it if it finds links better.
const minRefresh = 1000

// deployAhead deploys a version only if its comparison says that it is better, and otherwise drops it.
const deployAhead DeployRule = "ahead"

// refreshIfDue starts training a model again in the background if that is due. The writer calls it.
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
		return // one is running
	}
	db.refreshed[name] = trainedOn{s.models[name].Version, s.Meta.Version, s.Meta.Edges}
	db.background.Add(1)
	go func() {
		defer db.background.Done()
		defer func() { db.refresher <- struct{}{} }()
		db.refresh(name)
	}()
}

// refresh trains a model again. It ends when the database is closed.
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

// trainedOn identifies the graph that a version of a model was trained on.
type trainedOn struct {
	number int    // number of the model's version
	graph  uint64 // version of the graph
	edges  int64
}

// refreshDue returns the name of a model to train again, or "". The writer calls it.
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

// changes returns the number of edges that have changed since or, if the log does not reach back that far, at least the
// difference of the numbers of edges.
func (t trainedOn) changes(s *index.Snapshot) int64 {
	n := s.Meta.Edges - t.edges
	changes, _ := s.Log.Since(t.graph)
	return max(n, -n, int64(len(changes)))
}
