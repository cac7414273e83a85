package db

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// Events are callbacks; nil ones are not called. The goroutine that causes an event waits for its callback, so
// callbacks must be quick and must not write to the database. Callbacks may run concurrently.
type Events struct {
	// Sync is called after each sync, before the commits that it makes durable return. Concurrent Updates share a sync.
	Sync func(took time.Duration)
	// Commit is called for each group of commits that has become durable and visible to readers.
	Commit func(CommitEvent)
	// Checkpoint is called for each model whose state was stored.
	Checkpoint func(CheckpointEvent)
	// Compaction is called for each compaction that has ended, including those in the background.
	Compaction func(CompactionEvent)
}

// CommitEvent describes a group of commits that became durable together.
type CommitEvent struct {
	Version uint64        `json:"graph_version"` // version of the graph after the group
	Commits int           `json:"commits"`
	Took    time.Duration `json:"took_ns"` // time to write and sync
}

// CheckpointEvent describes the storing of a model's state.
type CheckpointEvent struct {
	Model  string        `json:"model"`
	Rounds int           `json:"rounds"` // number of outcomes that the model had observed
	Took   time.Duration `json:"took_ns"`
}

// CompactionEvent describes a compaction that has ended: the changes of the graph are in a new base if Err is nil.
type CompactionEvent struct {
	Took time.Duration `json:"took_ns"`
	Err  error         `json:"error"` // nil if the compaction succeeded
}

// Life counts what has happened to a database since it was opened.
type Life struct {
	Opened       time.Time     `json:"opened"`
	Commits      uint64        `json:"commits"` // commits that became durable, without those of loads and models
	Syncs        uint64        `json:"syncs"`
	SyncTime     time.Duration `json:"sync_time_ns"` // total time of the syncs
	Checkpoints  uint64        `json:"checkpoints"`  // number of model checkpoints
	Compactions  uint64        `json:"compactions"`
	Transactions int           `json:"transactions"` // number of transactions that are open now
}

// life counts events, calls the callbacks and logs.
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

// stats returns the present counts. open is the number of open transactions.
func (l *life) stats(open int) Life {
	return Life{
		Opened: l.opened, Commits: l.commits.Load(), Syncs: l.syncs.Load(), SyncTime: time.Duration(l.syncTime.Load()),
		Checkpoints: l.checkpoints.Load(), Compactions: l.compactions.Load(), Transactions: open,
	}
}
