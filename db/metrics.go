package db

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Var returns the figures of the database as an expvar.Var in JSON:
//
//	expvar.Publish("kith", g.Var())
//
// The value is null once the database is closed.
func (db *DB) Var() fmt.Stringer { return statsVar{db} }

type statsVar struct{ db *DB }

// String implements expvar.Var.
func (v statsVar) String() string {
	s, err := v.db.Stats()
	if err != nil {
		return "null"
	}
	b, err := json.Marshal(s)
	if err != nil {
		return "null"
	}
	return string(b)
}

// WritePrometheus writes the figures in Prometheus text format.
func (s *Stats) WritePrometheus(w io.Writer) error {
	var b bytes.Buffer
	for _, m := range s.metrics() {
		fmt.Fprintf(&b, "# HELP kith_%s %s\n# TYPE kith_%s %s\nkith_%s %v\n", m.name, m.help, m.name, m.kind(), m.name, m.value)
	}
	b.WriteString("# HELP kith_label_nodes Nodes of a label.\n# TYPE kith_label_nodes gauge\n")
	for _, l := range s.Labels {
		fmt.Fprintf(&b, "kith_label_nodes{label=\"%s\"} %d\n", escape(l.Name), l.Nodes)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// escape escapes the value of a Prometheus label.
func escape(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) }

// metric is a Prometheus metric.
type metric struct {
	name, help string
	value      any // a number
}

func (m metric) kind() string {
	if strings.HasSuffix(m.name, "_total") {
		return "counter"
	}
	return "gauge"
}

func (s *Stats) metrics() []metric {
	c, l := &s.Cache, &s.Life
	return []metric{
		{"nodes", "Nodes of the graph.", s.Nodes},
		{"edges", "Edges of the graph, loops included.", s.Edges},
		{"loops", "Edges of a node to itself.", s.Loops},
		{"graph_version", "Version of the graph: the commits so far.", s.Version},
		{"models", "Models.", s.Models},
		{"decisions_total", "Decisions made so far.", s.Decisions},
		{"graph_bytes", "Memory of the graph, its keys and feature vectors.", s.GraphBytes},
		{"model_bytes", "Memory of the models.", s.ModelBytes},
		{"disk_bytes", "Space that the files take on the disk.", s.DiskBytes},
		{"cache_states", "PageRank states in the cache.", c.Entries},
		{"cache_bytes", "Memory of the cached states.", c.Bytes},
		{"cache_budget_bytes", "Memory that cached states may take.", c.Budget},
		{"cache_hits_total", "Cached states that were up to date.", c.Hits},
		{"cache_catchups_total", "Cached states that were repaired.", c.CatchUps},
		{"cache_loads_total", "States taken from the store.", c.Loads},
		{"cache_computed_total", "States computed afresh.", c.Computed},
		{"cache_evictions_total", "States that were evicted.", c.Evictions},
		{"commits_total", "Commits since the database was opened.", l.Commits},
		{"syncs_total", "Syncs since the database was opened.", l.Syncs},
		{"sync_seconds_total", "Time that they took.", l.SyncTime.Seconds()},
		{"checkpoints_total", "Models stored since the database was opened.", l.Checkpoints},
		{"compactions_total", "Compactions since the database was opened.", l.Compactions},
		{"transactions_open", "Transactions that are open.", l.Transactions},
		{"opened_timestamp_seconds", "When the database was opened.", float64(l.Opened.UnixMilli()) / 1000},
	}
}
