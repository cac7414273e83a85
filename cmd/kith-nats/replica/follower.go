package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

// FollowOptions are the options of a Follower. The zero value of each field is a good default.
type FollowOptions struct {
	// Database is the identity of the database to follow. Default: the identity of the copy; for a
	// new copy, the only database that is published on the server.
	Database string
	// DB are the options with which the copy is opened. Open sets Follower and Published.
	DB *db.Options
	// Logger logs interruptions as warnings, and restored snapshots. Default: no log.
	Logger *slog.Logger
}

// Follower is a copy of a database that applies the changes of its log. It is safe for concurrent
// use.
//
// INVARIANT: the version of the copy is the follower's place in the log, so there is no other
// record of it.
type Follower struct {
	path    string
	options db.Options
	log     *changeLog

	mu   sync.RWMutex // held for reading while the copy is used, for writing while another takes its place
	copy *db.DB       // nil if the last exchange failed
	ctx  context.Context
	end  context.CancelFunc // ends ctx, so that those who use the copy end

	progress progress
}

// farewellTime is how long those who use a copy may continue when another takes its place.
const farewellTime = 5 * time.Second

// Open opens the copy at path, or makes it from the newest snapshot if it does not exist. Call
// [Follower.Run] to apply changes, and [Follower.Close] in the end.
//
// It returns ErrNoLog if the database is not published, ErrNoSnapshot if there is no snapshot or
// all are damaged, and the errors of db.Open and db.Restore: ErrMismatch if path holds something
// else or another database, or if another version of kith made the snapshot.
func Open(ctx context.Context, path string, js jetstream.JetStream, o FollowOptions) (*Follower, error) {
	f := &Follower{path: path}
	if o.DB != nil {
		f.options = *o.DB
	}
	f.options.Follower = true
	f.options.Published = func() uint64 { return f.Status().Published }
	logger := orLogger(o.Logger)
	if err := finishExchange(path); err != nil {
		return nil, err
	}
	exists := !vacant(path)
	if exists {
		if err := f.open(); err != nil {
			return nil, err
		}
		id, _, err := f.identity()
		if err == nil && o.Database != "" && o.Database != id {
			err = fmt.Errorf("%w: %s holds database %s, not %s", db.ErrMismatch, path, id, o.Database)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		o.Database = id
	}
	var err error
	if f.log, err = openLog(ctx, js, o.Database, logger); err == nil && !exists {
		if err = f.restore(ctx, path, 0); err == nil {
			err = f.open()
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_, f.progress.Version, err = f.identity()
	return f, err
}

// open opens the copy. The caller holds mu, or is Open.
func (f *Follower) open() error {
	g, err := db.Open(f.path, &f.options)
	if err != nil {
		return err
	}
	f.copy = g
	f.ctx, f.end = context.WithCancel(context.Background())
	return nil
}

// Close ends the use of the copy and closes it. Run must have ended.
func (f *Follower) Close() error {
	if f.end == nil {
		return nil
	}
	time.AfterFunc(farewellTime, f.end)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
	if f.copy == nil {
		return nil
	}
	g := f.copy
	f.copy = nil
	return g.Close()
}

// Use calls use with the copy, which must not be kept. When a snapshot takes the place of the copy,
// the context of use ends after some seconds, and calls that come meanwhile wait. Use returns
// ErrClosed of package db if there is no copy.
func (f *Follower) Use(ctx context.Context, use func(context.Context, *db.DB) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.copy == nil {
		return db.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	return use(ctx, f.copy)
}

// identity returns the identity of the copy and its version.
func (f *Follower) identity() (id string, version uint64, err error) {
	s, err := f.copy.Stats()
	return s.Database, s.Version, err
}

// restore makes a database at path from the newest snapshot that is later than a version. A damaged
// one gives way to the one before.
func (f *Follower) restore(ctx context.Context, path string, after uint64) error {
	all, err := f.log.listSnapshots(ctx)
	if err != nil {
		return err
	}
	var damaged error
	for _, s := range all {
		if s.version <= after && after > 0 {
			break
		}
		err := f.log.restore(ctx, s, path, &f.options)
		if err == nil {
			f.log.logger.Info("restored", "version", s.version, "bytes", s.bytes)
			return nil
		}
		if !errors.Is(err, db.ErrCorrupt) && !errors.Is(err, errOverwritten) {
			return err
		}
		f.log.logger.Warn("a snapshot is damaged", "err", err)
		damaged = err
	}
	if damaged != nil {
		return fmt.Errorf("%w: all are damaged: %v", ErrNoSnapshot, damaged)
	}
	return fmt.Errorf("%w: database %s, %d snapshots", ErrNoSnapshot, f.log.database, len(all))
}

// exchange puts the database at path.next in the place of the copy.
func (f *Follower) exchange() error {
	defer time.AfterFunc(farewellTime, f.end).Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
	g := f.copy
	f.copy = nil
	err := g.Close()
	if err == nil {
		err = os.Rename(f.path, f.path+".old")
	}
	if err == nil {
		err = finishExchange(f.path)
	}
	return errors.Join(err, f.open())
}

// finishExchange completes an exchange that began when path was moved to path.old.
func finishExchange(path string) error {
	if _, err := os.Stat(path + ".old"); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if vacant(path) {
		if err := os.Rename(path+".next", path); errors.Is(err, os.ErrNotExist) {
			return os.Rename(path+".old", path)
		} else if err != nil {
			return err
		}
	}
	return os.RemoveAll(path + ".old")
}

// vacant reports whether path does not exist or is an empty directory.
func vacant(path string) bool {
	entries, err := os.ReadDir(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0
}
