package db_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
)

// The power-loss test records the directory at each sync, makes from two consecutive records what a
// power cut between them could leave, opens it and compares it with a twin.

// powerCut makes images of a directory that had the files then at the last sync and has the files
// now at the next one. Synced data is there. Of later data, any sector may be there, or zeros where
// there was nothing, and a new name may be there or not. Files that Badger syncs itself, the
// manifest and the tables that it names, are complete if they are in the image at all; a log is
// deleted only after that. The inventory is replaced by a synced file after the manifest that it
// describes was synced. A draft of a table is synced, then renamed.
type powerCut struct {
	t    testing.TB
	rng  *rand.Rand
	then map[string][]byte
	now  map[string][]byte
}

const sector = 512

func (c *powerCut) image() map[string][]byte {
	image := map[string][]byte{}
	manifest := c.manifest()
	isNew := bytes.Equal(manifest, c.now["MANIFEST"])
	if !isNew && !bytes.HasPrefix(c.now["MANIFEST"], manifest) { // it is about to be replaced
		image["MANIFEST-REWRITE"] = c.mix(nil, c.now["MANIFEST"])
	}
	back := false                                             // whether a deleted log is there
	listed := isNew && (!c.keepsLogs() || c.rng.IntN(2) == 0) // whether the new inventory, with the names of the logs, is there
	for name := range union(c.then, c.now) {
		then, was := c.then[name]
		now, is := c.now[name]
		if strings.HasSuffix(name, ".mem") { // a log is truncated to zero length before it is deleted
			was, is = was && len(then) > 0, is && len(now) > 0
		}
		switch {
		case name == "MANIFEST":
			image[name] = manifest
		case name == "INVENTORY" && !listed:
			if was && isNew && !bytes.HasPrefix(manifest, c.then["MANIFEST"]) { // before it is replaced, the inventory forgets it
				then = reseal(c.t, then, `"manifest_bytes": \d+`, `"manifest_bytes": 0`)
			}
			if was {
				image[name] = then
			}
			image["INVENTORY-REWRITE"] = c.mix(nil, now)
		case name == "INVENTORY":
			image[name] = now
		case strings.HasSuffix(name, ".sst"):
			if is { // a table that the manifest does not name is a leftover
				image[name] = now
			} else if !isNew || c.rng.IntN(2) == 0 {
				image[name] = then
			}
		case was && !is && strings.HasSuffix(name, ".draft"): // it was renamed, or copied and deleted
		case was && !is: // a log that has become a table, or a file that is made anew
			switch end := c.rng.IntN(3); {
			case !isNew || end == 0:
				image[name] = then
				back = true
			case end == 1 && strings.HasSuffix(name, ".mem"):
				image[name] = nil
			}
		case !was && !is:
		case !was && !(listed && strings.HasSuffix(name, ".mem")) && c.rng.IntN(3) == 0: // the name did not reach the disk
		default:
			image[name] = c.mix(then, now)
		}
	}
	if back { // the newest commit forgets a log only when its deletion is durable
		image["NEWEST"] = c.then["NEWEST"]
	}
	return image
}

// keepsLogs reports whether all logs of then are still there. An inventory does not name a log that
// is about to be deleted.
func (c *powerCut) keepsLogs() bool {
	for name := range c.then {
		if strings.HasSuffix(name, ".mem") && len(c.now[name]) == 0 {
			return false
		}
	}
	return true
}

// manifest returns the old manifest, the new one, or the new one truncated within its last record.
func (c *powerCut) manifest() []byte {
	then, now := c.then["MANIFEST"], c.now["MANIFEST"]
	if !bytes.HasPrefix(now, then) { // it was rewritten and renamed
		return [][]byte{then, now}[c.rng.IntN(2)]
	}
	cut := now[:len(then)+c.rng.IntN(len(now)-len(then)+1)]
	for id := range manifestTables(c.t, cut) {
		name := fmt.Sprintf("%06d.sst", id)
		if c.then[name] == nil && c.now[name] == nil {
			return now // the table was created and deleted, so the manifest that says so is durable
		}
	}
	return cut
}

// manifestTables returns the numbers of the tables that a manifest names. After a header of 8
// bytes, a manifest is a sequence of records: length and checksum (4 bytes each) and a protocol
// buffer of changes, each of which creates a table (field 2 is missing) or deletes it.
func manifestTables(t testing.TB, b []byte) map[uint64]bool {
	tables := map[uint64]bool{}
	for b = b[8:]; len(b) >= 8; {
		n := int(binary.BigEndian.Uint32(b))
		if n > len(b)-8 {
			break // it was cut short
		}
		eachField(t, b[8:8+n], func(_, _ uint64, change []byte) {
			id, deleted := uint64(0), false
			eachField(t, change, func(field, value uint64, _ []byte) {
				switch field {
				case 1:
					id = value
				case 2:
					deleted = value == 1
				}
			})
			tables[id] = !deleted
		})
		b = b[8+n:]
	}
	maps.DeleteFunc(tables, func(_ uint64, named bool) bool { return !named })
	return tables
}

// eachField calls f for each field of a protocol buffer of numbers and messages.
func eachField(t testing.TB, b []byte, f func(field, number uint64, message []byte)) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		value, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			t.Fatalf("no protocol buffer: %x", b)
		}
		b = b[n+m:]
		if tag&7 == 2 {
			f(tag>>3, 0, b[:value])
			b = b[value:]
			continue
		}
		f(tag>>3, value, nil)
	}
}

// mix takes each changed sector from then or from now, or leaves it zero if then has no such
// sector.
func (c *powerCut) mix(then, now []byte) []byte {
	out := slices.Clone(now)
	how := c.rng.IntN(4)                                 // all of it, none, or by sector
	written := min(max(used(then), used(now)), len(now)) // both are zero from here on
	for at := 0; at < written; at += sector {
		if how == 0 || how > 1 && c.rng.IntN(2) == 0 {
			part := out[at:min(at+sector, len(out))]
			clear(part[copy(part, then[min(at, len(then)):]):])
		}
	}
	return out
}

func union(a, b map[string][]byte) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

// powerTest runs steps on a database and on its twin, which is one step ahead.
type powerTest struct {
	*testing.T
	rng    *rand.Rand
	path   string
	cuts   int                // power cuts at each point
	opened func(*db.DB) error // checks a database that was opened after a power cut
	then   map[string][]byte
	images int
}

// changed makes images of what power cuts since the last call could leave, and checks them.
func (p *powerTest) changed() {
	now := stillFiles(p, p.path)
	for range p.cuts {
		if p.then != nil {
			c := powerCut{p, p.rng, p.then, now}
			p.reopen(c.image())
		}
	}
	p.then = now
}

// stillFiles reads a directory at one moment, between the changes that Badger makes in the
// background.
func stillFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	for range 100 {
		before := fileSizes(t, dir)
		files := map[string][]byte{}
		for name := range before {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				break
			}
			files[name] = b
		}
		manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		must(t, err)
		if len(files) == len(before) && maps.Equal(before, fileSizes(t, dir)) && bytes.Equal(manifest, files["MANIFEST"]) {
			return files
		}
	}
	t.Fatal("the directory never stands still")
	return nil
}

// fileSizes returns the size of each file. Files that are deleted meanwhile are missing.
func fileSizes(t testing.TB, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	sizes := map[string]int64{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sizes[e.Name()] = info.Size()
		}
	}
	return sizes
}

// reopen opens and checks an image.
func (p *powerTest) reopen(image map[string][]byte) {
	p.images++
	path := filepath.Join(p.TempDir(), fmt.Sprint(p.images))
	writeFiles(p, path, image)
	g, err := db.Open(path, &db.Options{Memory: 64 << 20, NoSync: true})
	if err == nil {
		err = errors.Join(g.Check(context.Background()), p.opened(g), g.Close())
	}
	if err != nil {
		p.Fatalf("image %d: %v: %v", p.images, err, slices.Sorted(maps.Keys(image)))
	}
	must(p, os.RemoveAll(path))
}

// few returns the answer to a request for nodes that exist after the first step.
func few(t testing.TB, g *db.DB) string {
	r, err := g.Predict(context.Background(), db.PredictOptions{For: 7, Among: db.Keys(1, 3, 5, 11, 13), NoCache: true, Top: -1})
	if errors.Is(err, db.ErrNotFound) {
		return ""
	}
	must(t, err)
	r.GraphVersion = 0 // it counts the ballast too
	return text(t, r)
}

// ballast fills a log in a few commits, so that logs become tables. It changes nothing that answers
// depend on.
func ballast(g *db.DB, i int) error {
	return g.Update(context.Background(), func(tx *db.Tx) error {
		for k := range 16 {
			n := db.Node{Key: db.Str(fmt.Sprint("ballast", k)), Label: "ballast", Features: make([]float32, 12_000)}
			for j := range n.Features {
				n.Features[j] = float32(binary.BigEndian.Uint16([]byte{byte(i * j), byte(k + j)}))
			}
			if err := tx.PutNode(n); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestPowerLoss(t *testing.T) {
	t.Parallel()
	notShort(t)
	steps := size(2, 2, 14) * *times // with 14, logs become tables
	p := &powerTest{T: t, rng: rand.New(rand.NewPCG(8, 9)), path: place(t), cuts: 1}
	acknowledged, answers := 0, [2]string{} // answers of the twin before and after the step in progress
	p.opened = func(g *db.DB) error {
		n, err := stepsDone(g)
		if err == nil && n != acknowledged && n != acknowledged+1 {
			err = fmt.Errorf("%d steps are there, %d were acknowledged", n, acknowledged)
		}
		if err != nil {
			return err
		}
		if got, want := few(t, g), answers[n-acknowledged]; got != want {
			return fmt.Errorf("step %d:\n%s\nthe twin:\n%s", n, got, want)
		}
		return nil
	}
	twin := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	g := open(t, p.path, &db.Options{Memory: 64 << 20, Events: db.Events{Sync: func(time.Duration) { p.changed() }}})
	for i := range steps {
		must(t, step(twin, i), ballast(twin, i))
		answers[1] = few(t, twin)
		must(t, step(g, i))
		acknowledged++ // the ballast changes no answer
		answers[0] = answers[1]
		must(t, ballast(g, i))
	}
	must(t, g.Close(), twin.Close())
	t.Logf("%d images of %d steps", p.images, steps)
}

// manyKeys lists a graph whose keys take a few of the tables that a load writes.
func manyKeys(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%01000d %01000d %g\n", rng.IntN(n), i, rng.Float32())
	}
	return b.String()
}

// A power cut at any point of a load or of a compaction that writes tables leaves the database
// before or after it.
func TestPowerLossOfTables(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"in memory", "paged"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if mode == "paged" {
				notShort(t)
			} else {
				slow(t)
			}
			ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 10))
			first, second := manyKeys(rng, size(600, 600, 2500)), manyKeys(rng, size(750, 750, 3000))
			add := func(key string) func(*db.DB) error {
				return func(g *db.DB) error {
					return g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(key, 1) })
				}
			}
			load := func(list string) func(*db.DB) error {
				return func(g *db.DB) error {
					_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{})
					return err
				}
			}
			compact := func(g *db.DB) error { return g.Compact(ctx) }
			steps := []func(*db.DB) error{
				add("a"), load(first), add("b"), compact, add("c"), load(second), compact,
			}
			p := &powerTest{T: t, rng: rng, path: filepath.Join(t.TempDir(), mode), cuts: size(1, 1, 2) * *times}
			var was, will string // the content before and after the step in progress
			p.opened = func(g *db.DB) error {
				if got := content(t, g); got != was && got != will {
					return fmt.Errorf("the content is %s, want %s or %s", got, was, will)
				}
				return nil
			}
			twin := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
			o := crashOptions(p.path)
			o.Events.Sync = func(time.Duration) { p.changed() }
			db.OnStep(o, p.changed)
			g := open(t, p.path, o)
			was = content(t, twin)
			for _, step := range steps {
				must(t, step(twin))
				will = content(t, twin)
				must(t, step(g))
				was = will
				p.changed()
			}
			must(t, g.Close())
			p.changed()
			must(t, db.CompactDir(ctx, p.path, o))
			p.changed()
			must(t, twin.Close())
			t.Logf("%d images of %d steps", p.images, len(steps))
		})
	}
}

// content returns a digest of the edges and the version of the graph.
func content(t testing.TB, g *db.DB) string {
	t.Helper()
	sum := fnv.New64a()
	for _, e := range edges(t, g) {
		fmt.Fprintln(sum, e)
	}
	s, err := g.Stats()
	must(t, err)
	return fmt.Sprintf("%d edges, %x", s.Edges, sum.Sum64())
}
