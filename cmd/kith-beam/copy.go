package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"kith/cmd/internal/cli"
	"kith/db"
)

// source says from what a worker makes its copy of the database.
type source struct {
	Backups []file
	Version uint64 // of the graph in the last backup
	List    file   // the file of sources or pairs; URI "" means none
	Scratch string // folder of the worker
	Memory  int64  // db.Options.Memory
}

// copies are the databases of this process. They are a package variable because Beam makes each
// step from its encoding, and the steps of a process can meet nowhere else.
var copies = pool{of: map[string]*dbCopy{}}

// pool holds a copy of the database for each source.
type pool struct {
	mu sync.Mutex
	of map[string]*dbCopy // by dir
}

// dbCopy is a restored backup that is open for reading.
type dbCopy struct {
	dir  string // folder with the database and the list
	db   *db.DB
	turn chan struct{} // holds a token while no shard is scored
	err  error         // why there will be no copy, however often one tries
}

// get returns the copy of a source. The first call restores it, unless another process of the
// machine has. An error that the same backup always leads to is remembered, so that repeating the
// step takes no time.
func (p *pool) get(ctx context.Context, s source) (*dbCopy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	c := p.of[dir]
	if c == nil {
		c = &dbCopy{dir: dir, turn: make(chan struct{}, 1)}
		err := c.open(ctx, s)
		switch {
		case err == nil:
			c.turn <- struct{}{}
		case errors.Is(err, db.ErrCorrupt), errors.Is(err, db.ErrMismatch), errors.Is(err, db.ErrTooLarge), errors.Is(err, db.ErrInput):
			c.err = err
		default:
			return nil, err
		}
		p.of[dir] = c
	}
	return c, c.err
}

// close closes the databases of the process. Their files remain for other processes.
func (p *pool) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for dir, c := range p.of {
		if c.db != nil {
			err = errors.Join(err, c.db.Close())
		}
		delete(p.of, dir)
	}
	return err
}

// dir returns the folder of the copy. It depends on the files with their sizes and on the version,
// so other backups with the same names get another copy.
func (s source) dir() (string, error) {
	text, err := json.Marshal(s)
	return filepath.Join(s.Scratch, fmt.Sprintf("%x", sha256.Sum256(text))[:24]), err
}

// beamMemory is the memory in bytes that a worker takes for Beam.
const beamMemory = 128 << 20

// open opens the copy, after making its missing parts. Processes of one machine take turns to make
// them.
func (c *dbCopy) open(ctx context.Context, s source) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(c.dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if s.List.URI != "" {
		if err := c.download(ctx, s.List); err != nil {
			return err
		}
	}
	name, o := filepath.Join(c.dir, "g.kith"), &db.Options{Memory: s.Memory}
	if s.Memory > 0 {
		debug.SetMemoryLimit(s.Memory + beamMemory)
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		if err := restore(ctx, name, o, s.Backups); err != nil {
			return err
		}
	}
	o.ReadOnly = true
	g, err := db.Open(name, o)
	if err != nil {
		return err
	}
	stats, err := g.Stats()
	if err == nil && stats.Version != s.Version {
		err = fmt.Errorf("%w: the backup has version %d of the graph, the job began with %d", db.ErrMismatch, stats.Version, s.Version)
	}
	if err != nil {
		return errors.Join(err, g.Close())
	}
	c.db = g
	return nil
}

// restore makes the database from the backups.
func restore(ctx context.Context, name string, o *db.Options, backups []file) error {
	var readers []io.Reader
	for _, b := range backups {
		if err := unchanged(ctx, b); err != nil {
			return err
		}
		r, err := open(ctx, b.URI)
		if err != nil {
			return err
		}
		defer r.Close() // read only
		readers = append(readers, r)
	}
	return db.Restore(ctx, name, o, readers...)
}

// unchanged returns an error if a file is no longer that with which the job began.
func unchanged(ctx context.Context, f file) error {
	now, err := find(ctx, f.URI)
	if err == nil && now.Bytes != f.Bytes {
		err = fmt.Errorf("%w: %s has %d bytes, and had %d when the job began", db.ErrMismatch, f.URI, now.Bytes, f.Bytes)
	}
	return err
}

// list returns the name of the copy of a file of sources or pairs. The copy has its own folder, so
// that it does not replace the database if both have the same name.
func (c *dbCopy) list(uri string) string {
	if uri == "" {
		return ""
	}
	return filepath.Join(c.dir, "list", path.Base(uri))
}

// download copies a file of sources or pairs.
func (c *dbCopy) download(ctx context.Context, f file) error {
	if err := unchanged(ctx, f); err != nil {
		return err
	}
	r, err := open(ctx, f.URI)
	if err != nil {
		return err
	}
	defer r.Close() // read only
	if err := os.MkdirAll(filepath.Dir(c.list(f.URI)), 0o700); err != nil {
		return err
	}
	return cli.WriteFile(ctx, c.list(f.URI), func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// lockWait is the time between two attempts to get a lock.
const lockWait = 100 * time.Millisecond

// lock waits until no other process holds the lock file. The lock ends with the process or with a
// call of unlock.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		held, err := cli.TryLock(f)
		if held {
			return func() { _ = f.Close() }, nil // nothing was written
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(lockWait):
				continue
			}
		}
		return nil, errors.Join(err, f.Close())
	}
}
