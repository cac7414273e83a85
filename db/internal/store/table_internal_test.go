package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"pgregory.net/rapid"

	"kith/index"
)

// genEntries draws entries in table order, some with values that span many blocks.
var genEntries = rapid.Custom(func(t *rapid.T) []entry {
	keys := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 1, 40), 1, 60, func(k []byte) string { return string(k) }).Draw(t, "keys")
	seed := rapid.Uint64().Draw(t, "seed")
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []entry
	for _, k := range keys {
		v := make([]byte, rng.IntN(1<<rng.IntN(15)))
		for i := range v {
			v[i] = byte(rng.IntN(1 + rng.IntN(256)))
		}
		all = append(all, entry{y.KeyWithTs(k, rng.Uint64N(1000)), y.ValueStruct{Meta: byte(rng.IntN(2)) | inTransaction, Value: v}})
	}
	slices.SortFunc(all, func(a, b entry) int { return y.CompareKeys(a.key, b.key) })
	return all
})

func testTableOptions() table.Options {
	return tableOptions(badgerOptions("x", Options{Memory: 64 << 20}))
}

func sameEntries(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(a, b entry) bool {
		return bytes.Equal(a.key, b.key) && a.value.Meta == b.value.Meta && bytes.Equal(a.value.Value, b.value.Value)
	})
}

// A table that Badger wrote is read back, with and without its index. After damage to some bytes,
// only the blocks with these bytes are lost.
func TestReadTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, o := genEntries.Draw(t, "entries"), testTableOptions()
		b := buildTable(want, o)
		source := tableSource{ReaderAt: bytes.NewReader(b), size: int64(len(b)), compression: o.Compression}
		if _, err := source.check(true); err != nil {
			t.Fatal(err)
		}
		got, gaps := readTable(b)
		if !sameEntries(got, want) || len(gaps) > 0 {
			t.Fatalf("%d entries, want %d; gaps %v", len(got), len(want), gaps)
		}
		_, size, err := tableEnd(b)
		if err != nil {
			t.Fatal(err)
		}
		blocks := len(b) - int(size)
		if got, _ := readTable(b[:blocks]); !sameEntries(got, want) {
			t.Fatalf("without the index: %d entries, want %d", len(got), len(want))
		}
		at := rapid.IntRange(0, blocks-1).Draw(t, "at")
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		got, gaps = readTable(b)
		for _, e := range got {
			if !slices.ContainsFunc(want, func(w entry) bool { return sameEntries([]entry{w}, []entry{e}) }) {
				t.Fatalf("key %q was never written", e.key)
			}
		}
		if len(got) < len(want) && (len(gaps) != 1 || at < gaps[0].from || at >= gaps[0].to) {
			t.Fatalf("byte %d is altered, gaps are %v", at, gaps)
		}
	})
}

// appendRecord appends a log record as Badger writes it.
func appendRecord(b []byte, e entry) []byte {
	at := len(b)
	b = append(b, e.value.Meta, 0)
	b = binary.AppendUvarint(b, uint64(len(e.key)))
	b = binary.AppendUvarint(b, uint64(len(e.value.Value)))
	b = append(b, 0)
	b = append(append(b, e.key...), e.value.Value...)
	return binary.BigEndian.AppendUint32(b, index.Checksum(b[at:]))
}

// appendCommit appends a transaction at ts: the meta record and some others.
func appendCommit(b []byte, ts uint64, keys ...string) []byte {
	for _, k := range append(keys, "m\x00\x00") {
		b = appendRecord(b, entry{y.KeyWithTs([]byte(k), ts), y.ValueStruct{Meta: inTransaction, Value: []byte(fmt.Sprint(k, ts))}})
	}
	return appendRecord(b, entry{y.KeyWithTs([]byte("!badger!txn"), ts), y.ValueStruct{Meta: endsTransaction, Value: []byte(fmt.Sprint(ts))}})
}

// appendBatch appends a transaction at ts that is not a commit.
func appendBatch(b []byte, ts uint64, keys ...string) []byte {
	b = bytes.Clone(b)
	for _, k := range keys {
		b = appendRecord(b, entry{y.KeyWithTs([]byte(k), ts), y.ValueStruct{Meta: inTransaction}})
	}
	return appendRecord(b, entry{y.KeyWithTs([]byte("!badger!txn"), ts), y.ValueStruct{Meta: endsTransaction, Value: []byte(fmt.Sprint(ts))}})
}

// A new table gets a number that no table has, had, or is listed with.
func TestRebuildNumbers(t *testing.T) {
	t.Parallel()
	f := &storeFiles{
		names:     []string{"000003.sst", "000007.sst.aside"},
		inventory: &inventory{Tables: map[uint64]tableMark{9: {}}},
		manifest:  &manifest{Manifest: badger.Manifest{Tables: map[uint64]badger.TableManifest{5: {}}}},
	}
	if got := newRebuild(f, "").next; got != 10 {
		t.Errorf("the next table is %d, want 10", got)
	}
}

// A gap in a log is damage if two commits follow, in the same log or the next. What a crash leaves
// is not damage. Entries after the gap are read, except those of an incomplete commit at the end.
func TestLogs(t *testing.T) {
	t.Parallel()
	header := make([]byte, logHeader)
	one := appendCommit(header, 1, "a", "b")
	two := appendCommit(bytes.Clone(one), 2, "a")
	three := appendCommit(bytes.Clone(two), 3, "c")
	four := appendCommit(bytes.Clone(three), 4, "d")
	spoil := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 4
		return append(b, make([]byte, 3*zeroPage)...)
	}
	for _, c := range []struct {
		name    string
		logs    [][]byte
		damaged bool
		kept    string // entries kept of the first log
	}{
		{"whole", [][]byte{four}, false, "a2 a1 b1 c3 d4 m4 m3 m2 m1"},
		{"laid out", [][]byte{append(bytes.Clone(two), make([]byte, 9999)...)}, false, "a2 a1 b1 m2 m1"},
		{"the last commit", [][]byte{spoil(three, len(two)+30)}, false, "a2 a1 b1 m2 m1"},
		{"the last commit cut short", [][]byte{three[:len(three)-9]}, false, "a2 a1 b1 m2 m1"},
		{"the one before it", [][]byte{spoil(three, len(one)+10)}, true, "a1 b1 c3 m3 m2 m1"},
		{"its meta record", [][]byte{spoil(three, len(one)+30)}, false, "a2 a1 b1 c3 m3 m1"},
		{"an earlier one", [][]byte{spoil(four, len(one)+10)}, true, "a1 b1 c3 d4 m4 m3 m2 m1"},
		{"the first", [][]byte{spoil(four, len(header)+10)}, true, "a2 b1 c3 d4 m4 m3 m2 m1"},
		{"the first of two", [][]byte{spoil(two, len(header)+10), appendCommit(header, 3)}, true, "a2 b1 m2 m1"},
		{"a batch at the time of the last commit", [][]byte{spoil(appendBatch(two, 2, "y", "z"), len(two)+10)}, false, "a2 a1 b1 m2 m1"},
		{"an empty one before", [][]byte{nil, four}, false, ""},
	} {
		check := logCheck{newest: &newest{}}
		for i, b := range c.logs {
			check.add(fmt.Sprintf("%05d.mem", i), b)
		}
		if err := errors.Join(check.faults()...); errors.Is(err, ErrCorrupt) != c.damaged {
			t.Errorf("%s: %v", c.name, err)
		}
		var kept []string
		for _, e := range logEntries(c.logs[0], len(c.logs) > 1) {
			kept = append(kept, strings.Trim(string(y.ParseKey(e.key)), "\x00")+fmt.Sprint(y.ParseTs(e.key)))
		}
		if got := strings.Join(kept, " "); got != c.kept {
			t.Errorf("%s: kept %s, want %s", c.name, got, c.kept)
		}
	}
}

// Logs that lack a commit which was durable, and logs of another database, are reported.
func TestLogsAndTheNewestCommit(t *testing.T) {
	t.Parallel()
	header, otherHeader := make([]byte, logHeader), bytes.Repeat([]byte{9}, logHeader)
	one := appendCommit(header, 1, "a", "b")
	two := appendCommit(bytes.Clone(one), 2, "a")
	three := appendCommit(bytes.Clone(two), 3, "c")
	other := appendCommit(appendCommit(appendCommit(otherHeader, 1, "q"), 2, "r"), 3, "a")
	sum := func(ts uint64, log []byte) uint32 { return summarize(log).before[ts] }
	durable := func(commit uint64, marks ...logMark) *newest {
		n := &newest{ID: "x", Commit: commit, Logs: map[string]logMark{}}
		for i, m := range marks {
			n.Logs[fmt.Sprintf("%05d.mem", i)] = m
		}
		return n
	}
	mark := func(log []byte, commit uint64) logMark {
		return logMark{index.Checksum(log[:logHeader]), commit, sum(commit, log)}
	}
	spoil := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 4
		return b
	}
	for _, c := range []struct {
		name   string
		newest *newest
		logs   [][]byte
		want   string // part of the error; empty means none
	}{
		{"whole", durable(3, mark(three, 3)), [][]byte{three}, ""},
		{"one more than was noted", durable(2, mark(three, 2)), [][]byte{three}, ""},
		{"noted before the log was made", durable(0), [][]byte{three}, ""},
		{"a torn commit that was not durable", durable(2, mark(three, 2)), [][]byte{three[:len(three)-9]}, ""},
		{"a torn commit", durable(3, mark(three, 3)), [][]byte{three[:len(three)-9]}, "lack 1 commit: version 3 was durable"},
		{"cut", durable(3, mark(three, 3)), [][]byte{one}, "lack 2 commits"},
		{"empty", durable(3, mark(three, 3)), [][]byte{nil}, "lack 3 commits"},
		{"the first of two is cut", durable(3, mark(two, 2)), [][]byte{one, appendCommit(header, 3)}, "lack 1 commit: version 2 was durable"},
		{"a gap before the last durable commit", durable(3, mark(three, 3)), [][]byte{spoil(three, len(one)+30)}, "are damaged, and commits follow"},
		{"a damaged header", durable(3, mark(three, 3)), [][]byte{spoil(three, 13)}, ""},
		{"another log", durable(3, logMark{index.Checksum(header), 3, 77}), [][]byte{other}, "is from another database"},
		{"a log that was not there", durable(3), [][]byte{other}, "is from another database"},
	} {
		check := logCheck{newest: c.newest}
		for i, b := range c.logs {
			check.add(fmt.Sprintf("%05d.mem", i), b)
		}
		err := errors.Join(check.faults()...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(buildTable([]entry{{y.KeyWithTs([]byte("k"), 1), y.ValueStruct{Value: []byte("v")}}}, testTableOptions()))
	f.Add([]byte{0x20, 0xfc, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return
		}
		entries, gaps := readTable(b)
		for _, e := range entries {
			if len(e.key) <= 8 {
				t.Errorf("key %q has no timestamp", e.key)
			}
		}
		for _, g := range gaps {
			if g.from < 0 || g.from >= g.to || g.to > len(b) {
				t.Errorf("gap %v in %d bytes", g, len(b))
			}
		}
	})
}

func FuzzReadLog(f *testing.F) {
	f.Add(appendCommit(appendCommit(make([]byte, logHeader), 1, "a"), 2, "b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		end := logHeader
		for r := range logRecords(b) {
			if r.at < end || r.end > len(b) || len(r.key) <= 8 {
				t.Fatalf("record at %d to %d of %d bytes after %d, key %q", r.at, r.end, len(b), end, r.key)
			}
			end = r.end
		}
		logEntries(b, false)
	})
}
