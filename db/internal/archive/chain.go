package archive

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"kith/index"
)

// Chain is a full backup and the incremental backups that follow it, oldest first.
type Chain []*namedReader

// namedReader is a backup with a name for errors.
type namedReader struct {
	*Reader
	name string
}

// All yields the entries of the backup. Its errors have the name.
func (n *namedReader) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range n.Reader.All() {
			if err != nil {
				err = fmt.Errorf("%s: %w", n.name, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// OpenChain reads the headers of backups, which have names for errors. It returns index.ErrMismatch
// unless each follows the previous one.
func OpenChain(backups []io.Reader, names []string) (Chain, error) {
	var c Chain
	since := uint64(0)
	for i, r := range backups {
		a, err := NewReader(r, Backup)
		if err == nil && a.Since != since {
			switch {
			case since == 0:
				err = fmt.Errorf("%w: it has the changes since version %d: the backup of version %d comes first", index.ErrMismatch, a.Since, a.Since)
			case a.Since == 0:
				err = fmt.Errorf("%w: it is a full backup and must come first", index.ErrMismatch)
			default:
				err = fmt.Errorf("%w: it has the changes since version %d, the one before is of version %d", index.ErrMismatch, a.Since, since)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", names[i], err)
		}
		c, since = append(c, &namedReader{a, names[i]}), a.Seq
	}
	return c, nil
}

// Seq returns the version of the last backup.
func (c Chain) Seq() uint64 { return c[len(c)-1].Seq }

// All yields the entries of the last backup, with the values that it omits from the earlier ones.
func (c Chain) All() iter.Seq2[Entry, error] {
	last := len(c) - 1
	if last == 0 {
		return c[0].All()
	}
	return join(c[last].All(), c[:last].All(), func(e, earlier *Entry) error {
		if e.Digest == nil {
			return nil
		}
		if earlier == nil || !bytes.Equal(earlier.sum(), e.Digest) {
			return fmt.Errorf("%s: %w: it does not follow the one before, which lacks one of its records", c[last].name, index.ErrMismatch)
		}
		e.Digest, e.Value = nil, earlier.Value
		return nil
	})
}

// Since removes from entries the values that the earlier backup has too. It reads the earlier
// backup to the end.
func Since(entries iter.Seq2[Entry, error], earlier *Reader) iter.Seq2[Entry, error] {
	return join(entries, earlier.All(), func(e, same *Entry) error {
		if same == nil {
			return nil
		}
		if sum := digestOf(e.Value); bytes.Equal(sum, same.sum()) {
			e.Digest, e.Value = sum, nil
		}
		return nil
	})
}

// join yields entries after a call of f with each and the earlier entry of the same key, or nil.
// Both sequences are in key order. It reads both to the end.
func join(entries, earlier iter.Seq2[Entry, error], f func(e, same *Entry) error) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		next, stop := iter.Pull2(earlier)
		defer stop()
		at, err, more := next()
		seek := func(key []byte) { // nil means the end
			for err == nil && more && (key == nil || bytes.Compare(at.Key, key) < 0) {
				at, err, more = next()
			}
		}
		for e, failed := range entries {
			if failed == nil {
				seek(e.Key)
				failed = err
			}
			if failed == nil {
				same := &at
				if !more || !bytes.Equal(at.Key, e.Key) {
					same = nil
				}
				failed = f(&e, same)
			}
			if !yield(e, failed) || failed != nil {
				return
			}
		}
		if seek(nil); err != nil {
			yield(Entry{}, err)
		}
	}
}
