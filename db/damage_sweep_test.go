package db_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/model"
)

// sweptDatabase is a small database in some state.
type sweptDatabase struct {
	name     string
	o        db.Options
	sessions int  // the first one loads a list
	closed   bool // or killed after its last commit
}

var sweptDatabases = []sweptDatabase{
	{name: "closed", sessions: 2, closed: true},
	{name: "closed with one table", sessions: 1, closed: true},
	{name: "killed", sessions: 2},
	{name: "killed in the first session", sessions: 1},
	{name: "killed without syncs", o: db.Options{NoSync: true}, sessions: 2},
}

// build makes the database and returns its files and what it has held. Another seed makes another
// database.
func (d sweptDatabase) build(t testing.TB, seed uint64) (files map[string][]byte, r record) {
	path, ctx, rng := place(t), context.Background(), rand.New(rand.NewPCG(seed, 12))
	r = record{ever: map[string]bool{}}
	for session := range d.sessions {
		o := d.o
		o.Memory = 64 << 20
		g := open(t, path, &o)
		if session == 0 && d.sessions > 1 {
			_, err := g.Load(ctx, strings.NewReader(wheel(200+int(seed))), db.LoadOptions{})
			must(t, err, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
		}
		for range 25 {
			update(t, g, func(tx *db.Tx) error { return scribble(tx, rng, 5) })
			maps.Copy(r.ever, lines(t, g))
		}
		r.now, files = lines(t, g), readFiles(t, path)
		must(t, g.Close())
	}
	if d.closed {
		files = readFiles(t, path)
	}
	return files, r
}

// sweep returns copies of the files of a database, each with damage to one file, by its
// description. foreign are the files of another database in the same state.
func sweep(files, foreign map[string][]byte, rng *rand.Rand, flips int) map[string]map[string][]byte {
	all := map[string]map[string][]byte{}
	put := func(what, name string, b []byte) {
		damaged := maps.Clone(files)
		if damaged[name] = b; b == nil {
			delete(damaged, name)
		}
		all[name+" "+what] = damaged
	}
	for name, b := range files {
		n := used(b)
		put("deleted", name, nil)
		put("empty", name, []byte{})
		for other, c := range foreign {
			if other == name || foreign[name] == nil && filepath.Ext(other) == filepath.Ext(name) {
				put("of another database", name, c)
			}
		}
		for other, c := range files {
			if filepath.Ext(name) == ".mem" && filepath.Ext(other) == ".vlog" {
				put("replaced by "+other, name, c)
			}
		}
		if n == 0 {
			continue
		}
		for _, cut := range []int{n - 1, n / 2, n / 8} {
			put(fmt.Sprintf("cut to %d bytes", cut), name, b[:cut])
			zeroed := slices.Clone(b)
			clear(zeroed[cut:])
			put(fmt.Sprintf("zeros from byte %d", cut), name, zeroed)
		}
		burst := slices.Clone(b)
		clear(burst[n/3 : n/2])
		put("zeros in the middle", name, burst)
		at := []int{rng.IntN(n), n - 1 - rng.IntN(min(n, 64))}
		if name == "MANIFEST" {
			at = append(at, 4, 5)
		}
		for range flips {
			at = append(at, rng.IntN(n))
		}
		for _, at := range at {
			flipped := slices.Clone(b)
			flipped[at] ^= 1 << rng.IntN(8)
			put(fmt.Sprintf("byte %d flipped", at), name, flipped)
		}
	}
	for name, b := range foreign {
		if ext := filepath.Ext(name); ext == ".sst" || ext == ".mem" {
			put("added from another database", "00090"+ext, b)
			put("added from another database", "000090"+ext, b)
		}
	}
	return all
}

// losesNothing reports whether a file has nothing that the other files do not tell.
func losesNothing(name string) bool {
	return filepath.Ext(name) != ".sst" && filepath.Ext(name) != ".mem" || strings.Contains(name, "90.")
}

// saysLoss matches what a repair says when it has lost something.
var saysLoss = regexp.MustCompile(`lost|cannot be read|missing|left out|were kept`)

// foreignWords matches what Badger says and kith does not.
var foreignWords = regexp.MustCompile(`(?i)http|badger|encryption|magic|proto|memtable|fid`)

// After any damage to a file, a database has all that was acknowledged, or it is refused. A repair
// then keeps what can be read and says what is lost, or it fails and changes nothing. It never
// makes an empty database.
func TestDamageSweep(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, d := range sweptDatabases {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			files, r := d.build(t, 1)
			foreign, _ := d.build(t, 2)
			rng := rand.New(rand.NewPCG(1, 13))
			all := sweep(files, foreign, rng, *times-1)
			whats := slices.Sorted(maps.Keys(all))
			if n := size(0, 5, len(whats)); len(whats) > n {
				rng.Shuffle(len(whats), func(i, j int) { whats[i], whats[j] = whats[j], whats[i] })
				slices.SortStableFunc(whats, func(a, b string) int { return -cmp.Compare(telling(a), telling(b)) })
				whats = whats[:n]
			}
			counts := map[string]int{}
			for part := range slices.Chunk(whats, 20) {
				var paths []string
				for _, what := range part {
					paths = append(paths, filepath.Join(t.TempDir(), "g"))
					writeFiles(t, paths[len(paths)-1], all[what])
				}
				out, err := child(t, "repair", strings.Join(paths, string(filepath.ListSeparator))).Output()
				outcomes := strings.Split(strings.TrimSpace(string(out)), "\n")
				if err != nil || len(outcomes) != len(paths) {
					t.Fatalf("the process ended over %s: %v", part[min(len(outcomes), len(part)-1)], err)
				}
				for i, outcome := range outcomes {
					r.judge(t, part[i], outcome, paths[i]+".lines")
					kind, _, _ := strings.Cut(outcome, ":")
					counts[kind]++
				}
			}
			t.Logf("%d damages: %v", len(whats), counts)
		})
	}
}

// telling returns 1 for damage that was once not detected, and 0 for other damage.
func telling(what string) int {
	if regexp.MustCompile(`^INVENTORY of|^MANIFEST byte [45] |sst deleted|mem (replaced|cut|zeros)`).MatchString(what) {
		return 1
	}
	return 0
}

// judge fails t if the outcome of some damage is wrong. lines is the file with what there is
// afterwards.
func (r *record) judge(t *testing.T, what, outcome, lines string) {
	t.Helper()
	share := r.share(t, what, lines)
	t.Logf("%s: %s, %.1f %%", what, outcome, 100*share)
	name, _, _ := strings.Cut(what, " ")
	done, _, _ := strings.Cut(outcome, "; found: ")
	if foreignWords.MatchString(outcome) {
		t.Errorf("%s: Badger's words: %s", what, outcome)
	}
	switch {
	case strings.HasPrefix(outcome, "opened"):
		if share < 1 {
			t.Errorf("%s: it was opened with %.1f %% of what there was", what, 100*share)
		}
	case strings.HasPrefix(outcome, "repaired"):
		if share == 0 {
			t.Errorf("%s: the repaired database is empty", what)
		}
		if share < 1 && (losesNothing(name) || !saysLoss.MatchString(done)) {
			t.Errorf("%s: %.1f %% are left: %s", what, 100*share, outcome)
		}
	case strings.HasPrefix(outcome, "not repaired"):
		if losesNothing(name) {
			t.Errorf("%s: %s", what, outcome)
		}
	default:
		t.Errorf("%s: %s", what, outcome)
	}
}

// unchanged returns an error if the files of a database, except its lock, are not as they were.
func unchanged(was, is map[string][]byte) error {
	for name := range union(was, is) {
		if name != "LOCK" && !bytes.Equal(was[name], is[name]) {
			return fmt.Errorf("a failed repair has changed %s", name)
		}
	}
	return nil
}

// A table of a database that differs in one weight is not taken for the table that was written.
func TestTableOfATwin(t *testing.T) {
	t.Parallel()
	twin := func(weight float32) map[string][]byte {
		path := place(t)
		g := open(t, path, nil)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(weight)) })
		must(t, g.Close())
		return readFiles(t, path)
	}
	files, other := twin(1), twin(2)
	if len(files["000001.sst"]) == 0 || bytes.Equal(files["000001.sst"], other["000001.sst"]) {
		t.Fatal("the tables are equal")
	}
	files["000001.sst"] = other["000001.sst"]
	path := place(t)
	writeFiles(t, path, files)
	wantCorrupt(t, path, "000001.sst is not the file that was written")
}
