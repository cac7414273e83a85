package db

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kith/index"
)

// Stats are figures of a database at one version.
type Stats struct {
	Database string `json:"database"` // identity of the database, which its backups and followers share
	// Contents identifies what the database holds. Only copies of the database with the same
	// commits have the same. See also [Change] and [Backup].
	Contents      string           `json:"contents"`
	Nodes         int64            `json:"nodes"`
	Edges         int64            `json:"edges"`
	Loops         int64            `json:"loops"`
	Directed      bool             `json:"directed"`
	Labels        []LabelStats     `json:"labels"`
	Version       uint64           `json:"graph_version"`      // number of commits so far; of a follower, that it has applied
	Committed     time.Time        `json:"committed,omitzero"` // time of the last commit; of a follower, in the database that made it
	Follower      bool             `json:"follower"`           // whether the database follows another one (Options.Follower)
	Behind        uint64           `json:"behind"`             // number of versions that a follower lacks, as far as Options.Published tells
	Models        int              `json:"models"`
	ModelBytes    int64            `json:"model_bytes"` // memory of the models and of recently used versions
	Alpha         float64          `json:"alpha"`
	Epsilon       float64          `json:"epsilon"`
	GraphBytes    int64            `json:"graph_bytes"`    // memory of the graph, its keys and feature vectors
	GraphLoaded   bool             `json:"graph_loaded"`   // whether all edges are in memory, not read from the store on demand
	WholeBytes    int64            `json:"whole_bytes"`    // memory that the graph takes when all of it is in memory
	Required      int64            `json:"required"`       // smallest Options.Memory with which all of it is in memory
	AnswerBytes   int64            `json:"answer_bytes"`   // memory that an answer may take: a quarter of Options.Memory
	LoggedChanges int              `json:"logged_changes"` // number of edge changes over which cached states can be repaired
	Decisions     uint64           `json:"decisions"`      // number of decisions made so far
	Erased        int64            `json:"erased"`         // number of erased nodes whose keys the files hold until DB.Compact or CompactDir
	DiskBytes     int64            `json:"disk_bytes"`     // size of the files; 0 if in memory, or if the system does not report it
	MappedBytes   int64            `json:"mapped_bytes"`   // size of the tables of the store, which are mapped into memory; see Options.Memory
	Changes       ChangeStats      `json:"changes"`
	Cache         index.CacheStats `json:"cache"`
	Activity      Activity         `json:"activity"` // since the database was opened
}

// LabelStats counts the nodes of a label. An empty Name means the nodes without a label.
type LabelStats struct {
	Name     string `json:"label"`
	Nodes    int64  `json:"nodes"`
	Features int    `json:"features"` // length of their feature vectors
}

// ChangeStats are figures of the changes that are kept for [DB.Changes]: the changes of the
// versions after After, up to Version.
type ChangeStats struct {
	Limit   int64  `json:"limit_bytes"` // number of bytes to keep (Options.ChangeBytes); 0 means that none are kept
	Bytes   int64  `json:"bytes"`
	Kept    uint64 `json:"kept"`    // number of changes
	After   uint64 `json:"after"`   // version before the oldest change: a reader that has it can go on
	Readers int    `json:"readers"` // number of calls of DB.Changes that have not ended
}

// Stats returns the figures at the transaction's version. It counts the nodes of each label.
func (tx *Tx) Stats() Stats {
	if tx.ended {
		return Stats{}
	}
	v := tx.view()
	m := &v.Meta
	s := Stats{
		Database: m.ID, Contents: contents(m.ID, m.Version, m.History),
		WholeBytes: v.LoadedBytes(), Required: requiredMemory(v.LoadedBytes()), AnswerBytes: tx.db.answerMemory(),
		Nodes: m.Live, Edges: m.Edges, Loops: m.Loops, Directed: m.Directed, Version: m.Version, Models: len(tx.snap.models),
		Alpha: m.Alpha, Epsilon: m.Epsilon, GraphBytes: v.Bytes(), GraphLoaded: v.Graph.Loaded(), LoggedChanges: v.LoggedChanges(), Cache: tx.db.states.Stats(),
		Decisions: m.Decisions, Erased: m.Erased, DiskBytes: tx.db.store.Bytes(), MappedBytes: tx.db.store.MappedBytes(), Follower: tx.db.opts.Follower,
		Changes: ChangeStats{m.KeepBytes, m.KeptBytes, m.Version - m.Kept, m.Kept, int(tx.db.changeReaders.Load())},
	}
	if published := tx.db.opts.Published; published != nil {
		s.Behind = max(published(), s.Version) - s.Version
	}
	if m.Time != 0 {
		s.Committed = time.Unix(0, m.Time).UTC()
	}
	tx.db.counters.count(func(a *Activity) { s.Activity = *a })
	s.Activity.Transactions = tx.db.openReaders.open()
	for _, m := range tx.snap.models {
		s.ModelBytes += int64(m.info.Bytes)
	}
	s.ModelBytes += int64(tx.db.versions.size())
	for i, n := range v.CountLabels() {
		s.Labels = append(s.Labels, LabelStats{m.Labels[i].Name, n, m.Labels[i].Features})
	}
	return s
}

// Stats returns the present figures. It returns ErrClosed if the database is closed. See
// [Tx.Stats]. They are JSON, so that
//
//	expvar.Publish("kith", expvar.Func(func() any { s, _ := g.Stats(); return s }))
//
// publishes them.
func (db *DB) Stats() (Stats, error) {
	return result(context.Background(), db.View, func(tx *Tx) (Stats, error) { return tx.Stats(), nil })
}

// WritePrometheus writes the figures in Prometheus text format.
func (s *Stats) WritePrometheus(w io.Writer) error {
	var b bytes.Buffer
	for _, m := range s.metrics() {
		fmt.Fprintf(&b, "# HELP kith_%s %s\n# TYPE kith_%s %s\nkith_%s %v\n", m.name, m.help, m.name, m.kind(), m.name, m.value)
	}
	b.WriteString("# HELP kith_label_nodes Nodes of a label.\n# TYPE kith_label_nodes gauge\n")
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, l := range s.Labels {
		fmt.Fprintf(&b, "kith_label_nodes{label=\"%s\"} %d\n", escaped.Replace(l.Name), l.Nodes)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// series is a Prometheus metric.
type series struct {
	name, help string
	value      any // a number
}

func (m series) kind() string {
	if strings.HasSuffix(m.name, "_total") {
		return "counter"
	}
	return "gauge"
}

func (s *Stats) metrics() []series {
	c, a, kept, follower := &s.Cache, &s.Activity, &s.Changes, 0
	if s.Follower {
		follower = 1
	}
	return []series{
		{"nodes", "Nodes of the graph.", s.Nodes},
		{"edges", "Edges of the graph, loops included.", s.Edges},
		{"loops", "Edges of a node to itself.", s.Loops},
		{"erased_nodes", "Erased nodes whose keys the files hold until a compaction.", s.Erased},
		{"graph_version", "Version of the graph: the commits so far.", s.Version},
		{"committed_timestamp_seconds", "When the graph version was committed, in the database that made it.", seconds(s.Committed)},
		{"follower", "Whether the database follows another one: 1 or 0.", follower},
		{"behind_versions", "Versions that a follower lacks, as far as is known.", s.Behind},
		{"changes", "Changes kept for readers.", kept.Kept},
		{"changes_bytes", "Space that they take.", kept.Bytes},
		{"changes_limit_bytes", "Space that they may take; 0 if none are kept.", kept.Limit},
		{"changes_after_version", "Version before the oldest of them.", kept.After},
		{"change_readers", "Readers of changes at present.", kept.Readers},
		{"models", "Models.", s.Models},
		{"decisions_total", "Decisions made so far.", s.Decisions},
		{"graph_bytes", "Memory of the graph, its keys and feature vectors.", s.GraphBytes},
		{"model_bytes", "Memory of the models.", s.ModelBytes},
		{"disk_bytes", "Space that the files take on the disk.", s.DiskBytes},
		{"mapped_bytes", "Size of the tables that are mapped into memory.", s.MappedBytes},
		{"cache_states", "PageRank states in the cache.", c.Entries},
		{"cache_bytes", "Memory of the cached states.", c.Bytes},
		{"cache_budget_bytes", "Memory that cached states may take.", c.Budget},
		{"cache_hits_total", "Cached states that were up to date.", c.Hits},
		{"cache_catchups_total", "Cached states that were repaired.", c.CatchUps},
		{"cache_loads_total", "States taken from the store.", c.Loads},
		{"cache_computed_total", "States computed from scratch.", c.Computed},
		{"cache_stored_total", "States written to the store.", c.Stored},
		{"cache_evictions_total", "States that were evicted.", c.Evictions},
		{"commits_total", "Commits since the database was opened.", a.Commits},
		{"syncs_total", "Syncs since the database was opened.", a.Syncs},
		{"sync_seconds_total", "Time that they took.", a.SyncTime.Seconds()},
		{"checkpoints_total", "Models stored since the database was opened.", a.Checkpoints},
		{"compactions_total", "Compactions since the database was opened.", a.Compactions},
		{"transactions_open", "Transactions that are open.", a.Transactions},
		{"opened_timestamp_seconds", "When the database was opened.", seconds(a.Opened)},
	}
}

// seconds returns a time in seconds since 1970, or 0 for no time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// Degrees says how many nodes have how many edges.
type Degrees struct {
	Counts []DegreeCount `json:"counts"` // in ascending order of Edges
	Nodes  int64         `json:"nodes"`  // number of nodes that were counted
	// Sampled is set if not every node was counted, but runs of nodes that follow each other, at
	// equal distances.
	Sampled bool `json:"sampled"`
}

// DegreeCount is the number of nodes with some number of (outgoing) edges.
type DegreeCount struct {
	Edges int   `json:"edges"`
	Nodes int64 `json:"nodes"`
}

// degreeRun is the number of consecutive nodes that Degrees samples together: a stored block of
// degrees.
const degreeRun = 1 << 11

// Degrees counts the nodes by their number of (outgoing) edges. It looks at no more than about most
// nodes; 0 means 2^20. In a graph that is not in memory it reads the blocks of degrees of the
// nodes or, if edges have weights, their rows.
func (tx *Tx) Degrees(ctx context.Context, most int) (Degrees, error) {
	if tx.ended {
		return Degrees{}, ErrClosed
	}
	if most < 0 {
		return Degrees{}, inputf("degrees of %d nodes: want at least 1, or 0 for 2^20", most)
	}
	if most == 0 {
		most = 1 << 20
	}
	v := tx.view()
	all := v.Meta.Nodes
	runs := (all + degreeRun - 1) / degreeRun
	kept := min(max(int64(most)/degreeRun, 1), runs)
	d, counts := Degrees{Counts: []DegreeCount{}, Sampled: kept < runs}, map[int]int64{}
	for i := range kept {
		if err := ctx.Err(); err != nil {
			return Degrees{}, err
		}
		begin := i * runs / kept * degreeRun
		for id := begin; id < min(begin+degreeRun, all); id++ {
			if v.Live(uint32(id)) {
				counts[v.Graph.OutLen(uint32(id))]++
				d.Nodes++
			}
		}
	}
	for _, edges := range slices.Sorted(maps.Keys(counts)) {
		d.Counts = append(d.Counts, DegreeCount{edges, counts[edges]})
	}
	return d, nil
}
