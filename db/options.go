package db

import (
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"
)

// Direction says whether edges have one.
type Direction uint8

// Directions to open a database with.
const (
	AsStored   Direction = iota // as it was made; a new database is undirected
	Undirected                  // an edge is the same from either end
	Directed
)

// Options changes how a database is opened. The zero value of each field is a good default. Where a
// field is a property of the stored graph (Direction, Alpha, Epsilon, Seed), zero means "as stored,
// or the default when creating", and any other value must be the stored one.
type Options struct {
	// ReadOnly refuses every write and does not create what is not there. Windows has no such thing:
	// there it is ErrReadOnly, as it is for a database that was not closed. A database on a read-only
	// file system opens with it alone; [Writable] tells.
	ReadOnly bool
	// InMemory keeps everything in memory; the path must be empty. Nothing survives Close.
	InMemory bool
	// NoSync returns from a commit before it is on the disk: it survives the death of the process,
	// a power cut may lose the last commits.
	NoSync bool
	// Memory is the number of bytes that the store's buffers, the graph, the cached states and the
	// models share. Default: a quarter of the machine's memory, at least 256 MB, but no more than the memory
	// limit of the process (GOMEMLIMIT); minimum 64 MB. What would make the graph take more than half of it
	// is refused with ErrTooLarge, and so are opening one that takes more than three quarters, a ranking of
	// more candidates than fit into a quarter, and a holdout without room for a second graph. A transaction
	// may have a 200th; 0.8 MB of 64 MB, and 1.2 MB of 120 to 256 MB.
	//
	// It bounds what is in use. The garbage collector lets a process grow to twice that by default:
	// one that is to stay within Memory, and the 15 % that the store's mapped files may take, calls
	// debug.SetMemoryLimit with it, as the kith tool does. Open does not, as it cannot know what else
	// the process holds.
	Memory int64
	// ObservationBytes is how many bytes of observations are kept. When they have grown to an eighth
	// more, the oldest are forgotten; a model that has not yet stored what it learned from them does
	// so first, so none loses anything by it. The fewer there are, the more often models are stored, and
	// the less is learned again when the database is opened after a crash. Default: 64 MB.
	ObservationBytes int64
	// NoRefresh keeps the database from training models by itself. Otherwise a model whose deployed version was trained on the
	// edges, and that is not frozen, is trained again in the background when a tenth of the edges has changed since, and at least
	// 1,000. The new version is deployed if it finds hidden links better (see Comparison) and dropped if it does not. Readers and
	// writers go on meanwhile; Close ends it.
	NoRefresh bool
	// LockTimeout is how long Open waits for another process to let go of the directory.
	LockTimeout time.Duration
	// Direction of the edges.
	Direction Direction
	// Alpha is the damping of PageRank, in (0, 0.999]. Default 0.85.
	Alpha float64
	// Epsilon is the error allowed to PageRank: of an answer's values relative to the largest start
	// value (with norm = column: times the node's degree), and of the cached states as max |y - y*|.
	// Default 1e-6.
	Epsilon float64
	// Seed is where the random numbers of new models and of Choose start. Default 1.
	Seed uint64
	// Now tells the time, which decisions are dated by. Default: time.Now.
	Now func() time.Time
	// Events are told of what happens, as it does.
	Events Events
	// Logger hears of what runs by itself: Error is what did not work and is due again; Info that the
	// database was opened and closed, compactions, and trainings in the background; Debug checkpoints of models, and what the store
	// says. Default: silence.
	Logger *slog.Logger
}

const (
	defaultAlpha   = 0.85
	defaultEpsilon = 1e-6
	defaultSeed    = 1
	minMemory      = 64 << 20

	defaultObservations = 64 << 20
)

// resolve checks the options and fills in the defaults that do not depend on what is stored.
func (o *Options) resolve(path string) (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Memory == 0 {
		r.Memory = max(min(max(machineMemory()/4, 256<<20), debug.SetMemoryLimit(-1)), minMemory)
	}
	r.ObservationBytes = orDefault(r.ObservationBytes, defaultObservations)
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
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
			return r, fmt.Errorf("%w: option %s %v", ErrInput, c.what, c.got)
		}
	}
	return r, nil
}
