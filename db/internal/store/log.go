package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/dgraph-io/badger/v4/y"

	"kith/index"
)

// Badger reads its log of the last writes up to the first record with a wrong checksum, which is
// where the log ends after a crash. Badger loses records after a damaged one, so this file reads
// the log with them. After a header of 20 bytes, a record is
//
//	flags (2 bytes), lengths of key and value, expiry (uvarint each), key, value, crc32c of all these
//
// A transaction is a sequence of records with one timestamp and the flag inTransaction, and a
// record that ends it.

// Badger's flags of a record.
const (
	inTransaction   = 1 << 6
	endsTransaction = 1 << 7
)

const (
	logHeader = 20
	maxKey    = 1<<16 + 8 // including its timestamp
	maxValue  = 1 << 20
	zeroPage  = 4096
)

// logRecord is a record of a log. Its bytes are at (inclusive) to end (exclusive).
type logRecord struct {
	at, end int
	entry
}

// ends returns the timestamp of the transaction that r ends, and whether it ends one.
func (r *logRecord) ends() (uint64, bool) {
	if r.value.Meta&endsTransaction == 0 {
		return 0, false
	}
	ts, err := strconv.ParseUint(string(r.value.Value), 10, 64)
	return ts, err == nil
}

// logRecords yields the readable records of a log, including those after damage.
func logRecords(b []byte) iter.Seq[logRecord] {
	return func(yield func(logRecord) bool) {
		zeros, work := make([]byte, zeroPage), scanWork*len(b)
		for at := logHeader; at < len(b); {
			if len(b)-at >= zeroPage && bytes.Equal(b[at:at+zeroPage], zeros) {
				at += zeroPage
				continue
			}
			r, ok := readRecord(b[at:], &work)
			if !ok {
				at++
				continue
			}
			r.at, r.end = at, at+r.end
			at = r.end
			if !yield(r) {
				return
			}
		}
	}
}

// readRecord reads the record at the start of b; r.end is its length. It rejects records with an
// expiry or with user flags, because this package writes none.
func readRecord(b []byte, work *int) (r logRecord, ok bool) {
	if len(b) < 8 || b[0]&(inTransaction|endsTransaction) == 0 || b[1] != 0 {
		return r, false
	}
	at := 2
	var n [3]uint64
	for i := range n {
		size := 0
		if n[i], size = binary.Uvarint(b[at:min(len(b), at+binary.MaxVarintLen64)]); size <= 0 {
			return r, false
		}
		at += size
	}
	klen, vlen, expiry := n[0], n[1], n[2]
	if klen <= 8 || klen > maxKey || vlen > maxValue || expiry != 0 || uint64(len(b)-at) < klen+vlen+4 {
		return r, false
	}
	end := at + int(klen+vlen)
	if *work -= end; *work < 0 {
		return r, false
	}
	if index.Checksum(b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return r, false
	}
	r.key = b[at : at+int(klen)]
	r.value = y.ValueStruct{Meta: b[0], Value: b[at+int(klen) : end]}
	r.end = end + 4
	return r, true
}

// logCheck looks for damage in logs, which are added in the order in which they were written. A
// killed process leaves no gap. A power cut may leave a gap in the writes since the last sync, and
// each commit is synced before the next is written. So a gap before two commits is damage, and so
// is a gap before a commit that is not newer than the newest durable one, and a log that ends
// before its last durable commit.
type logCheck struct {
	newest  *newest
	found   uint64 // newest commit that Badger will find
	name    string // name of the log with the first gap
	gap     gap
	commits []uint64 // timestamps of commits after that gap
	damaged []string // logs that lack commits
	short   []error  // a fault for each log that lacks its last durable commits
	stray   []string // logs that belong to another database
}

// logSummary summarizes a log.
type logSummary struct {
	found   uint64  // newest commit before a gap
	gap     gap     // the first gap
	follow  bool    // whether there is a gap
	before  commits // commits before the gap
	after   commits // commits after it, complete or not
	records int
}

// commits is the checksums of the meta records of commits by their timestamps.
type commits map[uint64]uint32

// summarize reads a log.
func summarize(b []byte) logSummary {
	s := logSummary{before: commits{}, after: commits{}}
	end, meta := logHeader, commits{}
	for r := range logRecords(b) {
		if r.at > end && !s.follow {
			s.follow, s.gap = true, gap{end, r.at}
		}
		end = r.end
		s.records++
		if index.IsMeta(y.ParseKey(r.key)) {
			seen := meta
			if s.follow {
				seen = s.after
			}
			if _, again := seen[r.ts()]; !again || bytes.Equal(y.ParseKey(r.key), index.MetaKey()) {
				seen[r.ts()] = index.Checksum(r.value.Value)
			}
		}
		if ts, ends := r.ends(); ends && !s.follow {
			if sum, ok := meta[ts]; ok {
				s.before[ts], s.found = sum, max(s.found, ts)
			}
		}
	}
	return s
}

// has reports whether the log has the commit that a mark names.
func (s *logSummary) has(m logMark) bool {
	before, ok := s.before[m.Commit]
	after, okAfter := s.after[m.Commit]
	return ok && before == m.Meta || okAfter && after == m.Meta
}

// foreign reports whether a log is not the log that n names, or was not made when n was written.
func (n *newest) foreign(name string, b []byte, s *logSummary) bool {
	mark, known := n.Logs[name]
	if known {
		return s.records > 0 && index.Checksum(b[:logHeader]) != mark.Begin && !s.has(mark)
	}
	for _, all := range []commits{s.before, s.after} {
		for ts := range all {
			if ts < n.Commit {
				return true
			}
		}
	}
	return false
}

// add checks the next log.
func (c *logCheck) add(name string, b []byte) {
	s := summarize(b)
	if c.newest.foreign(name, b, &s) {
		c.stray = append(c.stray, name)
		return
	}
	c.found = max(c.found, s.found)
	last := c.newest.Logs[name].Commit
	emptied := len(b) == 0 && c.found >= last // Badger empties a log before it deletes it
	if s.found < last && !emptied {
		c.damaged = append(c.damaged, name)
		c.short = append(c.short, fmt.Errorf("%s was truncated or overwritten: %w", name, missingError(min(c.found, last-1), last)))
	}
	if s.follow && c.name == "" {
		c.name, c.gap = name, s.gap
		c.damaged = append(c.damaged, name)
		for ts := range s.after {
			c.commits = append(c.commits, ts)
		}
	} else if c.name != "" {
		for _, all := range []commits{s.before, s.after} {
			for ts := range all {
				c.commits = append(c.commits, ts)
			}
		}
	}
}

// faults returns what no crash leaves, each an ErrCorrupt.
func (c *logCheck) faults() (all []error) {
	for _, name := range c.stray {
		all = append(all, fmt.Errorf("%w: %s is from another database or another time", ErrCorrupt, name))
	}
	slices.Sort(c.commits)
	c.commits = slices.Compact(c.commits)
	if n := len(c.commits); n > 1 || n > 0 && c.commits[0] <= c.newest.Commit {
		all = append(all, fmt.Errorf("%w: %s: %v are damaged, and commits follow", ErrCorrupt, c.name, c.gap))
	}
	return append(all, c.short...)
}

// missingError returns ErrCorrupt for commits after found up to newest.
func missingError(found, newest uint64) error {
	commits := "commits"
	if newest-found == 1 {
		commits = "commit"
	}
	return fmt.Errorf("%w: the files lack %d %s: version %d was durable, and what can be read in order ends with version %d; a repair keeps all that can be read and says what is lost",
		ErrCorrupt, newest-found, commits, newest, found)
}

// transaction is a sequence of consecutive records of a log that Badger wrote together.
type transaction struct {
	ts      uint64
	entries []entry
	whole   bool // no record is missing
}

// transactions parses a log.
func transactions(b []byte) (all []transaction) {
	var t transaction
	next := func() {
		if len(t.entries) > 0 {
			all = append(all, t)
		}
		t = transaction{}
	}
	end, gapped := logHeader, false
	for r := range logRecords(b) {
		if gap := r.at > end; gap || len(t.entries) > 0 && r.ts() != t.ts {
			next()
			gapped = gap
		}
		end = r.end
		t.ts = r.ts()
		if _, ends := r.ends(); ends {
			t.whole = !gapped
			next()
			gapped = false
			continue
		}
		t.entries = append(t.entries, r.entry)
	}
	next()
	return all
}

// logEntries returns the entries of a log in table order. An incomplete transaction may have been
// interrupted by a crash: its entries are left out unless a later commit or, if followed is set,
// another log follows.
func logEntries(b []byte, followed bool) (all []entry) {
	log := transactions(b)
	last := uint64(0) // timestamp of the last complete transaction
	for _, t := range log {
		if t.whole {
			last = max(last, t.ts)
		}
	}
	for _, t := range log {
		if t.whole || t.ts < last || followed {
			all = append(all, t.entries...)
		}
	}
	return inTableOrder(all)
}

// inTableOrder sorts entries by key, and keeps only the last entry of each key.
func inTableOrder(all []entry) []entry {
	slices.SortStableFunc(all, func(a, b entry) int { return y.CompareKeys(a.key, b.key) })
	n := 0
	for i, e := range all {
		if i+1 < len(all) && bytes.Equal(e.key, all[i+1].key) {
			continue
		}
		all[n] = e
		n++
	}
	return all[:n]
}
