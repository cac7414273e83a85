package db

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"kith/index"
)

// Backup says what was backed up.
type Backup struct {
	Seq     uint64 `json:"version"`       // of the version: one more with every commit
	Since   uint64 `json:"since"`         // the Seq of the earlier backup, where this one has the changes since; otherwise 0
	Graph   uint64 `json:"graph_version"` // the version of the graph
	Entries int64  `json:"records"`       // records of the version
	Changed int64  `json:"changed"`       // records that are in the backup, and not in the earlier one
	Bytes   int64  `json:"bytes"`
}

// WriteTo writes a backup to w: all that the database holds at one version, the latest when it is
// called. Readers and writers go on meanwhile. Models and observations are in it; cached states,
// which are only ever a head start, are not. [Restore] makes a database of it.
func (db *DB) WriteTo(ctx context.Context, w io.Writer) (Backup, error) {
	return db.backup(ctx, w, nil)
}

// WriteSince writes a backup of what has changed since an earlier one, which itself may be one of
// changes; [Restore] takes it behind the earlier one. Nothing is asked of the database but to hold
// something similar: records are compared by digest. It returns ErrMismatch where earlier is no
// backup, and ErrCorrupt.
func (db *DB) WriteSince(ctx context.Context, w io.Writer, earlier io.Reader) (Backup, error) {
	a, err := openArchive(cancellableReader{ctx, earlier})
	if err != nil {
		return Backup{}, fmt.Errorf("the earlier backup: %w", err)
	}
	return db.backup(ctx, w, a)
}

func (db *DB) backup(ctx context.Context, w io.Writer, earlier *archive) (b Backup, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: tx.snap.ts, Graph: tx.snap.Meta.Version}
		entries := tx.records(ctx)
		if earlier != nil {
			if earlier.Seq > h.Seq {
				return fmt.Errorf("%w: the earlier backup is of version %d, the database is at %d", ErrMismatch, earlier.Seq, h.Seq)
			}
			h.Since = earlier.Seq
			entries = without(entries, earlier)
		}
		b = Backup{Seq: h.Seq, Since: h.Since, Graph: h.Graph}
		return b.write(w, h, entries)
	})
	return b, err
}

func (b *Backup) write(w io.Writer, h archiveHeader, entries iter.Seq2[archived, error]) error {
	a, err := newArchiveWriter(w, h)
	if err != nil {
		return err
	}
	for e, err := range entries {
		if err == nil {
			err = a.add(e)
		}
		if err != nil {
			return err
		}
		if !e.kept {
			b.Changed++
		}
	}
	err = a.end()
	b.Entries, b.Bytes = a.entries, a.bytes
	return err
}

// records yields what counts of the transaction's version, in the order of the keys.
func (tx *Tx) records(ctx context.Context) iter.Seq2[archived, error] {
	return func(yield func(archived, error) bool) {
		for e, err := range tx.reader.Scan(nil, nil) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && !tx.snap.Meta.Counts(e.Key) {
				continue
			}
			if !yield(archived{Entry: e}, err) || err != nil {
				return
			}
		}
	}
}

// without yields entries without the values that the earlier backup has too, which it reads to the end.
func without(entries iter.Seq2[archived, error], earlier *archive) iter.Seq2[archived, error] {
	return func(yield func(archived, error) bool) {
		c := newArchiveCursor(earlier.all())
		defer c.stop()
		for e, err := range entries {
			if err == nil {
				err = c.seek(e.Key)
			}
			if err == nil && c.on(e.Key) {
				if sum := digestOf(e.Value); sum == c.at.sum() {
					e.kept, e.digest, e.Value = true, sum, nil
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := c.end(); err != nil {
			yield(archived{}, err)
		}
	}
}

// sum is the digest of the value, wherever that is.
func (e *archived) sum() digest {
	if e.kept {
		return e.digest
	}
	return digestOf(e.Value)
}

// archiveCursor goes through entries beside something else that has keys in order.
type archiveCursor struct {
	next func() (archived, error, bool)
	stop func()
	at   archived
	more bool
}

func newArchiveCursor(entries iter.Seq2[archived, error]) *archiveCursor {
	next, stop := iter.Pull2(entries)
	return &archiveCursor{next: next, stop: stop, more: true}
}

// seek goes on to the first entry with a key that is not below key.
func (c *archiveCursor) seek(key []byte) (err error) {
	for err == nil && c.more && bytes.Compare(c.at.Key, key) < 0 {
		c.at, err, c.more = c.next()
	}
	return err
}

// on reports whether the cursor stands on key.
func (c *archiveCursor) on(key []byte) bool { return c.more && bytes.Equal(c.at.Key, key) }

// end goes on to the end.
func (c *archiveCursor) end() (err error) {
	for err == nil && c.more {
		c.at, err, c.more = c.next()
	}
	return err
}

// IsBackup reports whether what r reads begins as a backup does.
func IsBackup(r io.Reader) bool {
	magic := make([]byte, len(archiveMagic))
	_, err := io.ReadFull(r, magic)
	return err == nil && string(magic) == archiveMagic
}
