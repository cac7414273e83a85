package store

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
)

// Badger would make a table of its last log when it is closed, and tables of all logs when it is
// opened. It writes tables through memory mappings, and it tries for ever if it fails. So the store
// makes these tables itself, of the logs of a Badger that is closed (settle). If the disk is full,
// the logs stay, and Badger reads them.

// takeLog takes the log of the last commits from Badger, which then closes without making a table
// of it. The returned function closes the log; it must be called when Badger is closed. Nothing
// else may use b.
func takeLog(b *badger.DB) (closeLog func() error) {
	if o := b.Opts(); o.InMemory || o.ReadOnly {
		return func() error { return nil }
	}
	memtable := hidden(reflect.ValueOf(b), "mt")
	defer memtable.SetZero()
	return logCloser(memtable)
}

// logCloser returns a function that closes the log of a memtable.
func logCloser(memtable reflect.Value) func() error {
	log := hidden(memtable, "wal")
	file, end := log.Interface().(interface{ Close(size int64) error }), hidden(log, "writeAt").Uint()
	return func() error { return file.Close(int64(end)) }
}

// hidden returns the unexported field of the struct to which a pointer points.
func hidden(pointer reflect.Value, field string) reflect.Value {
	f := pointer.Elem().FieldByName(field)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// settle makes tables of the logs, which no Badger may have open for writing. If it fails, for
// example with ErrFull, the logs stay, and end where Badger can read them without writing.
func (f *storeFiles) settle() error {
	m := newRebuild(f, f.opts.Dir)
	for id, t := range f.manifest.Tables {
		m.tables = append(m.tables, namedTable{id: id, level: t.Level})
	}
	err := f.inventory.removeStale(f.manifest, f.opts.Dir)
	for _, name := range f.with(logSuffix) {
		b, failed := f.read(name)
		entries, end := committed(b)
		if failed == nil && end < len(b) {
			failed = os.Truncate(f.path(name), int64(end)) // frees the space that was reserved
		}
		if err = errors.Join(err, failed); err == nil {
			err = m.addTable(inTableOrder(entries), 0)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("db: %w", fullError(err)), m.undo())
	}
	if err := f.inventory.forget(f.opts.Dir); err != nil {
		return errors.Join(fmt.Errorf("db: %w", fullError(err)), m.undo())
	}
	if err := m.writeManifest(); err != nil {
		// The next Open deletes the tables if the manifest does not name them.
		return fmt.Errorf("db: %w", fullError(err))
	}
	for _, name := range f.with(logSuffix) {
		err = errors.Join(err, os.Remove(f.path(name)))
	}
	if err = errors.Join(err, syncDir(f.opts.Dir)); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	return nil
}

// committed returns the entries of the complete transactions at the start of a log, and where the
// last of them ends. They are what Badger reads.
func committed(b []byte) (all []entry, end int) {
	var begun []entry // of the transaction that has not ended
	end, at := logHeader, logHeader
	for r := range logRecords(b) {
		ts, ends := r.ends()
		switch {
		case r.at > at, len(begun) > 0 && r.ts() != begun[0].ts():
			return all, end
		case !ends:
			begun = append(begun, r.entry)
		case len(begun) > 0 && ts != begun[0].ts():
			return all, end
		default:
			all, begun, end = append(all, begun...), nil, r.end
		}
		at = r.end
	}
	return all, end
}
