package db

import (
	"context"

	"kith/index"
)

// Stats are figures of a database at one version.
type Stats struct {
	Nodes         int64            `json:"nodes"`
	Edges         int64            `json:"edges"`
	Loops         int64            `json:"loops"`
	Directed      bool             `json:"directed"`
	Labels        []LabelStats     `json:"labels"`
	Version       uint64           `json:"graph_version"` // number of commits so far
	Models        int              `json:"models"`
	ModelBytes    int64            `json:"model_bytes"` // memory of the models and of recently used versions
	Alpha         float64          `json:"alpha"`
	Epsilon       float64          `json:"epsilon"`
	GraphBytes    int64            `json:"graph_bytes"`    // memory of the graph, its keys and feature vectors
	LoggedChanges int              `json:"logged_changes"` // number of edge changes over which cached states can be repaired
	Decisions     uint64           `json:"decisions"`      // number of decisions made so far
	DiskBytes     int64            `json:"disk_bytes"`     // size of the files; 0 if in memory, or if the system does not report it
	Cache         index.CacheStats `json:"cache"`
	Life          Life             `json:"life"` // since the database was opened
}

// LabelStats counts the nodes of one label. An empty Name means the nodes without a label.
type LabelStats struct {
	Name     string `json:"label"`
	Nodes    int64  `json:"nodes"`
	Features int    `json:"features"` // length of their feature vectors
}

// Labels returns the names of the labels.
func (tx *Tx) Labels() []string { return labelNames(tx.view()) }

func labelNames(s *index.Snapshot) (names []string) {
	for _, l := range s.Meta.Labels[1:] { // the first is "no label"
		names = append(names, l.Name)
	}
	return names
}

// Stats returns the figures at the transaction's version. It counts the nodes of each label.
func (tx *Tx) Stats() Stats {
	v := tx.view()
	m := &v.Meta
	s := Stats{
		Nodes: m.Live, Edges: m.Edges, Loops: m.Loops, Directed: m.Directed, Version: m.Version, Models: len(tx.snap.models),
		Alpha: m.Alpha, Epsilon: m.Epsilon, GraphBytes: v.Bytes(), LoggedChanges: v.Log.Len(), Cache: tx.db.states.Stats(),
		Decisions: m.Decisions, DiskBytes: tx.db.store.Bytes(), Life: tx.db.life.stats(tx.db.pins.open()),
	}
	for _, m := range tx.snap.models {
		s.ModelBytes += int64(m.bytes)
	}
	s.ModelBytes += int64(tx.db.versions.size())
	for i, n := range v.CountLabels() {
		s.Labels = append(s.Labels, LabelStats{m.Labels[i].Name, n, m.Labels[i].Features})
	}
	return s
}

// Stats returns the present figures. It returns ErrClosed if the database is closed. See [Tx.Stats].
func (db *DB) Stats() (s Stats, err error) {
	err = db.View(context.Background(), func(tx *Tx) error {
		s = tx.Stats()
		return nil
	})
	return s, err
}
