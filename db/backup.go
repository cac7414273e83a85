package db

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"kith/index"
)

// Backup describes a backup.
type Backup struct {
	Seq     uint64 `json:"version"`       // store timestamp of the version; every commit adds one
	Since   uint64 `json:"since"`         // Seq of the earlier backup if this one is incremental, otherwise 0
	Graph   uint64 `json:"graph_version"` // version of the graph
	Entries int64  `json:"records"`       // number of records of the version
	Changed int64  `json:"changed"`       // number of records whose values are in this backup and not in the earlier one
	Bytes   int64  `json:"bytes"`
}

// WriteTo writes a backup to w: everything that the database holds at the latest version when WriteTo is called.
// Readers and writers continue meanwhile. The backup includes models and observations. It excludes cached states, which
// only save time. [Restore] makes a database from it.
func (db *DB) WriteTo(ctx context.Context, w io.Writer) (Backup, error) {
	return db.backup(ctx, w, nil)
}

// WriteSince writes a backup of the changes since an earlier backup, which may itself be incremental. [Restore] takes
// it after the earlier one. Records are compared by digest, so the earlier backup need only be of a similar database.
// WriteSince returns ErrMismatch if earlier is not a backup, and ErrCorrupt if it is damaged.
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

// records yields the valid records of the transaction's version, in key order.
func (tx *Tx) records(ctx context.Context) iter.Seq2[archived, error] {
	return func(yield func(archived, error) bool) {
		for e, err := range tx.reader.Scan(nil, nil) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && !tx.snap.Meta.IsCurrent(e.Key) {
				continue
			}
			if !yield(archived{Entry: e}, err) || err != nil {
				return
			}
		}
	}
}

// without removes from entries the values that the earlier backup has too. It reads the earlier backup to the end.
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

// sum returns the digest of the value, which may be in the earlier backup.
func (e *archived) sum() digest {
	if e.kept {
		return e.digest
	}
	return digestOf(e.Value)
}

// archiveCursor steps through entries in parallel with another sequence in key order.
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

// seek advances to the first entry whose key is at least key.
func (c *archiveCursor) seek(key []byte) (err error) {
	for err == nil && c.more && bytes.Compare(c.at.Key, key) < 0 {
		c.at, err, c.more = c.next()
	}
	return err
}

// on reports whether the cursor is at key.
func (c *archiveCursor) on(key []byte) bool { return c.more && bytes.Equal(c.at.Key, key) }

// end advances to the end.
func (c *archiveCursor) end() (err error) {
	for err == nil && c.more {
		c.at, err, c.more = c.next()
	}
	return err
}

// IsBackup reports whether r starts with the magic bytes of a backup.
func IsBackup(r io.Reader) bool {
	magic := make([]byte, len(archiveMagic))
	_, err := io.ReadFull(r, magic)
	return err == nil && string(magic) == archiveMagic
}
