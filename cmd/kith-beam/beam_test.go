package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/parquet-go/parquet-go"

	"kith/cmd/internal/score"
	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

func TestMain(m *testing.M) {
	flag.Parse()
	register()
	*runners.Runner = "prism" // in this process, on loopback
	beam.Init()
	os.Exit(m.Run())
}

const memory = 64 << 20

// graph returns a database with a model, in which some nodes have a label, and some like things
// that have properties.
func graph(t *testing.T) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: memory})
	var edges strings.Builder
	for i := range 900 {
		fmt.Fprintln(&edges, i%97, i*i%89+i%5)
	}
	_, err := g.Load(t.Context(), strings.NewReader(edges.String()), db.LoadOptions{})
	err = errors.Join(err,
		g.Model("m").Create(t.Context(), model.Spec{Policy: "prb"}),
		g.Update(t.Context(), func(tx *db.Tx) error {
			for i := range 20 {
				if err := tx.PutNode(db.Node{Key: db.Int(int64(3 * i)), Label: "third"}); err != nil {
					return err
				}
			}
			err := errors.Join(tx.AddRelation(db.Relation{Name: "likes", Directed: true, TargetLabel: "thing"}), tx.AddRelation(db.Relation{Name: "hides", Exclude: true}))
			for i := range 120 {
				thing := fmt.Sprint("thing", i*i%37)
				err = errors.Join(err, tx.PutEdge(i%41, thing, db.Via("likes"), db.Weight(float32(1+i%3))), tx.SetProperties(thing, map[string]any{
					"price": float64(i * i % 37), "tags": []string{fmt.Sprint("t", i%3)},
				}))
				if i%10 == 0 {
					err = errors.Join(err, tx.PutEdge(i%41, fmt.Sprint("thing", i%37), db.Via("hides")))
				}
			}
			return err
		}))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// save writes a backup of a database, or of its changes since an earlier backup.
func save(t *testing.T, g *db.DB, earlier []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if earlier == nil {
		_, err = g.WriteTo(t.Context(), &b)
	} else {
		_, err = g.WriteSince(t.Context(), &b, bytes.NewReader(earlier))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// single returns what one run of package score writes for a question, as kith score does.
func single(t *testing.T, g *db.DB, format string, q score.Options) string {
	t.Helper()
	var b bytes.Buffer
	w, err := score.NewWriter(t.Context(), g, &b, format, true)
	if err == nil {
		_, err = score.Run(t.Context(), g, q, w, nil)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parsed returns the options of a command line, with a scratch folder of the test.
func parsed(t *testing.T, args ...string) *options {
	t.Helper()
	f, scratch := flag.NewFlagSet("", flag.ContinueOnError), filepath.Join(t.TempDir(), "scratch")
	t.Cleanup(func() {
		if err := copies.close(); err != nil {
			t.Error(err)
		}
	})
	o := newOptions(f)
	args = append([]string{"--scratch", scratch, "--memory", fmt.Sprint(memory)}, args...)
	if err := errors.Join(f.Parse(args), o.check(f.Args())); err != nil {
		t.Fatal(err)
	}
	return o
}

// content returns the content of a file of any file system.
func content(t *testing.T, uri string) string {
	t.Helper()
	r, err := open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// joined returns the outputs of all shards, and fails the test if another file with the name of the
// output remains.
func joined(t *testing.T, o *options) (text string) {
	t.Helper()
	for shard := range o.shards {
		text += content(t, o.shardName(shard))
	}
	ext := filepath.Ext(o.out)
	found, err := list(t.Context(), strings.TrimSuffix(o.out, ext)+"*")
	if err != nil || len(found) != o.shards {
		t.Errorf("files %v, %v: want %d", found, err, o.shards)
	}
	return text
}

// The output of a job is that of kith score, whatever the question, the file systems and the number
// of shards.
func TestJob(t *testing.T) {
	g, dir := graph(t), t.TempDir()
	earlier := save(t, g, nil)
	if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge("late", 3) }); err != nil {
		t.Fatal(err)
	}
	monday, tuesday, local := "memfs://monday.kbk", "memfs://tuesday.kbk", filepath.Join(dir, "whole.kbk")
	memfs.Write(monday, earlier)
	memfs.Write(tuesday, save(t, g, earlier))
	if err := os.WriteFile(local, save(t, g, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := filepath.Join(dir, "g.kith") // the name of the database in the folder of the copy
	if err := os.WriteFile(sources, []byte("5\nlate\n7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args, out, format string
		shards                  int
		q                       score.Options
	}{
		{"model", "", filepath.Join(dir, "new", "model.csv"), "csv", 5, score.Options{Using: "m", Among: "NEIGHBORS(2)", Top: 3}},
		{"label", "", "memfs://label.jsonl", "jsonl", 3, score.Options{Using: "adamic_adar", Label: "third", Where: "score > 0.5"}},
		{"relation", "", filepath.Join(dir, "relation.csv"), "csv", 3, score.Options{
			Using: "ppr", Relation: "likes", Among: "NEIGHBORS(3) VIA likes EXCEPT NEIGHBORS VIA hides", Where: "price < 30 AND NOT 't0' IN tags AND score > 0", Top: 4,
		}},
		{"inverse", "", filepath.Join(dir, "inverse.csv"), "csv", 2, score.Options{Using: "preferential_attachment", Relation: "likes", Inverse: true, Label: "thing", Among: "ALL", Top: 2}},
		{"sources", "", filepath.Join(dir, "sources.csv"), "csv", 1, score.Options{Using: "m", Sources: sources}},
		{"empty", "", filepath.Join(dir, "more.csv"), "csv", 7, score.Options{Using: "m", Sources: sources, Top: 1}}, // shards without sources
	} {
		t.Run(c.name, func(t *testing.T) {
			backups := []string{"--backup", local}
			if c.name == "label" {
				backups = []string{"--backup", monday, "--backup", tuesday}
			}
			o := parsed(t, append(backups, "--out", c.out, "--shards", fmt.Sprint(c.shards), "--using", c.q.Using, "--among", c.q.Among,
				"--label", c.q.Label, "--sources", c.q.Sources, "--where", c.q.Where, "--top", fmt.Sprint(c.q.Top),
				"--relation", c.q.Relation, "--inverse="+fmt.Sprint(c.q.Inverse))...)
			if err := run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			want := single(t, g, c.format, c.q)
			if got := joined(t, o); got != want || len(want) < 50 {
				t.Errorf("got %d bytes\n%.300s\nwant %d\n%.300s", len(got), got, len(want), want)
			}
		})
	}
}

// link is a row of a Parquet file of links between integers and strings.
type link struct {
	Source string  `parquet:"source"`
	Target string  `parquet:"target"`
	Rank   int64   `parquet:"rank"`
	Score  float64 `parquet:"score"`
}

// The Parquet files of all shards have the rows of one file.
func TestParquet(t *testing.T) {
	g := graph(t)
	if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge("late", 3) }); err != nil {
		t.Fatal(err)
	}
	memfs.Write("memfs://parquet.kbk", save(t, g, nil))
	o := parsed(t, "--backup", "memfs://parquet.kbk", "--out", "memfs://links.parquet", "--shards", "3", "--using", "m", "--top", "2")
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	rows := func(file string) []link {
		all, err := parquet.Read[link](strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var got []link
	for shard := range o.shards {
		got = append(got, rows(content(t, o.shardName(shard)))...)
	}
	want := rows(single(t, g, "parquet", score.Options{Using: "m", Top: 2}))
	if !slices.Equal(got, want) || len(want) < 50 {
		t.Errorf("got %d rows, want %d", len(got), len(want))
	}
}

// A job that cannot succeed fails with an error that names the thing, and leaves no output.
func TestBadInput(t *testing.T) {
	g := graph(t)
	whole := save(t, g, nil)
	if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge("late", 3) }); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"whole.kbk": whole, "cut.kbk": whole[:len(whole)-20], "short.kbk": whole[:12], "text.kbk": []byte("source,target\n"),
		"later.kbk": save(t, g, whole), "damaged.kbk": flipped(whole), "nobody.txt": []byte("nobody\n"), "have-00000-of-00002.csv": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct{ args, want string }{
		{"--backup none.kbk", "backup open none.kbk: no such file"},
		{"--backup ftp://a/b", `"ftp" not registered for "ftp://a/b"`},
		{"--backup text.kbk", "text.kbk.*it is not a backup: it begins with"},
		{"--backup short.kbk", "short.kbk.*truncated"},
		{"--backup later.kbk", "later.kbk.*the backup of version .* comes first"},
		{"--backup cut.kbk", "cut.kbk.*truncated"},
		{"--backup damaged.kbk", "damaged.kbk.*corrupt"},
		{"--backup whole.kbk --out have.csv", "have-00000-of-00002.csv: file already exists; --force replaces it"},
		{"--backup whole.kbk --using nobody", "shard . of 2:.*nobody"},
		{"--backup whole.kbk --among NEIGHBOURS(2)", "shard . of 2: among NEIGHBOURS.*did you mean NEIGHBORS"},
		{"--backup whole.kbk --sources nobody.txt", "nobody.txt: line 1:.*no node 'nobody'"},
		{"--backup whole.kbk --sources none.txt", "open none.txt: no such file"},
	} {
		t.Run(strings.ReplaceAll(c.args, "/", "_"), func(t *testing.T) {
			args := append(strings.Fields(c.args), "--shards", "2")
			if !strings.Contains(c.args, "--out") {
				args = append(args, "--out", "links.csv")
			}
			err := run(t.Context(), parsed(t, args...))
			match(t, err, c.want)
			if left, _ := filepath.Glob("links*"); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// flipped returns a copy with another bit in the middle.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 4
	return b
}

// A command line that is wrong is refused before anything is read.
func TestMisuse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--out a.csv", "--backup URI is missing"},
		{"--backup a", "--out URI is missing"},
		{"--backup a --out a.txt", `--out a.txt: unknown format "txt"`},
		{"--backup a --out a*.csv", "must not contain"},
		{"--backup a --out a.csv --shards 0", "--shards must be from 1 to 99999, got 0"},
		{"--backup a --out a.csv --top -1", "--top must be at least 0, got -1"},
		{"--backup a --out a.csv --label x --pairs y", "only one of"},
		{"--backup a --out a.csv b", `"b" is not a flag`},
	} {
		f := flag.NewFlagSet("", flag.ContinueOnError)
		o := newOptions(f)
		if err := f.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		match(t, o.check(f.Args()), c.want)
	}
}

// worker returns the step that scores the shards of a job, as a worker makes it from its encoding.
func worker(t *testing.T, j *job) *scoreShard {
	t.Helper()
	step := &scoreShard{Job: *j}
	if err := step.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return step
}

// An engine repeats what failed, and may run a shard twice. Each row is in the output once.
func TestRetry(t *testing.T) {
	g, dir, ctx := graph(t), t.TempDir(), context.Background()
	saved, out := filepath.Join(dir, "g.kbk"), filepath.Join(dir, "links.csv")
	if err := os.WriteFile(saved, save(t, g, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	o := parsed(t, "--backup", saved, "--out", out, "--shards", "3", "--using", "m", "--top", "2")
	j, err := newJob(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	step := worker(t, j)
	var parts []part
	emit := func(_ int, p part) { parts = append(parts, p) }
	interrupted, cancel := context.WithCancel(ctx)
	cancel()
	if err := step.ProcessElement(interrupted, 1, emit); !errors.Is(err, context.Canceled) || len(parts) > 0 {
		t.Fatalf("an interrupted attempt: %v, %v", err, parts)
	}
	for _, shard := range []int{2, 0, 1} {
		lost := len(parts)
		for range 2 { // the result of the first attempt does not reach the engine
			parts = parts[:lost]
			if err := step.ProcessElement(ctx, shard, emit); err != nil {
				t.Fatal(err)
			}
		}
	}
	each := func(parts []part) func(*part) bool {
		return func(p *part) bool {
			if len(parts) == 0 {
				return false
			}
			*p, parts = parts[0], parts[1:]
			return true
		}
	}
	last := &publish{Job: *j}
	match(t, last.ProcessElement(ctx, 0, each(parts[:2])), "shard 1 of 3 is missing")
	if err := os.Rename(parts[1].File, o.shardName(0)); err != nil { // a first attempt that was killed
		t.Fatal(err)
	}
	for range 2 {
		if err := last.ProcessElement(ctx, 0, each(parts)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := joined(t, o), single(t, g, "csv", score.Options{Using: "m", Top: 2}); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// An output that exists is replaced with --force, even one with a different number of shards.
func TestForce(t *testing.T) {
	g, dir := graph(t), t.TempDir()
	memfs.Write("memfs://force.kbk", save(t, g, nil))
	args := []string{"--backup", "memfs://force.kbk", "--out", filepath.Join(dir, "links.csv"), "--using", "adamic_adar"}
	for _, more := range []string{"--shards 3", "--shards 2 --force", "--force", "--shards 2 --force"} {
		o := parsed(t, append(args, strings.Fields(more)...)...)
		if err := run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got, want := joined(t, o), single(t, g, "csv", score.Options{Using: "adamic_adar"}); got != want {
			t.Errorf("%s: got %d bytes, want %d", more, len(got), len(want))
		}
	}
}

// Processes of one machine share a copy. Another backup with the same name is another copy.
func TestSharedCopy(t *testing.T) {
	g, dir, ctx := graph(t), t.TempDir(), context.Background()
	saved := filepath.Join(dir, "g.kbk")
	job := func() *job {
		if err := os.WriteFile(saved, save(t, g, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		o := parsed(t, "--backup", saved, "--out", filepath.Join(dir, "links.csv"))
		o.scratch = dir
		j, err := newJob(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := job()
	one, two := pool{of: map[string]*dbCopy{}}, pool{of: map[string]*dbCopy{}} // of two processes
	first, err := one.get(ctx, j.Source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(saved, saved+".gone"); err != nil {
		t.Fatal(err)
	}
	second, err := two.get(ctx, j.Source)
	if err != nil || first.dir != second.dir {
		t.Fatalf("a second process: %v", err)
	}
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge("late", 3) }); err != nil {
		t.Fatal(err)
	}
	other, err := two.get(ctx, job().Source)
	if err != nil || other.dir == second.dir {
		t.Errorf("a later backup: %v", err)
	}
	if err := errors.Join(one.close(), two.close(), os.WriteFile(saved, []byte("other"), 0o600)); err != nil {
		t.Fatal(err)
	}
	j.Source.Scratch = filepath.Join(dir, "empty")
	_, err = one.get(ctx, j.Source)
	match(t, err, "g.kbk has 5 bytes, and had .* when the job began")
	if again, err := one.get(ctx, j.Source); again.err == nil || err == nil {
		t.Error("a permanent error is forgotten")
	}
}

// match fails the test unless the text of an error matches a pattern.
func match(t *testing.T, err error, pattern string) {
	t.Helper()
	if err == nil || !regexp.MustCompile(`(?s)`+pattern).MatchString(err.Error()) {
		t.Errorf("error %v, want one that matches %q", err, pattern)
	}
}
