package db

import (
	"context"
	"fmt"
	"io"
	"iter"

	"kith/db/archive"
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
	a, err := archive.NewReader(cancellableReader{ctx, earlier}, archive.Backup)
	if err != nil {
		return Backup{}, fmt.Errorf("the earlier backup: %w", err)
	}
	return db.backup(ctx, w, a)
}

func (db *DB) backup(ctx context.Context, w io.Writer, earlier *archive.Reader) (b Backup, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		h := archive.Header{Seq: tx.snap.ts, Graph: tx.snap.Meta.Version}
		entries := tx.records(ctx)
		if earlier != nil {
			if earlier.Seq > h.Seq {
				return fmt.Errorf("%w: the earlier backup is of version %d, the database is at %d", ErrMismatch, earlier.Seq, h.Seq)
			}
			h.Since = earlier.Seq
			entries = archive.Since(entries, earlier)
		}
		b = Backup{Seq: h.Seq, Since: h.Since, Graph: h.Graph}
		a, err := archive.NewWriter(w, archive.Backup, h)
		if err != nil {
			return err
		}
		for e, err := range entries {
			if err == nil {
				err = a.Add(e)
			}
			if err != nil {
				return err
			}
			if e.Digest == nil {
				b.Changed++
			}
		}
		err = a.Close()
		b.Entries, b.Bytes = a.Entries, a.Bytes
		return err
	})
	return b, err
}

// records yields the valid records of the transaction's version, in key order.
func (tx *Tx) records(ctx context.Context) iter.Seq2[archive.Entry, error] {
	return func(yield func(archive.Entry, error) bool) {
		for e, err := range (cancellableScan{ctx, tx.reader}).Scan(nil, nil) {
			if err == nil && !tx.snap.Meta.IsCurrent(e.Key) {
				continue
			}
			if !yield(archive.Entry{Key: e.Key, Value: e.Value}, err) || err != nil {
				return
			}
		}
	}
}

// IsBackup reports whether r starts with the magic bytes of a backup.
func IsBackup(r io.Reader) bool { return archive.Backup.StartsWith(r) }
