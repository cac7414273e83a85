package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/index"
	"kith/model"
)

// record is what a database has held: everything that was ever committed, and what there is now.
type record struct {
	ever, now map[string]bool
}

// linesOf returns the nodes with their labels, the vectors and the edges of a database, a line
// each.
func linesOf(g *db.DB) (map[string]bool, error) {
	lines := map[string]bool{}
	err := g.View(context.Background(), func(tx *db.Tx) error {
		for n := range tx.Nodes() {
			lines[fmt.Sprint("node ", n.Key.Literal())] = true
			for name, v := range n.Properties {
				lines[fmt.Sprint("property ", n.Key.Literal(), " ", name, " ", v)] = true
			}
			if n.Label != "" {
				lines[fmt.Sprint("label ", n.Key.Literal(), " ", n.Label)] = true
			}
			if n.Features != nil {
				lines[fmt.Sprint("features ", n.Key.Literal(), " ", n.Features)] = true
			}
		}
		for e := range tx.Edges() {
			lines[fmt.Sprint("edge ", e.Src.Literal(), " ", e.Dst.Literal(), " ", e.Weight, " ", e.Time.Unix())] = true
		}
		return nil
	})
	return lines, err
}

func lines(t testing.TB, g *db.DB) map[string]bool {
	all, err := linesOf(g)
	must(t, err)
	return all
}

// damageable makes a database in three sessions, so that it has tables and, unless it is closed, a
// log. It returns its files and what it has held.
func damageable(t testing.TB, rng *rand.Rand, closed bool) (map[string][]byte, record) {
	path, ctx := place(t), context.Background()
	r := record{ever: map[string]bool{}}
	var files map[string][]byte
	for sitting := range 3 {
		g := open(t, path, &db.Options{Memory: 64 << 20})
		if sitting == 0 {
			_, err := g.Load(ctx, strings.NewReader(wheel(800+rng.IntN(800))), db.LoadOptions{})
			must(t, err)
			must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
		}
		for range 6 {
			update(t, g, func(tx *db.Tx) error { return scribble(tx, rng, 40) })
			maps.Copy(r.ever, lines(t, g))
			if err := g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 5 + rng.IntN(50), Reward: 1, Insert: true, Model: "m"}); !errors.Is(err, db.ErrNotFound) {
				must(t, err)
			}
			maps.Copy(r.ever, lines(t, g))
		}
		if r.now = lines(t, g); sitting == 2 && !closed {
			files = readFiles(t, path)
		}
		must(t, g.Close())
	}
	if closed {
		files = readFiles(t, path)
	}
	return files, r
}

// scribble makes random changes.
func scribble(tx *db.Tx, rng *rand.Rand, n int) error {
	key := func() any {
		if rng.IntN(3) == 0 {
			return fmt.Sprint("k", rng.IntN(400))
		}
		return rng.IntN(3000)
	}
	for range n {
		var err error
		switch a, b := key(), key(); rng.IntN(9) {
		case 0:
			err = tx.DeleteNode(a)
		case 1:
			err = tx.DeleteEdge(a, b)
		case 2:
			err = tx.SetFeatures(a, []float32{rng.Float32(), rng.Float32()})
		case 3:
			err = tx.PutNode(db.Node{Key: db.Str(fmt.Sprint("p", rng.IntN(50))), Label: "person"})
		case 4:
			err = tx.SetProperties(a, map[string]any{"price": rng.Float64(), "lang": fmt.Sprint("l", rng.IntN(20)), "hidden": nil})
		default:
			err = tx.PutEdge(a, b, db.Weight(float32(1+rng.IntN(9))))
		}
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
	}
	return nil
}

// fileDamages are the kinds of damage to a file.
var fileDamages = map[string]func(rng *rand.Rand, files map[string][]byte, name string){
	"flip": func(rng *rand.Rand, files map[string][]byte, name string) {
		if b := slices.Clone(files[name]); used(b) > 0 {
			b[rng.IntN(used(b))] ^= 1 << rng.IntN(8)
			files[name] = b
		}
	},
	"cut": func(rng *rand.Rand, files map[string][]byte, name string) {
		files[name] = files[name][:rng.IntN(used(files[name])+1)]
	},
	"zero": func(rng *rand.Rand, files map[string][]byte, name string) {
		b := slices.Clone(files[name])
		at := rng.IntN(used(b)+1) &^ 4095
		clear(b[at:min(at+4096, len(b))])
		files[name] = b
	},
	"delete": func(_ *rand.Rand, files map[string][]byte, name string) { delete(files, name) },
	"swap": func(rng *rand.Rand, files map[string][]byte, name string) {
		other := rng.IntN(len(files))
		files[name] = files[slices.Sorted(maps.Keys(files))[other]]
	},
}

func used(b []byte) int {
	zeros, n := make([]byte, 4096), len(b)
	for n >= len(zeros) && bytes.Equal(b[n-len(zeros):n], zeros) {
		n -= len(zeros)
	}
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return n
}

// After damage to one file, a database that opens or is repaired holds nothing that was never
// committed, and nine of ten rejected databases can be repaired.
func TestRepairOfDamagedFiles(t *testing.T) {
	t.Parallel()
	notShort(t)
	n := size(2, 6, 60) * *times
	rng := rand.New(rand.NewPCG(7, 7))
	refused, repaired, kept := 0, 0, 0.0
	for i := 0; i < n; {
		files, r := damageable(t, rng, i%50 == 0)
		var whats, paths []string
		for range min(25, n-i) {
			damaged := maps.Clone(files)
			name := slices.Sorted(maps.Keys(files))[rng.IntN(len(files))]
			how := slices.Sorted(maps.Keys(fileDamages))[rng.IntN(len(fileDamages))]
			fileDamages[how](rng, damaged, name)
			paths = append(paths, filepath.Join(t.TempDir(), "g"))
			whats = append(whats, how+" of "+name)
			writeFiles(t, paths[len(paths)-1], damaged)
			i++
		}
		out, err := child(t, "repair", strings.Join(paths, string(filepath.ListSeparator))).Output()
		outcomes := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(outcomes) != len(paths) {
			t.Fatalf("the process ended over %s: %v", whats[min(len(outcomes), len(whats)-1)], err)
		}
		for j, outcome := range outcomes {
			share := r.share(t, whats[j], paths[j]+".lines")
			t.Logf("%s: %s, %.1f %% there", whats[j], outcome, 100*share)
			if !strings.HasPrefix(outcome, "opened") {
				refused++
			}
			if strings.HasPrefix(outcome, "repaired") {
				repaired++
				kept += share
			}
		}
	}
	t.Logf("%d of %d were refused, %d of them repaired, with %.1f %% there", refused, n, repaired, 100*kept/float64(max(1, repaired)))
	if 10*repaired < 9*refused {
		t.Errorf("%d of %d were repaired", repaired, refused)
	}
}

// share returns the share of the present lines that are in the file, and fails t if a line was
// never committed.
func (r *record) share(t *testing.T, what, name string) float64 {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	must(t, err)
	there := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if !r.ever[line] {
			t.Fatalf("%s: %s was never committed", what, line)
		}
		if r.now[line] {
			there++
		}
	}
	return float64(there) / float64(len(r.now))
}

// openOrRepair runs in a child process: it opens or repairs each damaged database, writes its
// content to a file, and prints the outcome.
func openOrRepair(list string) error {
	for _, path := range strings.Split(list, string(filepath.ListSeparator)) {
		outcome, err := openOrRepairOne(path)
		if err != nil {
			outcome = "failed: " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Println(outcome)
	}
	return nil
}

func openOrRepairOne(path string) (outcome string, err error) {
	outcome, o := "opened", &db.Options{Memory: 64 << 20}
	g, err := db.Open(path, o)
	if errors.Is(err, db.ErrCorrupt) {
		was, err := filesIn(path)
		if err != nil {
			return "", err
		}
		r, refused := db.Repair(context.Background(), path, o, db.RepairOptions{})
		if refused != nil {
			is, err := filesIn(path)
			if err = errors.Join(err, unchanged(was, is)); err != nil {
				return "", errors.Join(refused, err)
			}
			return "not repaired: " + strings.ReplaceAll(refused.Error(), "\n", "; "), nil
		}
		if len(r.Found) == 0 || len(r.Done) == 0 {
			return "", fmt.Errorf("repaired without a word: %+v", r)
		}
		outcome = "repaired: " + strings.Join(r.Done, "; ") + "; found: " + strings.ReplaceAll(errors.Join(r.Found...).Error(), "\n", "; ")
		g, err = db.Open(path, o)
		if err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	defer g.Close()
	lines, err := linesOf(g)
	if err := errors.Join(err, g.Check(context.Background())); err != nil {
		return "", err
	}
	all := strings.Join(slices.Collect(maps.Keys(lines)), "\n")
	return outcome, os.WriteFile(path+".lines", []byte(all), 0o600)
}

// unflushed is a database that several tests damage in their own ways.
var unflushed struct {
	sync.Once
	files map[string][]byte
	record
}

// killedBeforeAFlush returns the files of a database that was killed after commits which are in two
// tables and a log, and what it held. The tests share it.
func killedBeforeAFlush(t *testing.T) (map[string][]byte, record) {
	unflushed.Do(func() { unflushed.files, unflushed.record = damageable(t, rand.New(rand.NewPCG(3, 5)), false) })
	return maps.Clone(unflushed.files), unflushed.record
}

// A manifest that lost its end is damage and not a crash: no table is deleted, and a repair
// restores everything.
func TestRepairOfACutManifest(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, closed := range []bool{true, false} {
		files, r := killedBeforeAFlush(t)
		if closed {
			files, r = damageable(t, rand.New(rand.NewPCG(3, 5)), true)
		}
		for _, inventoried := range []bool{true, false} {
			damaged := maps.Clone(files)
			// Without a log, a partial record is damage; here a whole record is missing.
			cut := 1
			if closed {
				cut = 14
			}
			damaged["MANIFEST"] = damaged["MANIFEST"][:len(damaged["MANIFEST"])-cut]
			if !inventoried {
				delete(damaged, "INVENTORY")
			}
			path := filepath.Join(t.TempDir(), "g")
			writeFiles(t, path, damaged)
			out, err := child(t, "repair", path).Output()
			if must(t, err); !strings.HasPrefix(string(out), "repaired: ") {
				t.Errorf("closed %v, with an inventory %v: %s", closed, inventoried, out)
			}
			if share := r.share(t, "cut manifest", path+".lines"); share != 1 {
				t.Errorf("closed %v, with an inventory %v: %.1f %% are there", closed, inventoried, 100*share)
			}
		}
	}
}

// Foreign files in the directory are ignored.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	path := place(t)
	must(t, open(t, path, nil).Close())
	for _, name := range []string{"2024", ".git", "my.notes"} {
		must(t, os.Mkdir(filepath.Join(path, name), 0o700))
	}
	must(t, os.Symlink("gone", filepath.Join(path, ".#notes")))
	must(t, open(t, path, nil).Close())
}

// Without syncs, a power cut may leave gaps in a log. They lose commits but are not damage. While
// the system runs, nothing but damage leaves gaps.
func TestPowerLossWithoutSync(t *testing.T) {
	t.Parallel()
	path, o := place(t), &db.Options{NoSync: true}
	g := open(t, path, o)
	for i := range 300 {
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) })
	}
	files := readFiles(t, path)
	must(t, g.Close())
	log := slices.Clone(files["00001.mem"])
	clear(log[8192:12288])
	files["00001.mem"] = log
	path = place(t)
	writeFiles(t, path, files)
	if runtime.GOOS == "linux" {
		wantCorrupt(t, path, "00001.mem: bytes ")
	}
	files["NEWEST"] = reseal(t, files["NEWEST"], `"boot":"[^"]*"`, `"boot":"earlier"`) // a power cut ends what the system calls a boot
	path = place(t)
	writeFiles(t, path, files)
	must(t, open(t, path, o).Close())
}

// wantCorrupt fails t unless opening a database reports damage with a text that contains says.
func wantCorrupt(t testing.TB, path, says string) {
	t.Helper()
	g, err := db.Open(path, dbtest.Small(nil))
	if wantError(t, says, err, db.ErrCorrupt); err == nil {
		must(t, g.Close())
	} else if !strings.Contains(err.Error(), says) {
		t.Errorf("%v does not say: %s", err, says)
	}
}

// reseal replaces a part of a file that begins with its checksum, such as NEWEST and INVENTORY.
func reseal(t testing.TB, b []byte, from, to string) []byte {
	t.Helper()
	_, doc, ok := bytes.Cut(b, []byte("\n"))
	was := regexp.MustCompile(from).Find(doc)
	if !ok || was == nil {
		t.Fatalf("no %s in %s", from, b)
	}
	doc = bytes.Replace(doc, was, []byte(to), 1)
	return fmt.Appendf(nil, "%08x\n%s", index.Checksum(doc), doc)
}

// A table that was replaced by a copy of a different table is rejected, whichever it is.
func TestReplacedTable(t *testing.T) {
	t.Parallel()
	notShort(t)
	files, _ := killedBeforeAFlush(t)
	tables := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !strings.HasSuffix(name, ".sst") })
	if len(tables) < 2 {
		t.Fatalf("tables %v", tables)
	}
	for _, to := range tables {
		for _, from := range tables {
			if from == to {
				continue
			}
			damaged := maps.Clone(files)
			damaged[to] = damaged[from]
			path := filepath.Join(t.TempDir(), "g")
			writeFiles(t, path, damaged)
			g, err := db.Open(path, dbtest.Small(nil))
			if wantError(t, from+" as "+to, err, db.ErrCorrupt); g != nil {
				must(t, g.Close())
			}
		}
	}
}

// A directory or a dangling symbolic link in place of a file is reported by name.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	notShort(t)
	files, _ := killedBeforeAFlush(t)
	for _, c := range []struct {
		name string
		put  func(path string) error
		want error
		says string
	}{
		{"000001.sst", func(path string) error { return os.Mkdir(path, 0o700) }, db.ErrCorrupt, "000001.sst is a directory"},
		{"000001.sst", func(path string) error { return os.Symlink("gone", path) }, db.ErrCorrupt, "000001.sst is a symbolic link to gone, which does not exist"},
		{"MANIFEST", func(path string) error { return os.Mkdir(path, 0o700) }, db.ErrCorrupt, "MANIFEST is a directory"},
		{"00001.mem", func(path string) error { return os.Mkdir(path, 0o700) }, db.ErrCorrupt, "00001.mem is a directory"},
		{"", func(path string) error { return os.Symlink("gone", path) }, db.ErrNotFound, "is a symbolic link to gone, which does not exist"},
	} {
		path := filepath.Join(t.TempDir(), "g")
		if c.name != "" {
			damaged := maps.Clone(files)
			delete(damaged, c.name)
			writeFiles(t, path, damaged)
		}
		must(t, c.put(filepath.Join(path, c.name)))
		g, err := db.Open(path, dbtest.Small(nil))
		if wantError(t, c.says, err, c.want); g != nil {
			must(t, g.Close())
		}
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v does not say: %s", err, c.says)
		}
	}
}
