package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/skl"
)

// logSpace reserves blocks of the disk for the logs of a Badger that writes, ahead of what it
// writes there: for the present log, and for the next one, which exists as an empty file with
// blocks until Badger takes it. All sizes are upper bounds, because Badger does not tell where it
// writes.
type logSpace struct {
	opts badger.Options

	mu       sync.Mutex
	log      logBlocks // that Badger writes to
	next     logBlocks // empty
	number   int       // of next
	promised int64     // bytes of records that are not written yet, as far as is known
}

// logBlocks is a log with blocks on the disk.
type logBlocks struct {
	file   *os.File
	end    int64 // no byte from here on has a use, or will have one without a call of reserve
	blocks int64 // bytes from the start that have blocks
}

// newLogSpace returns the space of the logs of a Badger that was opened with no log.
func newLogSpace(o badger.Options) (*logSpace, error) {
	names, err := fileNames(o.Dir)
	if err != nil {
		return nil, err
	}
	logs := withSuffix(names, logSuffix)
	if len(logs) == 0 {
		return nil, fmt.Errorf("%s has no log", o.Dir)
	}
	s := &logSpace{opts: o}
	if s.number, err = strconv.Atoi(strings.TrimSuffix(logs[len(logs)-1], logSuffix)); err != nil {
		return nil, err
	}
	s.next.end = logHeader
	if s.log.file, err = os.OpenFile(s.path(), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	s.log.end = logHeader
	s.number++
	return s, s.begin()
}

func (s *logSpace) path() string {
	return filepath.Join(s.opts.Dir, fmt.Sprintf("%05d%s", s.number, logSuffix))
}

// begin makes the next log, if that was not possible earlier.
func (s *logSpace) begin() (err error) {
	if s.next.file == nil {
		s.next.file, err = os.OpenFile(s.path(), os.O_RDWR|os.O_CREATE, 0o666)
	}
	return err
}

// follow looks whether Badger has taken the next log.
func (s *logSpace) follow() error {
	if err := s.begin(); err != nil {
		return err
	}
	info, err := s.next.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	err = s.log.file.Close()
	s.log, s.next = s.next, logBlocks{end: logHeader + s.promised}
	s.number++
	if err = errors.Join(err, s.begin()); err != nil {
		return err
	}
	return s.next.reserve(s.opts)
}

// reserve promises space for n bytes of records. It returns the error of the system if the disk
// lacks space.
func (s *logSpace) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next.file == nil || s.log.end >= s.opts.MemTableSize {
		if err := s.follow(); err != nil {
			return err
		}
	}
	s.log.end += n
	s.next.end = logHeader + s.promised + n
	if err := errors.Join(s.log.reserve(s.opts), s.next.reserve(s.opts)); err != nil {
		s.log.end -= n
		return err
	}
	s.promised += n
	return nil
}

// ends reports whether Badger may soon take the next log, and make a table of the present one.
func (s *logSpace) ends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.end >= s.opts.MemTableSize
}

// present returns the log that Badger writes to, or nil if Badger may have taken the next one, or
// if the logs are not known.
func (s *logSpace) present() *os.File {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const spare = 64 << 10 // much more than what a memtable takes besides the records
	if s.log.end+spare >= s.opts.MemTableSize {
		return nil
	}
	return s.log.file
}

// written releases a promise.
func (s *logSpace) written(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promised -= n
}

// close deletes the next log, unless Badger has taken it.
func (s *logSpace) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.log.file.Close()
	if s.next.file == nil {
		return err
	}
	if info, failed := s.next.file.Stat(); failed == nil && info.Size() == 0 {
		if failed := os.Remove(s.path()); !errors.Is(failed, fs.ErrNotExist) {
			// The file may be gone, because the directory may have been removed.
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, s.next.file.Close())
}

// How many bytes are reserved at once: maxStep if the disk has them.
const (
	maxStep = 256 << 10
	minStep = 4 << 10
)

func (l *logBlocks) reserve(o badger.Options) error {
	most := 2 * o.MemTableSize // the size of the file
	if l.end <= l.blocks || l.blocks >= most {
		return nil
	}
	for _, step := range []int64{maxStep, minStep} {
		size := min((l.end+step-1)/step*step, most)
		switch err := allocate(l.file, size); {
		case err == nil:
			l.blocks = size
			return nil
		case errors.Is(err, errors.ErrUnsupported):
			return room(o.Dir, l.end+openingRoom, "a write")
		case !isFull(err) || step == minStep:
			return &os.PathError{Op: "fallocate", Path: l.file.Name(), Err: err}
		}
	}
	return nil
}

// logBytes returns an upper bound of what the records take in a log, and in Badger's memtable.
func (r *Records) logBytes() int64 {
	const header = 22 + 8 + 4 // with the timestamp of the key and the checksum
	return r.size + spare + int64(len(r.values)+2)*(header+int64(skl.MaxNodeSize))
}
