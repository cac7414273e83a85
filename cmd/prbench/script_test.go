package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kith/cmd/internal/clitest"
	"kith/db"
)

// With -update, the expected outputs in testdata are replaced by the actual ones.
var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

var long = flag.Bool("long", false, "run the tests that take minutes")

// slow skips a test that takes too long unless -long is given.
func slow(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("slow: run with -long")
	}
}

// scaled returns the size of a test's data: large with -long, otherwise small.
func scaled(small, large int) int {
	if *long {
		return large
	}
	return small
}

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"prbench": main}) }

// TestScript runs the tool through its command line; see testdata.
func TestScript(t *testing.T) {
	clitest.Run(t, *update, map[string]clitest.Command{
		"links": dataSet(writeLinks), "bipartite": dataSet(writeBipartite), "classes": dataSet(writeClasses), "damage": damage, "load": load,
		"build": build,
	})
}

// dataSet returns the command NAME FOLDER, which writes a data set.
func dataSet(write func(folder string) error) clitest.Command {
	return func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(write(ts.MkAbs(args[0]))) }
}

// load DB [FILE] makes a database, and loads an edge list into it.
func load(ts *testscript.TestScript, _ bool, args []string) {
	g, err := db.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	if len(args) == 2 {
		_, err = g.Load(context.Background(), strings.NewReader(ts.ReadFile(args[1])), db.LoadOptions{})
	}
	ts.Check(errors.Join(err, g.Close()))
}

// build NAME builds the program kith.
func build(ts *testscript.TestScript, _ bool, args []string) {
	build := exec.Command("go", "build", "-o", ts.MkAbs(args[0]), "./cmd/kith")
	build.Dir = filepath.Join("..", "..") // its module
	out, err := build.CombinedOutput()
	if err != nil {
		ts.Fatalf("%v: %s", err, out)
	}
}

// damage GLOB OLD NEW replaces text in the first file that matches.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("no file is called %s", args[0])
	}
	b, err := os.ReadFile(names[0])
	ts.Check(err)
	if !bytes.Contains(b, []byte(args[1])) {
		ts.Fatalf("%s lacks %q", names[0], args[1])
	}
	ts.Check(os.WriteFile(names[0], bytes.Replace(b, []byte(args[1]), []byte(args[2]), 1), 0o600))
}
