package db

import (
	"cmp"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"kith/db/internal/store"
)

// Direction says whether edges are directed.
type Direction uint8

// Values of Options.Direction.
const (
	_          Direction = iota // as the database was created; a new database is undirected
	Undirected                  // an edge is the same from either end
	Directed
)

// Options are the options for opening a database. The zero value of each field is a good default.
// For a property of the stored graph (Direction, Alpha, Epsilon, Seed), zero means "as stored, or
// the default when creating", and any other value must equal the stored one.
type Options struct {
	// ReadOnly refuses every write and does not create a missing database. Any number of processes
	// may have a database open with ReadOnly at once, and none without. They write nothing to its
	// directory, not even a lock file, so the death of one leaves nothing behind. Opening with
	// ReadOnly returns ErrReadOnly on Windows, which does not support it, and for a database that
	// was not closed. A database on a read-only file system can only be opened with ReadOnly.
	ReadOnly bool
	// InMemory keeps everything in memory; the path must be empty. Nothing survives Close.
	InMemory bool
	// NoSync makes a commit return before it is on the disk. A commit survives the death of the
	// process, but a power cut may lose the last commits.
	NoSync bool
	// Memory is the number of bytes that the store's buffers, the graph, the cached states and the
	// models share; memoryShares divides it. Default: a quarter of the machine's memory, at least 256
	// MB, but no more than the memory limit of the process (GOMEMLIMIT). The minimum is 64 MB. A
	// graph that takes at most 45 % of Memory is kept in memory. Of a larger one, blocks are read
	// from the store when they are needed. ErrTooLarge is returned if what must be in memory takes
	// more: the changes since the last compaction and, with InMemory, the whole graph; and for a
	// ranking of more candidates than fit into a quarter, and an evaluation that hides a list of
	// more edges than fit. A transaction may take a 200th of Memory, but 0.8 MB at 64 MB, 1.2 MB
	// at 120 to 256 MB, and 5 MB at most.
	//
	// A transaction that stays open while much is written, such as an export to a slow client,
	// keeps a buffer of the store of 5 MB at the minimum of Memory and 32 MB at most, and on the
	// disk as much as the database took at that time. Transactions that began at about the same
	// time share both. The end of the transaction frees them.
	//
	// Memory bounds the bytes in use. By default, the garbage collector lets a process grow to
	// twice that. A process that must stay within Memory should call debug.SetMemoryLimit(Memory),
	// as the kith tool does. Open does not call it, because it does not know what else the process
	// holds. Repair does not keep to it. Not counted are the buffers of the tables that the store
	// builds while commits write much, such as a load of long feature vectors: up to 370 MB for
	// some seconds. Pages of the store's tables that were read are mapped into the process and
	// count as resident, up to the size of the tables (Stats.MappedBytes), on top of Memory. A
	// container counts them, too, but they are the system's cache: it frees them before it ends a
	// process for its memory.
	Memory int64
	// ObservationBytes is the number of bytes of observations to keep. When there are an eighth
	// more, the oldest are forgotten. A model that has not yet stored what it learned from them is
	// stored first, so no model loses anything. A smaller value means that models are stored more
	// often, and that fewer observations are replayed when the database is opened after a crash.
	// Default: 64 MB.
	ObservationBytes int64
	// ChangeBytes is the number of bytes of changes to keep for DB.Changes. The database stores it,
	// so that every process that writes keeps them: 0 means as stored, a negative number turns it
	// off and forgets all changes. A new database keeps none, which costs nothing. When there are
	// an eighth more, the oldest are forgotten. The observations and decisions of a change count
	// with the bytes that they take anyway, and the models that it made with the bytes that they
	// take in memory. With ReadOnly it is 0 or equals the stored value.
	ChangeBytes int64
	// Follower makes the database a copy that follows another one: DB.Apply writes to it, and every
	// other write returns ErrReadOnly. Its models learn and are trained only as in the other
	// database. It begins as a restored backup of the other database; opening a new one returns
	// ErrNotFound. Answers with NoCache are the same bytes as in the other database at the
	// same version, with the same binary, architecture and Memory.
	Follower bool
	// Published returns the newest version of the database that a Follower follows, as far as it is
	// known, so that Stats tells how far behind the follower is. It must be quick. Default: not
	// known.
	Published func() uint64
	// NoRefresh turns off training in the background. Without it, the model that answers requests
	// without a name, or else the model default, is trained when the graph has 1,000 edges, if it
	// was created and never trained. A model whose deployed version was trained on the edges is
	// trained again when a tenth of the edges, and at least 1,000, have changed since. That training
	// continues from the weights of the version and takes about a quarter of the time of a whole one.
	// The new version is deployed if it finds hidden links better (see Comparison), and dropped
	// otherwise. A frozen model is not trained. Readers and writers continue meanwhile. Close
	// cancels the training.
	NoRefresh bool
	// LockTimeout is how long Open waits for another process to release the directory.
	LockTimeout time.Duration
	// Direction says whether edges are directed.
	Direction Direction
	// Alpha is the damping factor of PageRank, in (0, 0.999]. Default 0.85.
	Alpha float64
	// Epsilon is the error allowed for PageRank. For the values of an answer it is relative to the
	// largest start value (with norm = column: times the node's degree). For the cached states it
	// bounds max |y - y*|. With norm = column, degrees count in units of the mean weight of the
	// start nodes' edges, so that a common factor of all weights changes no answer. Default 1e-6.
	Epsilon float64
	// Seed is the seed of the random numbers of new models and of Choose. Default 1.
	Seed uint64
	// Now returns the time that dates decisions. Default: time.Now.
	Now func() time.Time
	// Events are called when something happens.
	Events Events
	paged  bool   // nothing is loaded into memory, as if it did not fit; for tests
	onStep func() // called when a load or a compaction has changed files, while the store is locked; for tests
	// Logger logs background work. Error is for failures of work that will be tried again; Info is
	// for opening and closing the database, compactions and trainings in the background; Debug is
	// for checkpoints of models and messages of the store. Default: no log.
	Logger *slog.Logger
}

const (
	defaultAlpha   = 0.85
	defaultEpsilon = 1e-6
	defaultSeed    = 1
	minMemory      = 64 << 20

	defaultObservations = 64 << 20
)

// resolve checks the options and fills in the defaults that do not depend on the stored graph.
func (o *Options) resolve(path string) (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Memory == 0 {
		r.Memory = max(min(max(store.MachineMemory()/4, 256<<20), debug.SetMemoryLimit(-1)), minMemory)
	}
	r.ObservationBytes = cmp.Or(r.ObservationBytes, defaultObservations)
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	r.NoRefresh = r.NoRefresh || r.Follower
	for _, c := range []struct {
		ok   bool
		what string
		got  any
	}{
		{r.InMemory == (path == ""), "a path, or InMemory without one, is needed; path", path},
		{!r.InMemory || !r.ReadOnly, "InMemory excludes ReadOnly", r.ReadOnly},
		{r.Memory >= minMemory, "Memory must be at least 64 MB, is", r.Memory},
		{r.ObservationBytes > 0, "ObservationBytes must not be negative, is", r.ObservationBytes},
		{r.LockTimeout >= 0, "LockTimeout must not be negative, is", r.LockTimeout},
		{r.Direction <= Directed, "Direction is", r.Direction},
		{r.Alpha == 0 || r.Alpha > 0 && r.Alpha <= 0.999, "Alpha must lie in (0, 0.999], is", r.Alpha},
		{r.Epsilon == 0 || r.Epsilon > 0 && r.Epsilon < 1, "Epsilon must lie in (0, 1), is", r.Epsilon},
		{!math.IsNaN(r.Alpha) && !math.IsNaN(r.Epsilon), "Alpha or Epsilon is", math.NaN()},
	} {
		if !c.ok {
			return r, inputf("option %s %v", c.what, c.got)
		}
	}
	return r, nil
}

// forStore returns the options of the store, which calls onSync after each sync.
func (o *Options) forStore(onSync func(time.Duration)) store.Options {
	return store.Options{
		InMemory: o.InMemory, ReadOnly: o.ReadOnly, NoSync: o.NoSync, Memory: o.memory(storePart),
		LockTimeout: o.LockTimeout, Logger: o.Logger, OnSync: onSync, OnStep: o.onStep,
	}
}

// Events are callbacks; nil ones are not called. The goroutine that causes an event waits for its
// callback, so callbacks must be quick and must not write to the database. Callbacks may run
// concurrently.
type Events struct {
	// Sync is called after each sync, before the commits that it makes durable return. Concurrent
	// Updates share a sync.
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
	Version uint64 // version of the graph after the group
	Commits int
	Took    time.Duration // time to write and sync
}

// CheckpointEvent describes the storing of a model's state.
type CheckpointEvent struct {
	Model  string
	Rounds int // number of outcomes that the model had observed
	Took   time.Duration
}

// CompactionEvent describes a compaction that has ended: the changes of the graph are in a new base
// if Err is nil.
type CompactionEvent struct {
	Took time.Duration
	Err  error // nil if the compaction succeeded
}

// Activity counts what has happened to a database since it was opened.
type Activity struct {
	Opened       time.Time     `json:"opened"`
	Commits      uint64        `json:"commits"` // commits that became durable, without commits of loads and models
	Syncs        uint64        `json:"syncs"`
	SyncTime     time.Duration `json:"sync_time_ns"` // total time of the syncs
	Checkpoints  uint64        `json:"checkpoints"`  // number of model checkpoints
	Compactions  uint64        `json:"compactions"`
	Transactions int           `json:"transactions"` // number of transactions that are open now
}

// counters counts events, calls the callbacks of Options.Events and logs.
type counters struct {
	callbacks Events
	log       *slog.Logger

	mu  sync.Mutex // protects following fields
	now Activity   // without Transactions
}

// count calls f with the counts.
func (c *counters) count(f func(*Activity)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.now)
}

func (c *counters) synced(took time.Duration) {
	c.count(func(a *Activity) { a.Syncs++; a.SyncTime += took })
	call(c.callbacks.Sync, took)
}

func (c *counters) committed(e CommitEvent) {
	c.count(func(a *Activity) { a.Commits += uint64(e.Commits) })
	call(c.callbacks.Commit, e)
}

func (c *counters) checkpointed(e CheckpointEvent) {
	c.count(func(a *Activity) { a.Checkpoints++ })
	c.log.Debug("checkpoint", "model", e.Model, "rounds", e.Rounds, "took", e.Took)
	call(c.callbacks.Checkpoint, e)
}

func (c *counters) compacted(e CompactionEvent) {
	if e.Err == nil {
		c.count(func(a *Activity) { a.Compactions++ })
		c.log.Info("compaction", "took", e.Took)
	}
	call(c.callbacks.Compaction, e)
}

// call calls a callback unless it is nil.
func call[E any](f func(E), event E) {
	if f != nil {
		f(event)
	}
}

// part is a part of Options.Memory.
type part int

// The parts. Work is one answer, training, comparison or load; what it takes is checked when it
// begins. Work that runs at the same time is not added up, and an answer's solver may take as much
// besides; see ppr.Solver.
const (
	graphPart    part = iota // the graph with its keys and feature vectors, to which transactions add
	workPart                 // what a piece of work takes besides the graph
	storePart                // the store: records of the last commits, tables that are written, blocks that were read
	statesPart               // cached PageRank states
	versionsPart             // cached versions of models that are not deployed
	parts                    // number of parts
)

// memoryShares returns the share of each part of Options.Memory, in percent. All memory that
// depends on Options.Memory is one of the parts, or a fraction of a part.
//
// INVARIANT: the shares sum to at most 100.
func memoryShares() [parts]int64 {
	return [parts]int64{graphPart: 45, workPart: 25, storePart: 20, statesPart: 7, versionsPart: 3}
}

// memory returns the bytes of the given parts together.
func (o *Options) memory(of ...part) (bytes int64) {
	for _, p := range of {
		bytes += o.Memory * memoryShares()[p] / 100
	}
	return bytes
}

// The fractions of workPart that the kinds of work take.
const (
	rowsFraction      = 2 // of graphPart: blocks of the graph that were read, until the rows are loaded
	splitFraction     = 2 // a file of PyTorch that is read as a whole
	modelFileFraction = 4 // a model file
	bulkFraction      = 2 // what a load takes to collect and sort edges
	tableFraction     = 4 // pages of a Parquet file
	copiesFraction    = 4 // copies of the graph that a training reads
)

// sized is a version of the graph.
type sized interface {
	KeptBytes() int64   // memory that its rows do not take
	LoadedBytes() int64 // memory of all of it
}

// Bytes that an edge and a node take at most, in an estimate of the memory of a graph. An edge is
// in two rows, with a weight and a time.
const (
	edgeBytes = 32
	nodeBytes = 64
)

// requiredMemory returns the smallest Options.Memory with which a graph is kept in memory that
// takes so many bytes there.
func requiredMemory(graph int64) int64 {
	return max(minMemory, graph*100/memoryShares()[graphPart]+100)
}

// checkEvery is the number of lines, nodes or edges between two checks of the context and of the
// memory.
const checkEvery = 1 << 14
