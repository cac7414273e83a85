package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"kith/index"
)

// newestFile names the newest durable commit. A log that has lost its end looks like a log that a
// crash has ended; this file tells the two apart.
//
// The file is written without a sync after each group of commits, when the group is durable. It
// always has the same size, so no disk space is needed for that. Package db says under "Damage"
// what it costs. A killed process leaves the file as it was last written. After a power cut the
// file may be older than the logs, and then less damage is detected. It is never newer, unless
// commits are not synced.
const newestFile = "NEWEST"

// newestBytes is the size of the file. What one session needs fits into the first 512 bytes, which
// a disk writes as a whole. After a power cut in that moment the checksum may be wrong, and nothing
// is known.
const newestBytes = 1024

// newest is the content of the file.
//
// INVARIANT: all that it says was on the disk when it was written, or in the page cache if NoSync
// is set. A log that it does not mention was made later, so the commits in it are not older than
// Commit.
type newest struct {
	// ID is the identity of the directory, which the inventory has too.
	ID     string `json:"id"`
	Commit uint64 `json:"commit"` // timestamp of the newest commit, or 0
	// NoSync says that commits are not synced: a power cut may lose any part of the logs.
	NoSync bool `json:"no_sync,omitempty"`
	// Boot is the identity of the system's run in which the file was written; empty means unknown.
	Boot string             `json:"boot,omitempty"`
	Logs map[string]logMark `json:"logs"`
}

// logMark identifies a log. Begin is the checksum of its header, which has random bytes.
type logMark struct {
	Begin  uint32 `json:"begin"`
	Commit uint64 `json:"commit"` // timestamp of the last commit that is certainly in the log, or 0
	Meta   uint32 `json:"meta"`   // checksum of the meta record of that commit
}

// readNewest returns the content of the file, or an empty one without an identity if it is missing
// or damaged.
func readNewest(dir string) *newest {
	n := &newest{}
	if !readSealed(filepath.Join(dir, newestFile), n) {
		n = &newest{}
	}
	if n.Logs == nil {
		n.Logs = map[string]logMark{}
	}
	return n
}

// binds reports whether the files must have what n says. A power cut may have taken commits that
// were not synced. It ends the run of the system, which the end of a process does not.
func (n *newest) binds() bool {
	return n.ID != "" && (!n.NoSync || n.Boot != "" && n.Boot == bootID())
}

// write replaces the content of the open file.
func (n *newest) write(f *os.File) error {
	doc, err := json.Marshal(n)
	if err == nil {
		_, err = f.WriteAt(seal(doc, newestBytes), 0)
	}
	return err
}

// forgetDeleted removes the logs that do not exist any more, and reports whether there were any.
//
// INVARIANT: a log that is not mentioned any more does not come back after a power cut.
func (n *newest) forgetDeleted(dir string) (bool, error) {
	var gone []string
	for name := range n.Logs {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		} else if err != nil {
			return false, err
		}
	}
	if len(gone) == 0 {
		return false, nil
	}
	if err := syncDir(dir); err != nil {
		return false, err
	}
	for _, name := range gone {
		delete(n.Logs, name)
	}
	return true, nil
}

// removeStaleLogs removes the logs that do not exist from the file, because Badger uses their
// numbers again.
func removeStaleLogs(dir string) error {
	n := readNewest(dir)
	if changed, err := n.forgetDeleted(dir); !changed {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, newestFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(n.write(f), f.Sync(), f.Close())
}

// newestWriter keeps the file up to date while the store is written.
type newestWriter struct {
	mu   sync.Mutex // protects following fields
	file *os.File   // nil until the store is open for writing
	newest
	at position // when it was looked for; zero: it was not
}

// position is where Badger writes: an instance of it, and its last log.
type position struct {
	run int
	log string
}

// position returns the last log, for which it looks again if look is set.
func (s *Store) position(look bool) position {
	w, run := &s.newest, int(s.runs.Load())
	if s.Dir() == "" {
		return position{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.at.log != "" && w.at.run == run
	if known && !look {
		return w.at
	}
	if known { // many writes may have passed over a log, and both may be tables by now
		_, err := os.Stat(filepath.Join(s.Dir(), w.at.log))
		known = !errors.Is(err, fs.ErrNotExist)
	}
	if !known {
		names, err := fileNames(s.Dir())
		log := newestLog(s.Dir(), names)
		if err != nil || log == "" {
			return position{run: run}
		}
		w.at = position{run, log}
	}
	for next := logAfter(w.at.log); next != ""; next = logAfter(w.at.log) {
		if info, err := os.Stat(filepath.Join(s.Dir(), next)); err != nil || info.Size() == 0 {
			break
		}
		w.at.log = next
	}
	return w.at
}

// logAfter returns the name of the log after the log name.
func logAfter(name string) string {
	number := 0
	if _, err := fmt.Sscanf(name, "%d"+logSuffix, &number); err != nil {
		return ""
	}
	return fmt.Sprintf("%05d%s", number+1, logSuffix)
}

// note records that the commit at ts is durable. If Badger has begun a log since before, a position
// before the commit, it is not known in which log the commit is. A failure is logged and does not
// fail the commit: the file stays as it is, and the next open only detects less damage.
func (s *Store) note(ts uint64, r *Records, before position) {
	meta, ok := r.values[string(index.MetaKey())]
	if s.Dir() == "" || !ok {
		return
	}
	now := s.position(true)
	w := &s.newest
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return // Bulk has closed the store for writing meanwhile, so the commit is in a table
	}
	err := w.mention(s.Dir(), now.log)
	if err == nil {
		if now == before {
			m := w.Logs[now.log]
			m.Commit, m.Meta = ts, index.Checksum(meta)
			w.Logs[now.log] = m
		}
		w.Commit, w.NoSync, w.Boot = ts, !s.syncs, s.boot
		err = w.write(w.file)
	}
	if err != nil {
		s.log.Warn("noting the newest commit", "err", err)
	}
}

// mention adds the log last, if it is new, and every other new log: a commit may fill several. It
// then also forgets the logs that have become tables.
func (w *newestWriter) mention(dir, last string) error {
	if _, known := w.Logs[last]; known {
		return nil
	}
	names, err := fileNames(dir)
	if err != nil {
		return err
	}
	for _, name := range withSuffix(names, logSuffix) {
		if _, known := w.Logs[name]; known || name > last {
			continue
		}
		begin, err := logBegin(filepath.Join(dir, name))
		switch deleted := errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF); { // Badger empties a log first
		case err == nil:
			w.Logs[name] = logMark{Begin: begin}
		case !deleted || name == last:
			return err
		}
	}
	_, err = w.forgetDeleted(dir)
	return err
}

// logBegin returns the checksum of the header of a log.
func logBegin(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	header := make([]byte, logHeader)
	_, err = f.ReadAt(header, 0)
	return index.Checksum(header), err
}

// startNewest opens the file for writing, and creates it durably if it is missing. The caller holds
// the lock for opening.
func (s *Store) startNewest() error {
	w := &s.newest
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		return nil
	}
	name := filepath.Join(s.Dir(), newestFile)
	if w.newest = *readNewest(s.Dir()); w.ID != s.id {
		w.newest = newest{ID: s.id, Logs: map[string]logMark{}}
		doc, err := json.Marshal(&w.newest)
		if err == nil {
			err = writeSynced(name, seal(doc, newestBytes))
		}
		if err = errors.Join(err, syncDir(s.Dir())); err != nil {
			return fmt.Errorf("db: %w", fullError(err))
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	w.file = f
	return nil
}

// finishNewest records, after Badger was closed, that all commits are in tables, which Badger
// syncs. It closes the file.
func (s *Store) finishNewest() error {
	w := &s.newest
	w.mu.Lock()
	if w.file == nil {
		w.mu.Unlock()
		return nil
	}
	_, err := w.forgetDeleted(s.Dir())
	if err == nil && len(w.Logs) == 0 {
		w.NoSync, w.Boot = false, ""
		err = w.write(w.file)
	}
	err = errors.Join(err, w.file.Sync())
	w.mu.Unlock()
	return errors.Join(err, w.close())
}

// close closes the file.
func (w *newestWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}
