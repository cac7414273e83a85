package db_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"kith/db"
	"kith/db/dbtest"
)

// TestMain fails if a goroutine outlives the databases, and runs the parts of tests that need a
// separate process.
func TestMain(m *testing.M) {
	flag.Parse()
	if part, ok := os.LookupEnv(childEnv); ok {
		if err := children()[part](os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	debug.SetGCPercent(200) // collecting the memory of many small databases takes a third of the time otherwise
	goleak.VerifyTestMain(m)
}

var (
	long  = flag.Bool("long", false, "run the tests that take minutes, and the others at full size")
	times = flag.Int("times", 1, "multiply the numbers of kills, power cuts, damages and random cases")
)

// size returns how much work a test does: little with -short, much with -long.
func size(short, normal, full int) int {
	switch {
	case *long:
		return full
	case testing.Short():
		return short
	}
	return normal
}

// notShort skips a test that takes seconds if -short is given.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// slow skips a test that takes longer unless -long is given.
func slow(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("slow: run with -long")
	}
}

// childEnv names the part that a re-executed test binary must run. Its last argument is a path.
const childEnv = "KITH_TEST_CHILD"

func children() map[string]func(path string) error {
	all := map[string]func(string) error{
		"hold":     hold,
		"open":     openAndCheck,
		"repair":   openOrRepair,
		"crash":    crash,
		"many":     crashOfMany,
		"versions": crashOfVersions,
		"budget":   budget,
		"states":   storeStates,
		"learn":    learnFromCache,
		"lead":     lead,
		"follow":   follow,
		"relative": openRelative,
		"consume":  consume,
	}
	maps.Copy(all, linuxChildren())
	return all
}

func update(t testing.TB, g *db.DB, f func(*db.Tx) error) {
	t.Helper()
	if err := g.Update(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, g *db.DB, f func(*db.Tx) error) {
	t.Helper()
	if err := g.View(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func wantError(t testing.TB, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func open(t testing.TB, path string, o *db.Options) *db.DB {
	t.Helper()
	g, err := db.Open(path, dbtest.Small(o))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// place returns a path for a database.
func place(t testing.TB) string { return filepath.Join(t.TempDir(), "test.kith") }

// shared opens a file of the shared data, or skips the test.
func shared(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", name))
	if err != nil {
		t.Skipf("no shared/data/%s beside the repository", name)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// edges returns every edge as "src-dst:weight@time".
func edges(t testing.TB, g *db.DB) (list []string) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		for e, err := range tx.Edges() {
			must(t, err)
			list = append(list, edgeString(e))
		}
		return nil
	})
	return list
}

func edgeString(e db.Edge) string {
	at := int64(0)
	if !e.Time.IsZero() {
		at = e.Time.Unix()
	}
	return fmt.Sprintf("%v-%v:%v@%d", e.Src.Literal(), e.Dst.Literal(), e.Weight, at)
}
