package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

// lastLevel is Badger's highest level, to which all tables eventually move.
const lastLevel = 6

// Compact merges the tables of the closed store at path into one level, without the records that no
// reader can see. Badger would write the new tables through memory mappings, where a page for which
// the disk has no space ends the process. Here a full disk is an error, and the store stays as it
// was.
func Compact(ctx context.Context, path string, o Options) (err error) {
	lock, err := lockDir(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := install(path, nil); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	o.ReadOnly = true
	opts := badgerOptions(path, o)
	f, err := examineFiles(opts, true)
	if err != nil {
		return err
	}
	if len(f.faults) > 0 {
		return f.faults[0]
	}
	b, err := openBadger(opts)
	if err != nil {
		return openError(path, err)
	}
	m := newRebuild(f, path)
	m.replaced = f.with(tableSuffix)
	err = m.copyNewest(ctx, b)
	if err = errors.Join(err, translate(b.Close())); err != nil {
		return errors.Join(err, m.undo())
	}
	if err := m.inventory.forget(path); err != nil {
		return errors.Join(fmt.Errorf("db: %w", fullError(err)), m.undo())
	}
	if o.OnStep != nil {
		o.OnStep()
	}
	return m.finish()
}

// copyNewest writes the newest version of every record into tables of the last level.
func (m *rebuild) copyNewest(ctx context.Context, b *badger.DB) error {
	txn := b.NewTransactionAt(b.MaxVersion(), false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false // values are stored with their keys
	it := txn.NewIterator(o)
	defer it.Close()
	var entries []entry
	size := int64(0)
	write := func() error {
		err := ctx.Err()
		if err == nil {
			err = m.addTable(entries, lastLevel)
		}
		entries, size = entries[:0], 0
		return err
	}
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		v, err := item.ValueCopy(nil)
		if err != nil {
			return fmt.Errorf("%w: the value of key %q cannot be read", ErrCorrupt, item.Key())
		}
		entries = append(entries, entry{y.KeyWithTs(item.Key(), item.Version()), y.ValueStruct{Value: v}})
		if size += int64(len(v)) + item.KeySize(); size < m.opts.BaseTableSize {
			continue
		}
		if err := write(); err != nil {
			return err
		}
	}
	return write()
}

// fullError marks the system error of a full disk with ErrFull.
func fullError(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// isFull reports whether err is the system error of a full disk, or of a quota that is used up.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
