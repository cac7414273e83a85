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

// Badger reads its log of the last writes up to the first record with a wrong checksum, which is where the log ends
// after a crash. Badger loses records after a damaged one, so this file reads the log with them. After a header of 20
// bytes, a record is
//
//	flags (2 bytes), lengths of key and value, expiry (uvarint each), key, value, crc32c of all these
//
// A transaction is a sequence of records with one timestamp and the flag inTransaction, and a record that ends it.

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

// readRecord reads the record at the start of b; r.end is its length. It rejects records with an expiry or with user
// flags, because this package writes none.
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

// logCheck looks for damage in logs, which are added in the order in which they were written. A crash may leave a gap
// in the writes since the last sync, and each commit is synced before the next is written. So a gap before two commits
// is damage.
type logCheck struct {
	name    string // name of the log with the gap
	gap     gap
	commits []uint64 // timestamps of commits after the gap
}

// add checks the next log.
func (c *logCheck) add(name string, b []byte) {
	end := logHeader
	for r := range logRecords(b) {
		if r.at > end && c.name == "" {
			c.name, c.gap = name, gap{end, r.at}
		}
		end = r.end
		if c.name != "" && index.IsMeta(y.ParseKey(r.key)) && !slices.Contains(c.commits, r.ts()) {
			c.commits = append(c.commits, r.ts())
		}
	}
}

// err returns ErrCorrupt for a gap that no crash leaves.
func (c *logCheck) err() error {
	if len(c.commits) < 2 {
		return nil
	}
	return fmt.Errorf("%w: %s: %v are damaged, and commits follow", ErrCorrupt, c.name, c.gap)
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

// logEntries returns the entries of a log in table order. An incomplete transaction may have been interrupted by a
// crash: its entries are left out unless a later commit or, if followed is set, another log follows.
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

// inTableOrder sorts entries, of which the later of two with the same key wins.
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
