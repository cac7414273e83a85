package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/model"
)

// openAndCheck runs in a child process: it opens each damaged database and prints the outcome. The
// process must survive.
func openAndCheck(list string) error {
	for _, path := range strings.Split(list, string(filepath.ListSeparator)) {
		fmt.Println(path, outcome(path))
	}
	return nil
}

func outcome(path string) string {
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	switch {
	case errors.Is(err, db.ErrCorrupt), errors.Is(err, db.ErrMismatch):
		return "refused"
	case err != nil:
		return fmt.Sprintf("failed otherwise: %v", err)
	}
	defer g.Close()
	ctx := context.Background()
	if err := g.Check(ctx); errors.Is(err, db.ErrCorrupt) {
		return "reported"
	} else if err != nil {
		return fmt.Sprintf("check failed: %v", err)
	}
	nodes := int64(0)
	err = g.View(ctx, func(tx *db.Tx) error {
		nodes = tx.Stats().Nodes
		for n := range tx.Nodes() {
			if _, err := tx.Predict(ctx, db.PredictOptions{For: n.Key}); err != nil {
				return err
			}
			break
		}
		return nil
	})
	if err != nil {
		return fmt.Sprintf("predict failed: %v", err)
	}
	return fmt.Sprintf("clean with %d nodes", nodes)
}

// furnished returns the files of a database with records of all kinds, made in two sessions, before
// or after it was closed.
func furnished(t testing.TB, closed bool) (files map[string][]byte) {
	path, ctx := place(t), context.Background()
	for sitting := range 2 {
		g := open(t, path, &db.Options{Memory: 64 << 20})
		update(t, g, func(tx *db.Tx) error { // the load writes these values into the base
			return tx.PutNode(db.Node{Key: db.Str("x"), Properties: map[string]any{"price": float64(sitting), "tags": []string{"a", "b"}}})
		})
		_, err := g.Load(ctx, strings.NewReader(wheel(50*(sitting+1))), db.LoadOptions{})
		must(t, err)
		update(t, g, func(tx *db.Tx) error {
			return errors.Join(tx.PutEdge("x", sitting, db.Weight(2)), tx.PutEdge("x", sitting, db.Via("likes")), tx.SetFeatures(sitting, []float32{1, 2}),
				tx.SetProperties(sitting, map[string]any{"price": 2.5, "lang": "en"}))
		})
		if sitting == 0 {
			must(t, g.Model("m").Create(ctx, model.Spec{}))
		}
		for i := range 3 {
			must(t, g.Observe(ctx, db.ObserveOptions{Source: 0, Target: i + 5, Model: "m", Reward: 1, Insert: true}))
		}
		_, err = g.Predict(ctx, db.PredictOptions{For: 0})
		must(t, err)
		files = readFiles(t, path)
		must(t, g.Close())
	}
	if closed {
		files = readFiles(t, path)
	}
	return files
}

// wheel returns the edge list of a ring of n nodes with chords.
func wheel(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %d\n%d %d\n", i, (i+1)%n, i, (i*i+3)%n)
	}
	return b.String()
}

func readFiles(t testing.TB, dir string) map[string][]byte {
	files, err := filesIn(dir)
	must(t, err)
	return files
}

func filesIn(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil {
			files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

func writeFiles(t testing.TB, dir string, files map[string][]byte) {
	must(t, os.MkdirAll(dir, 0o700))
	for name, b := range files {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, b[:used(b)], 0o600), os.Truncate(path, int64(len(b)))) // logs are preallocated with zeros
	}
}

// damages returns copies of the files of a database, each with one damaged file, by the description
// of the damage.
func damages(files map[string][]byte, flips int) map[string]map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 4))
	all := map[string]map[string][]byte{}
	for name, b := range files {
		put := func(what string, b []byte) {
			damaged := map[string][]byte{}
			for n, old := range files {
				damaged[n] = old
			}
			damaged[name] = b
			all[name+", "+what] = damaged
		}
		used := len(bytes.TrimRight(b, "\x00"))
		for _, n := range []int{used / 2, 0, used - 1, 1, 7}[:min(2+flips, 5)] {
			if n >= 0 && n < used {
				put(fmt.Sprintf("cut to %d", n), b[:n])
			}
		}
		for range flips {
			if used > 0 {
				at := rng.IntN(used)
				if rng.IntN(3) == 0 {
					at = max(used-1-rng.IntN(64), 0) // tables have their index there
				}
				c := slices.Clone(b)
				c[at] ^= 1 << rng.IntN(8)
				put(fmt.Sprintf("byte %d flipped", at), c)
			}
		}
	}
	return all
}

// After any damage to a file of a database, opening it either fails or gives a consistent database
// that holds nothing that was never true. No damage ends the process.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, closed := range []bool{true, false} {
		files := furnished(t, closed)
		dir := t.TempDir()
		var paths, names []string
		for what, damaged := range damages(files, *times) {
			p := filepath.Join(dir, fmt.Sprint(len(paths)))
			writeFiles(t, p, damaged)
			paths, names = append(paths, p), append(names, what)
		}
		cmd := child(t, "open", strings.Join(paths, string(filepath.ListSeparator)))
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil {
			t.Fatalf("closed %v: the process ended over %s: %v", closed, names[min(len(lines), len(names)-1)], err)
		}
		for i, line := range lines {
			result := strings.TrimPrefix(line, paths[i]+" ")
			t.Logf("closed %v: %s: %s", closed, names[i], result)
			if result != "refused" && result != "reported" && !strings.HasPrefix(result, "clean") {
				t.Errorf("closed %v: %s: %s", closed, names[i], result)
			}
			if strings.HasSuffix(result, " 0 nodes") {
				t.Errorf("closed %v: %s: the database is empty", closed, names[i])
			}
		}
	}
}

// A crash can leave a log that was created and not yet written to.
func TestEmptyLog(t *testing.T) {
	t.Parallel()
	path := place(t)
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	files := readFiles(t, path)
	must(t, g.Close())
	files["00002.mem"] = nil
	path = place(t)
	writeFiles(t, path, files)
	if got, want := outcome(path), "clean with 2 nodes"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A crash can leave a log that was emptied, but not yet deleted, once its commits are in a table.
// An empty log whose commits are nowhere is damage.
func TestEmptiedLog(t *testing.T) {
	t.Parallel()
	path := place(t)
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	before := readFiles(t, path)
	must(t, g.Close())
	after := readFiles(t, path)
	after["NEWEST"] = before["NEWEST"] // it names the log
	for want, files := range map[string]map[string][]byte{"refused": before, "clean with 2 nodes": after} {
		files["00001.mem"] = nil
		path := place(t)
		writeFiles(t, path, files)
		if got := outcome(path); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
