package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"expvar"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// heard collects events.
type heard struct {
	mu          sync.Mutex // protects following fields
	syncs       int
	commits     []db.CommitEvent
	checkpoints []db.CheckpointEvent
	compactions []db.CompactionEvent
}

func (h *heard) events() db.Events {
	return db.Events{
		Sync:       func(time.Duration) { h.note(func() { h.syncs++ }) },
		Commit:     func(e db.CommitEvent) { h.note(func() { h.commits = append(h.commits, e) }) },
		Checkpoint: func(e db.CheckpointEvent) { h.note(func() { h.checkpoints = append(h.checkpoints, e) }) },
		Compaction: func(e db.CompactionEvent) { h.note(func() { h.compactions = append(h.compactions, e) }) },
	}
}

func (h *heard) note(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// The events agree with the figures of Stats.
func TestEvents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var h heard
	var log bytes.Buffer
	o := &db.Options{Memory: 64 << 20, Events: h.events(), Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	path := place(t)
	g := dbtest.Reopen(t, path, o)
	for i := range 5 {
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) })
	}
	must(t, g.Update(ctx, func(*db.Tx) error { return nil })) // changes nothing
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}), g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: 1}), g.Compact(ctx))
	s, err := g.Stats()
	must(t, err)
	commits := 0
	for _, e := range h.commits {
		commits += e.Commits
	}
	last := h.commits[len(h.commits)-1]
	if commits != 6 || last.Version != 7 || last.Took <= 0 || h.syncs < 6 {
		t.Errorf("%d commits, the last %+v, %d syncs", commits, last, h.syncs)
	}
	if len(h.checkpoints) != 1 || h.checkpoints[0].Model != "m" || len(h.compactions) != 1 || h.compactions[0].Err != nil {
		t.Errorf("%+v, %+v", h.checkpoints, h.compactions)
	}
	l := s.Activity
	if l.Commits != 6 || int(l.Syncs) != h.syncs || l.SyncTime <= 0 || l.Checkpoints != 1 || l.Compactions != 1 || l.Transactions != 1 || l.Opened.IsZero() {
		t.Errorf("%+v", l)
	}
	must(t, g.Close())
	for _, line := range []string{`INFO msg=opened path=\S+ nodes=0 edges=0`, `DEBUG msg=checkpoint model=m rounds=0`, `INFO msg=compaction`, `INFO msg=closed`} {
		if !regexp.MustCompile(line).MatchString(log.String()) {
			t.Errorf("no %q in the log:\n%s", line, &log)
		}
	}
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("%s", &log)
	}
}

// A failed compaction is reported as an event too.
func TestEventsOfFailures(t *testing.T) {
	t.Parallel()
	var h heard
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20, Events: h.events()})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, "a cancelled compaction", g.Compact(ctx), context.Canceled)
	must(t, g.Close())
	wantError(t, "a compaction after the end", g.Compact(context.Background()), db.ErrClosed)
	for _, e := range h.compactions {
		if e.Err == nil {
			t.Errorf("%+v", e)
		}
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error {
		for i := range 10 {
			must(t, tx.PutNode(db.Node{Key: db.Int(int64(i)), Label: []string{"", "a", `b"\` + "\n"}[i%3]}), tx.PutEdge(i, (i+1)%10))
		}
		return tx.DeleteNode(4)
	})
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}))
	_, err := g.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(5, 6), Model: "m"})
	must(t, err)
	s, err := g.Stats()
	must(t, err)
	if s.Nodes != 9 || s.Edges != 8 || s.Models != 1 || s.Decisions != 1 || s.GraphBytes == 0 || s.ModelBytes == 0 {
		t.Errorf("%+v", s)
	}
	want := []db.LabelStats{{"", 4, 0}, {"a", 2, 0}, {"b\"\\\n", 3, 0}}
	if len(s.Labels) != 3 || s.Labels[0] != want[0] || s.Labels[1] != want[1] || s.Labels[2] != want[2] {
		t.Errorf("labels %+v, want %+v", s.Labels, want)
	}
	b, err := json.Marshal(s)
	must(t, err)
	var back db.Stats
	must(t, json.Unmarshal(b, &back))
	if back.Nodes != 9 || back.Activity.Commits != s.Activity.Commits {
		t.Errorf("%s", b)
	}
	if expvar.Get("kith") != nil {
		t.Error("the figures were published by themselves")
	}
	must(t, g.Close())
	_, err = g.Stats()
	wantError(t, "figures of a closed database", err, db.ErrClosed)
}

// Prometheus can parse every line, and a name occurs once.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	s := db.Stats{Nodes: 5, Labels: []db.LabelStats{{"", 2, 0}, {"b\"\\\n", 3, 0}}, Activity: db.Activity{SyncTime: 1500 * time.Millisecond, Commits: 1 << 40}}
	var b strings.Builder
	must(t, s.WritePrometheus(&b))
	line := regexp.MustCompile(`^(# HELP kith_[a-z_]+ [A-Z].*\.|# TYPE kith_[a-z_]+ (counter|gauge)|kith_[a-z_]+(\{label="([^"\\]|\\.)*"\})? -?[0-9.e+]+)$`)
	seen := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		name, _, _ := strings.Cut(l, " ")
		if !line.MatchString(l) || name[0] != '#' && seen[name] {
			t.Errorf("line %q", l)
		}
		seen[name] = true
	}
	for _, l := range []string{"kith_nodes 5", `kith_label_nodes{label="b\"\\\n"} 3`, "kith_sync_seconds_total 1.5", "kith_committed_timestamp_seconds 0", "kith_follower 0", "kith_commits_total 1099511627776"} {
		if !strings.Contains(b.String(), l+"\n") {
			t.Errorf("no line %q in\n%s", l, &b)
		}
	}
}
