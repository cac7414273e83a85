//go:build unix

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dirLock is a lock of the directory of a store.
type dirLock struct {
	dir    *os.File
	writes bool // the directory has a file that names the process
}

// lockDir locks the directory until the returned Closer is closed: for several readers or for one
// writer. It returns ErrLocked if another process has locked it.
func lockDir(path string, readOnly bool) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	l, how := &dirLock{dir: f}, unix.LOCK_EX
	if readOnly {
		how = unix.LOCK_SH
	}
	if err := flock(f, how); err != nil {
		switch {
		case !errors.Is(err, unix.EWOULDBLOCK):
			err = fmt.Errorf("db: lock %s: %w", path, err)
		case !readOnly && flock(f, unix.LOCK_SH) == nil:
			// A reader shares its lock, a writer does not.
			err = errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), readersError(path))
		default:
			err = lockedError(path)
		}
		return nil, errors.Join(err, f.Close())
	}
	if readOnly {
		return l, nil
	}
	l.writes = true
	err = os.WriteFile(filepath.Join(path, lockFile), thisProcess().marshal(), 0o666)
	if err != nil && !errors.Is(err, unix.ENOSPC) {
		// Without the file, messages say "another process".
		return nil, errors.Join(fmt.Errorf("db: open for writing: %w", fullError(err)), l.Close())
	}
	return l, nil
}

// flock locks an open file without waiting. It returns EWOULDBLOCK if another process has a lock
// that excludes it.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Close unlocks the directory. A lock that is not released explicitly lasts as long as any process
// that is being started has a copy of the file.
func (l *dirLock) Close() error {
	var err error
	if l.writes {
		if err = unix.Unlinkat(int(l.dir.Fd()), lockFile, 0); errors.Is(err, unix.ENOENT) {
			err = nil // the directory was deleted
		}
	}
	return errors.Join(err, unix.Flock(int(l.dir.Fd()), unix.LOCK_UN), l.dir.Close())
}

// isLocked reports whether a process has the store at path open for writing.
func isLocked(path string) bool {
	l, err := lockDir(path, true)
	if err == nil {
		err = l.Close()
	}
	return errors.Is(err, ErrLocked)
}

// isAlive reports whether there is a process of this machine with an id.
func isAlive(id int) bool { return !errors.Is(unix.Kill(id, 0), unix.ESRCH) }

// access returns an error if a file or directory cannot be written to.
func access(name string) error { return unix.Access(name, unix.W_OK) }
