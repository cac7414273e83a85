package db

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// Events are functions to be called when something has happened, those that are set. Whoever made it
// happen waits for them, so they must be quick and must not write to the database; they may be called
// by many goroutines at the same time.
type Events struct {
	// Sync hears of each sync, before the commits that it makes durable return: those of concurrent
	// Updates share one.
	Sync func(took time.Duration)
	// Commit hears of each group of commits that has become durable, and which readers see.
	Commit func(CommitEvent)
	// Checkpoint hears of each model that was stored as it stands.
	Checkpoint func(CheckpointEvent)
	// Compaction hears of each compaction that has ended, those that began by themselves too.
	Compaction func(CompactionEvent)
}

// CommitEvent is a group of commits that have become durable together.
type CommitEvent struct {
	Version uint64        `json:"graph_version"` // of the graph after them
	Commits int           `json:"commits"`
	Took    time.Duration `json:"took_ns"` // to write and sync
}

// CheckpointEvent is a model that was stored as it stands.
type CheckpointEvent struct {
	Model  string        `json:"model"`
	Rounds int           `json:"rounds"` // outcomes that it had observed
	Took   time.Duration `json:"took_ns"`
}

// CompactionEvent is a compaction that has ended: the changes of the graph have gone into a new base.
type CompactionEvent struct {
	Took time.Duration `json:"took_ns"`
	Err  error         `json:"error"` // nil: it has succeeded
}

// Life counts what happened to a database since it was opened.
type Life struct {
	Opened       time.Time     `json:"opened"`
	Commits      uint64        `json:"commits"` // that became durable, loads and models aside
	Syncs        uint64        `json:"syncs"`
	SyncTime     time.Duration `json:"sync_time_ns"` // of all of them
	Checkpoints  uint64        `json:"checkpoints"`  // of models
	Compactions  uint64        `json:"compactions"`
	Transactions int           `json:"transactions"` // open now
}

// life counts, tells and logs what happens.
type life struct {
	tell   Events
	log    *slog.Logger
	opened time.Time

	commits, syncs, checkpoints, compactions atomic.Uint64
	syncTime                                 atomic.Int64
}

func (l *life) synced(took time.Duration) {
	l.syncs.Add(1)
	l.syncTime.Add(int64(took))
	if l.tell.Sync != nil {
		l.tell.Sync(took)
	}
}

func (l *life) committed(e CommitEvent) {
	l.commits.Add(uint64(e.Commits))
	if l.tell.Commit != nil {
		l.tell.Commit(e)
	}
}

func (l *life) checkpointed(e CheckpointEvent) {
	l.checkpoints.Add(1)
	l.log.Debug("checkpoint", "model", e.Model, "rounds", e.Rounds, "took", e.Took)
	if l.tell.Checkpoint != nil {
		l.tell.Checkpoint(e)
	}
}

func (l *life) compacted(e CompactionEvent) {
	if e.Err == nil {
		l.compactions.Add(1)
		l.log.Info("compaction", "took", e.Took)
	}
	if l.tell.Compaction != nil {
		l.tell.Compaction(e)
	}
}

// stats are the counts as they are now, with so many open transactions.
func (l *life) stats(open int) Life {
	return Life{
		Opened: l.opened, Commits: l.commits.Load(), Syncs: l.syncs.Load(), SyncTime: time.Duration(l.syncTime.Load()),
		Checkpoints: l.checkpoints.Load(), Compactions: l.compactions.Load(), Transactions: open,
	}
}
