package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"kith/db/internal/record"
	"kith/index"
)

// Changes yields the change of each commit after version since, in order, as the commits become
// durable. It waits for further commits until ctx ends, and then yields the error of ctx, or
// ErrClosed when the database is closed. A follower resumes with the version that it has. No
// transaction is open while Changes yields.
//
// Options.ChangeBytes says which changes are kept. Changes yields ErrForgotten if the change after
// since is not kept. A Load is too large to be a change, so it forgets all versions before it. A
// follower that needs a forgotten change begins again with a backup. Changes yields ErrMismatch if
// the database has not reached version since, and ErrInput if it keeps no changes.
func (db *DB) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		db.changeReaders.Add(1)
		defer db.changeReaders.Add(-1)
		for {
			next := db.published.next()
			changes, err := db.changesAfter(ctx, since)
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
				since = c.Version
			}
			if err == nil && len(changes) == 0 {
				select {
				case <-next:
				case <-ctx.Done():
					err = ctx.Err()
				case <-db.jobs.ctx.Done():
					err = ErrClosed
				}
			}
			if err != nil {
				yield(Change{}, err)
				return
			}
		}
	}
}

// Limits of what Changes reads in one transaction.
const (
	maxChangesRead = 256
	maxBytesRead   = 1 << 20
)

// changesAfter returns the next changes after a version, up to the limits of one transaction. It
// returns no changes if there are no newer ones.
func (db *DB) changesAfter(ctx context.Context, since uint64) (all []Change, err error) {
	bytes := int64(0)
	err = db.View(ctx, func(tx *Tx) error {
		for c, err := range tx.Changes(since) {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			all = append(all, c)
			if bytes += c.document.Bytes; len(all) == maxChangesRead || bytes > maxBytesRead {
				return nil
			}
		}
		return nil
	})
	return all, err
}

// Changes yields the changes after version since, up to the version of the transaction. See
// [DB.Changes].
func (tx *Tx) Changes(since uint64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if tx.ended {
			yield(Change{}, ErrClosed)
			return
		}
		m := &tx.snap.Meta
		var err error
		switch {
		case m.KeepBytes == 0:
			err = inputf("the database keeps no changes; kith changes --keep or Options.ChangeBytes turns it on")
		case since > m.Version:
			err = fmt.Errorf("%w: changes after version %d are asked for, the database is at version %d", ErrMismatch, since, m.Version)
		case since < m.Kept:
			err = fmt.Errorf("%w: those after version %d are asked for, those after version %d are kept; restore a backup of a later version",
				ErrForgotten, since, m.Kept)
		}
		if err != nil {
			yield(Change{}, err)
			return
		}
		for version := since + 1; version <= m.Version; version++ {
			c, err := tx.change(version)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// change reads the change of a version.
func (tx *Tx) change(version uint64) (Change, error) {
	c, err := index.GetChange(tx.reader, version)
	if err != nil {
		return Change{}, err
	}
	d := &changeDocument{Format: changeFormat, Database: tx.snap.Meta.ID, Version: version, New: len(c.Keys), Change: *c}
	var more []index.ID
	for _, doc := range c.Observed {
		rec, err := record.Decode[record.Observation](index.Document{Bytes: doc})
		if err != nil {
			return Change{}, fmt.Errorf("observation of version %d: %w", version, err)
		}
		more = append(more, rec.IDs()...)
	}
	for _, doc := range c.Decisions {
		made, err := record.Decode[record.Decision](index.Document{Bytes: doc})
		if err != nil {
			return Change{}, fmt.Errorf("decision of version %d: %w", version, err)
		}
		more = append(more, made.IDs()...)
	}
	for _, id := range c.IDs(more...) {
		if int64(id) >= tx.snap.Meta.Nodes {
			return Change{}, fmt.Errorf("%w: the change of version %d names node %d", ErrCorrupt, version, id)
		}
		d.IDs, d.Names = append(d.IDs, id), append(d.Names, tx.snap.Key(id).Value())
	}
	if err := tx.addMade(d); err != nil {
		return Change{}, fmt.Errorf("change of version %d: %w", version, err)
	}
	return d.open()
}

// addMade adds the documents of the versions of a model that a change made.
func (tx *Tx) addMade(d *changeDocument) error {
	if d.Model == nil || len(d.Model.Serials) == 0 {
		return nil
	}
	r, err := d.registry()
	if err != nil {
		return err
	}
	for _, v := range r.Versions {
		if !slices.Contains(d.Model.Serials, v.Serial) {
			continue
		}
		made := madeVersion{Number: v.Number}
		if made.Document, err = index.GetDocument(tx.reader, d.Model.Name, v.Serial); err != nil {
			return err
		}
		if v.Vectors != 0 {
			if made.Vectors, err = index.GetDocument(tx.reader, d.Model.Name, v.Vectors); err != nil {
				return err
			}
		}
		d.Made = append(d.Made, made)
	}
	d.Model.Serials = nil // they mean nothing elsewhere
	return nil
}

// checkChanges opens every change that is kept.
func (tx *Tx) checkChanges(ctx context.Context) error {
	return tx.snap.Meta.CheckChanges(tx.reader, func(version uint64) error {
		_, err := tx.change(version)
		return cmp.Or(err, ctx.Err())
	})
}

// forgetChangesIfDue forgets the oldest changes when they take an eighth more than is to be kept.
// The writer calls it.
func (db *DB) forgetChangesIfDue(s *snapshot) error {
	limit := s.Meta.KeepBytes
	if s.Meta.KeptBytes-limit <= limit/8 {
		return nil
	}
	if err := db.waitDurable(); err != nil {
		return err
	}
	if err := db.keepChanges(limit); err != nil {
		db.opts.Logger.Error("forgetting changes", "err", err)
	}
	return nil
}

// setChangeBytes stores a value of Options.ChangeBytes other than 0. Open calls it.
func (db *DB) setChangeBytes(bytes int64) error {
	if bytes == 0 || max(bytes, 0) == db.now.Load().Meta.KeepBytes {
		return nil
	}
	return db.keepChanges(max(bytes, 0))
}

// keepChanges sets how many bytes of changes are kept. It marks the oldest changes beyond that as
// forgotten in the meta record, and then deletes them.
func (db *DB) keepChanges(limit int64) error {
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	next, err := s.KeepChanges(r, limit)
	if err != nil {
		return err
	}
	ts := s.ts + 1
	if err := db.store.Commit(ts, next.WriteMeta); err != nil {
		return err
	}
	db.publish(&snapshot{next, s.models, ts})
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		return next.Meta.DropForgotten(r, w, s.Meta.Kept)
	})
	db.dropDocuments(ts)
	return nil
}

// signal wakes any number of goroutines.
type signal struct {
	mu   sync.Mutex    // protects following fields
	sent chan struct{} // closed by send; nil if no goroutine waits
}

// next returns a channel that is closed by the next call of send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = make(chan struct{})
	}
	return s.sent
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent != nil {
		close(s.sent)
		s.sent = nil
	}
}
