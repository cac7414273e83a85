package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// magic distinguishes kith's Badger directories from others.
const magic = 0x6b74

// Options are the options for opening a store.
type Options struct {
	InMemory bool // the path is empty, and nothing survives Close
	ReadOnly bool
	NoSync   bool // writes return before they are on the disk
	// Memory is the memory of the records of the last commits, of tables that are written and of
	// cached blocks, in bytes.
	Memory      int64
	LockTimeout time.Duration // how long Open waits for another process to close the store
	Logger      *slog.Logger
	OnSync      func(took time.Duration) // called after each sync; may be nil
	// OnStep is called after each change of the files by Bulk, for tests of power cuts. It may be
	// nil.
	OnStep func()
}

// Open opens the store in a directory or in memory, and creates it if it does not exist. It returns
// ErrNotFound, ErrReadOnly, ErrLocked, ErrMismatch, ErrCorrupt or ErrFull. A relative path counts
// from the working directory of now.
func Open(path string, o Options) (*Store, error) {
	if err := inspect(path, o); err != nil {
		return nil, err
	}
	dir := path // in messages the path is as it was given
	if !o.InMemory {
		var err error
		if dir, err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("db: %w", err)
		}
	}
	if !o.InMemory && !o.ReadOnly {
		if err := makeDir(path); err != nil {
			return nil, fmt.Errorf("db: %w", err)
		}
		if err := checkOpenable(path); err != nil {
			return nil, err
		}
	}
	s := &Store{
		log: o.Logger, onSync: o.OnSync, inventory: new(inventory), syncs: !o.InMemory && !o.ReadOnly && !o.NoSync, onStep: o.OnStep,
		bulkTable: min(max(o.Memory/8, 1<<20), 16<<20), pins: map[uint64]*pin{},
	}
	var err error
	if !o.InMemory {
		if s.lock, err = waitForLock(path, o); err != nil {
			return nil, err
		}
		if s.place, err = os.Stat(dir); err != nil {
			return nil, errors.Join(fmt.Errorf("db: %w", err), s.unlock())
		}
	}
	s.opts = badgerOptions(dir, o)
	if !o.InMemory && !o.ReadOnly {
		err = install(dir, nil)
	}
	if err == nil {
		err = s.open()
	}
	if err != nil {
		return nil, errors.Join(err, s.unlock())
	}
	return s, nil
}

// waitForLock locks the directory. It waits for other processes for the time that the options say.
func waitForLock(path string, o Options) (io.Closer, error) {
	for deadline := time.Now().Add(o.LockTimeout); ; {
		lock, err := lockDir(path, o.ReadOnly)
		switch {
		case !errors.Is(err, ErrLocked):
			return lock, err
		case time.Now().After(deadline):
			return nil, err
		}
		time.Sleep(min(o.LockTimeout/10, 100*time.Millisecond))
	}
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
	foreign := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(begun(), e.Name()) })
	holds := func(name string) bool {
		return slices.ContainsFunc(foreign, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	switch {
	case holds(repairReady) && o.ReadOnly:
		return fmt.Errorf("%w: a repair of %s was interrupted, and only opening it for writing finishes the repair", ErrReadOnly, path)
	case holds(badger.ManifestFilename):
		return inspectLog(path, o)
	case holds(inventoryFile), holds(newestFile), holds(repairReady):
		return nil // examineFiles reports the missing manifest among other faults
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%w: %s is not a database: it holds %s and no %s", ErrMismatch, path, foreign[0].Name(), badger.ManifestFilename)
	}
	if o.ReadOnly {
		return fmt.Errorf("%w: %s is empty", ErrNotFound, path)
	}
	return nil
}

// inspectLog rejects read-only opening of a database that was not closed and is not open in another
// process: recovering its log of the last writes requires writing, unless the log was left by Close
// on a full disk.
func inspectLog(path string, o Options) error {
	logs, err := filepath.Glob(filepath.Join(path, "*"+logSuffix))
	if err != nil || !o.ReadOnly || len(logs) == 0 || isLocked(path) {
		return err
	}
	if !slices.ContainsFunc(logs, isCut) {
		return nil
	}
	return fmt.Errorf("%w: %s was not closed, and only opening it for writing recovers its last writes; if it cannot be written to, open a copy", ErrReadOnly, path)
}

// isCut reports whether a log cannot be read without writing: it does not end with its last record.
func isCut(name string) bool {
	b, err := os.ReadFile(name)
	_, end := committed(b)
	return err != nil || end != len(b)
}

// manifestDraft is the temporary name under which Badger writes a manifest.
const manifestDraft = "MANIFEST-REWRITE"

// begun returns the names of the files that are made before the manifest. Without a manifest, they
// are left over from a process that was killed while it made a store.
func begun() []string { return []string{lockFile, discardFile, manifestDraft} }

// openError translates Badger's error for a directory. Except for system errors it says which file
// cannot be read.
func openError(path string, err error) error {
	for _, system := range []syscall.Errno{syscall.EACCES, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT} {
		if strings.Contains(err.Error(), system.Error()) {
			return fmt.Errorf("db: %s: %s: %w", path, blamed(err), system)
		}
	}
	return fmt.Errorf("%w: %s: %s", ErrCorrupt, path, blamed(err))
}

// badgerParts has parts of the texts of Badger's errors, and the files that they are about. Badger
// encrypts nothing here, so the key of an encryption is the header of a file.
var badgerParts = []struct{ part, file string }{
	{"egistry", badger.KeyRegistryFileName},
	{"ncryption key", badger.KeyRegistryFileName},
	{"anifest", badger.ManifestFilename},
	{badger.ManifestFilename, badger.ManifestFilename},
	{discardFile, discardFile},
	{valueSuffix, "a value log (" + valueSuffix + ")"},
	{"vlog", "a value log (" + valueSuffix + ")"},
	{logSuffix, "a log of the last writes (" + logSuffix + ")"},
	{"memtable", "a log of the last writes (" + logSuffix + ")"},
	{tableSuffix, "a table (" + tableSuffix + ")"},
	{"table", "a table (" + tableSuffix + ")"},
}

// blamed says which file Badger could not read, without Badger's own words.
func blamed(err error) string {
	for _, p := range badgerParts {
		if strings.Contains(err.Error(), p.part) {
			return p.file + " cannot be read"
		}
	}
	return "a file cannot be read"
}

// openBadger opens Badger and turns a panic over damaged files into an error.
func openBadger(opts badger.Options) (b *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: %v", ErrCorrupt, r) // openError replaces the text
		}
	}()
	return badger.OpenManaged(opts)
}

// badgerOptions divides the memory between the records of the last commits and the cached blocks. A
// small amount of memory is divided into small parts, because tables that are being built take a
// multiple of their size. The cache of blocks is small, because package index caches what it
// decodes. Every value stays below the size that would move it to the value log, so the value log
// stays empty.
//
// Snappy: dblp-2010, cnr-2000 and an R-MAT graph of 15 million edges take 2.8, 1.4 and 3.6 bytes an
// edge, and a cold read 20, 17 and 30 us of CPU. With ZSTD 1 they take 2.3, 1.0 and 3.6 bytes, and
// a read 32, 32 and 22 us; without compression 4.3, 3.0 and 3.7 bytes, and 9, 10 and 13 us. Blocks
// of 8 KB are 2 to 9 % smaller and a read takes up to 60 % longer.
func badgerOptions(path string, o Options) badger.Options {
	memtable := min(max(o.Memory*5/32, min(8<<20, o.Memory*5/12)), 32<<20)
	memtables, table := 3, int64(2<<20)
	if o.Memory < 51<<20 {
		memtables, table = 1, 1<<20
	}
	cache := max(min(o.Memory/16, 16<<20), 1<<20)
	compactors := 0 // see merger
	if o.InMemory {
		compactors = 2
	}
	return badger.DefaultOptions(path).
		WithInMemory(o.InMemory).
		WithReadOnly(o.ReadOnly).
		WithBypassLockGuard(true). // lockDir locks the directory
		WithSyncWrites(false).     // see disk
		WithExternalMagic(magic).
		WithDetectConflicts(false). // there is one writer
		WithNumVersionsToKeep(1).
		WithMemTableSize(memtable).
		WithNumMemtables(memtables).
		WithBaseTableSize(table).
		WithValueThreshold(768 << 10). // above the largest value, below the size of a transaction
		WithBlockCacheSize(cache).
		WithValueLogFileSize(1 << 20).
		WithNumCompactors(compactors).
		WithChecksumVerificationMode(options.OnBlockRead).
		WithMetricsEnabled(false).
		WithLogger(logger{o.Logger})
}

// logger forwards Badger's log.
type logger struct{ to *slog.Logger }

func (l logger) Debugf(string, ...any)       {}
func (l logger) Errorf(f string, a ...any)   { l.to.Error(line(f, a)) }
func (l logger) Warningf(f string, a ...any) { l.to.Warn(line(f, a)) }
func (l logger) Infof(f string, a ...any)    { l.to.Debug(line(f, a)) }

func line(f string, a []any) string { return strings.TrimSpace(fmt.Sprintf("badger: "+f, a...)) }
