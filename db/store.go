package db

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"kith/index"
)

// magic distinguishes kith's Badger directories from others.
const magic = 0x6b74

// store is Badger in managed mode: a commit sets its own timestamp, and a reader reads at the timestamp of its
// snapshot, so the two agree without a lock. Badger's errors and types do not leave this file.
type store struct {
	badger *badger.DB
	disk   *disk // nil if nothing is synced
	log    *slog.Logger

	inventory *inventory // the last one written; guarded by disk.mu while commits run
	sound     bool       // whether all records have been read: the files are correct
	// failed is set when it is unknown whether a commit is on the disk. Memory and disk may then differ, so nothing more
	// is written.
	failed atomic.Pointer[error]
}

// openStore opens the store in a directory or in memory. It returns ErrLocked, ErrMismatch or ErrCorrupt.
func openStore(path string, o Options) (*store, error) {
	opts := badgerOptions(path, o)
	if err := inspect(path, o); err != nil {
		return nil, err
	}
	if !o.InMemory && !o.ReadOnly {
		if err := makeDir(path); err != nil {
			return nil, fmt.Errorf("db: %w", err)
		}
		if err := openable(path); err != nil {
			return nil, err
		}
	}
	for deadline := time.Now().Add(o.LockTimeout); ; {
		if err := prepareFiles(opts); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		b, err := openBadger(opts)
		switch {
		case err == nil:
			return newStore(b, o), nil
		case !strings.Contains(err.Error(), "Another process is using this Badger database"):
			return nil, openError(path, err)
		case time.Now().After(deadline):
			return nil, fmt.Errorf("%w: %s: %s; if that serves query.Handler, kith shell --attach URL looks inside", ErrLocked, path, holder(path))
		}
		time.Sleep(min(o.LockTimeout/10, 100*time.Millisecond))
	}
}

func newStore(b *badger.DB, o Options) *store {
	s := &store{badger: b, log: o.Logger, inventory: new(inventory)}
	if !o.InMemory && !o.ReadOnly && !o.NoSync {
		s.disk = &disk{dir: s.dir(), onNames: s.takeInventory}
	}
	return s
}

// inspect rejects a path that cannot hold a database, before anything is written to it.
func inspect(path string, o Options) error {
	if o.InMemory {
		return nil
	}
	if to, err := os.Readlink(path); err == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s is a symbolic link to %s, which does not exist", ErrNotFound, path, to)
		}
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.ReadOnly:
		return fmt.Errorf("%w: %s", ErrNotFound, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("db: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %s is not a directory: %w", ErrMismatch, path, err)
	}
	strangers := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == lockFile || e.Name() == manifestDraft })
	if slices.ContainsFunc(strangers, func(e fs.DirEntry) bool { return e.Name() == badger.ManifestFilename }) {
		return inspectLog(path, o)
	}
	if slices.ContainsFunc(strangers, func(e fs.DirEntry) bool { return e.Name() == inventoryFile }) {
		return nil // examineFiles reports the missing manifest with the other faults
	}
	if len(strangers) > 0 {
		return fmt.Errorf("%w: %s is not a database: it holds %s and no %s", ErrMismatch, path, strangers[0].Name(), badger.ManifestFilename)
	}
	if o.ReadOnly {
		return fmt.Errorf("%w: %s is empty", ErrNotFound, path)
	}
	return nil
}

// inspectLog rejects read-only opening of a database that was not closed and is not open in another process: recovering
// its log of the last writes requires writing.
func inspectLog(path string, o Options) error {
	logs, err := filepath.Glob(filepath.Join(path, "*"+logSuffix))
	if err != nil || !o.ReadOnly || len(logs) == 0 || held(path) {
		return err
	}
	return fmt.Errorf("%w: %s was not closed, and only opening it for writing recovers its last writes; if it cannot be written to, open a copy", ErrReadOnly, path)
}

// manifestDraft is the temporary name under which Badger writes a manifest. Without a manifest, this file and a lock
// file are left over from a process that was killed right after its start.
const manifestDraft = "MANIFEST-REWRITE"

// lockFile is the file in which Badger stores the id of the process that has a directory open.
const lockFile = "LOCK"

// holder describes the process that has the database at path open, as far as it is known.
func holder(path string) string {
	pid, err := os.ReadFile(filepath.Join(path, lockFile))
	if err != nil || len(pid) == 0 { // a reader does not write its id
		return "another process has it open"
	}
	return fmt.Sprintf("process %s has it open", strings.TrimSpace(string(pid)))
}

// openError translates Badger's error for a directory. Except for system errors it keeps only the text of the cause.
func openError(path string, err error) error {
	if errors.Is(err, badger.ErrWindowsNotSupported) || errors.Is(err, badger.ErrPlan9NotSupported) {
		return fmt.Errorf("%w: %s: %v", ErrReadOnly, path, err)
	}
	for _, system := range []syscall.Errno{syscall.EACCES, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC} {
		if strings.Contains(err.Error(), system.Error()) {
			return fmt.Errorf("db: %s: %v: %w", path, err, system)
		}
	}
	return fmt.Errorf("%w: %s: %v", ErrCorrupt, path, err)
}

// openBadger opens Badger and turns a panic over damaged files into an error.
func openBadger(opts badger.Options) (b *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: %v", ErrCorrupt, r)
		}
	}()
	return badger.OpenManaged(opts)
}

// badgerOptions gives Badger about a quarter of the memory. A small amount of memory is divided into small parts,
// because tables that are being built take a multiple of their size. Every value stays below the size that would move
// it to the value log, so the value log stays empty.
func badgerOptions(path string, o Options) badger.Options {
	memtable := min(max(o.Memory/32, min(8<<20, o.Memory/12)), 64<<20)
	memtables, table := 3, int64(2<<20)
	if o.Memory < 256<<20 {
		memtables, table = 1, 1<<20
	}
	return badger.DefaultOptions(path).
		WithInMemory(o.InMemory).
		WithReadOnly(o.ReadOnly).
		WithSyncWrites(false). // see disk
		WithExternalMagic(magic).
		WithDetectConflicts(false). // there is one writer
		WithNumVersionsToKeep(1).
		WithMemTableSize(memtable).
		WithNumMemtables(memtables).
		WithBaseTableSize(table).
		WithValueThreshold(768 << 10). // above the largest value, below the size of a transaction
		WithBlockCacheSize(max(o.Memory/16, 4<<20)).
		WithValueLogFileSize(16 << 20).
		WithNumCompactors(2).
		WithChecksumVerificationMode(options.OnBlockRead).
		WithMetricsEnabled(false).
		WithLogger(badgerLogger{o.Logger})
}

// dir returns the directory of the store, or "" for one in memory.
func (s *store) dir() string { return s.badger.Opts().Dir }

// maxVersion returns the newest timestamp in the store.
func (s *store) maxVersion() uint64 { return s.badger.MaxVersion() }

// discard releases record versions that only readers below ts could see.
func (s *store) discard(ts uint64) { s.badger.SetDiscardTs(ts) }

// read begins a read at ts. The caller must close the reader.
func (s *store) read(ts uint64) *reader { return &reader{txn: s.badger.NewTransactionAt(ts, false)} }

// commit durably writes what f writes as one atomic transaction at ts. It returns ErrTooLarge if that does not fit into
// one transaction; the store is then unchanged. The writer calls it, when all earlier commits are durable.
func (s *store) commit(ts uint64, f func(index.Writer) error) error {
	r := newRecords(s.badger)
	if err := f(r); err != nil {
		return err
	}
	if err := r.fit(); err != nil {
		return err
	}
	return s.write(ts, r)
}

// write durably writes records as one atomic transaction at ts. After an error the content of the disk is unknown, and
// every further write is refused.
func (s *store) write(ts uint64, r *records) error {
	if err := s.failure(); err != nil {
		return err
	}
	txn := s.badger.NewTransactionAt(ts, true)
	defer txn.Discard()
	err := r.copy(txn)
	if err == nil {
		err = txn.CommitAt(ts, nil)
	}
	if err = storeError(err); err == nil {
		err = s.sync()
	}
	if err != nil {
		s.fail(err)
	}
	return err
}

// fail makes the store refuse all further writes because of err.
func (s *store) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

// failure returns the error because of which writes are refused, or nil.
func (s *store) failure() error {
	if err := s.failed.Load(); err != nil {
		return fmt.Errorf("db: an earlier commit failed, open the database anew: %w", *err)
	}
	return nil
}

// sync makes all earlier writes durable, unless syncing is off.
func (s *store) sync() error {
	if s.disk == nil {
		return nil
	}
	return s.disk.sync()
}

// batch durably writes what f writes at ts, in as many transactions as necessary. It is only for keys that have no
// reader until a later commit refers to them, or that are no longer needed.
func (s *store) batch(ts uint64, f func(index.Writer) error) error {
	if err := s.failure(); err != nil {
		return err
	}
	b := s.badger.NewWriteBatchAt(ts)
	defer b.Cancel()
	if err := f(&batchWriter{batch: b, store: s}); err != nil {
		return storeError(err)
	}
	if err := storeError(b.Flush()); err != nil {
		return err
	}
	return s.sync()
}

// compact merges the levels of tables into one and collects the value log.
func (s *store) compact() error {
	if s.dir() != "" {
		if err := room(s.dir(), s.bytes()+reserve*s.badger.Opts().MemTableSize); err != nil {
			return err // the merge may write all tables again
		}
	}
	if err := s.badger.Flatten(1); err != nil {
		return storeError(err)
	}
	return s.collect()
}

// collect frees the files of the value log that nothing refers to. Values are kept out of it, but older versions stored
// dictionaries of long keys there.
func (s *store) collect() error {
	for {
		switch err := s.badger.RunValueLogGC(0.5); {
		case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrGCInMemoryMode), errors.Is(err, badger.ErrRejected):
			return nil
		case err != nil:
			return storeError(err)
		}
	}
}

func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrFull), errors.Is(err, ErrCorrupt):
		return err
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return ErrClosed
	}
	return fmt.Errorf("db: store: %w", err)
}

// reader is an index.Reader at one timestamp.
type reader struct {
	txn  *badger.Txn
	over overlay // queued commits, in an Update
}

func (r *reader) close() { r.txn.Discard() }

func (r *reader) Get(key []byte) ([]byte, bool, error) {
	if v, ok := r.over.get(key); ok {
		return v, v != nil, nil
	}
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, storeError(err)
	}
	v, err := item.ValueCopy(nil)
	if err != nil {
		return nil, false, fmt.Errorf("%w: key %q: %v", ErrCorrupt, key, err)
	}
	return v, true, nil
}

func (r *reader) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	if len(r.over) == 0 {
		return r.scan(prefix, from)
	}
	return r.over.scan(r.scan(prefix, from), prefix, from)
}

// scan is Scan of the store without the overlay.
func (r *reader) scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		o := badger.DefaultIteratorOptions
		o.Prefix = prefix
		o.PrefetchValues = false // values are stored with their keys
		it := r.txn.NewIterator(o)
		defer it.Close()
		if from == nil {
			from = prefix
		}
		var key, value []byte
		for it.Seek(from); it.ValidForPrefix(prefix); it.Next() {
			item := it.Item()
			key = item.KeyCopy(key)
			var err error
			if value, err = item.ValueCopy(value); err != nil {
				yield(index.Entry{}, fmt.Errorf("%w: key %q: %v", ErrCorrupt, key, err))
				return
			}
			if !yield(index.Entry{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

// batchWriter is an index.Writer that writes in the background while the disk has space.
type batchWriter struct {
	batch *badger.WriteBatch
	store *store
	bytes int // bytes left until the next check of the disk
}

// lookEvery is the number of bytes written between two checks of the free space.
const lookEvery = 1 << 20

func (w *batchWriter) Set(key, value []byte) error {
	if w.bytes -= len(key) + len(value); w.bytes < 0 {
		if err := w.store.room(); err != nil {
			return err
		}
		w.bytes = lookEvery
	}
	return w.batch.Set(key, value)
}

func (w *batchWriter) Delete(key []byte) error { return w.batch.Delete(key) }

// badgerLogger forwards Badger's log.
type badgerLogger struct{ to *slog.Logger }

func (l badgerLogger) Errorf(f string, a ...any)   { l.to.Error(line(f, a)) }
func (l badgerLogger) Warningf(f string, a ...any) { l.to.Warn(line(f, a)) }
func (l badgerLogger) Infof(f string, a ...any)    { l.to.Debug(line(f, a)) }
func (l badgerLogger) Debugf(string, ...any)       {}

func line(f string, a []any) string { return strings.TrimSpace(fmt.Sprintf("badger: "+f, a...)) }
