package main

import (
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kith/cmd/internal/clitest"
	"kith/cmd/internal/serve"
	"kith/db"
	"kith/query/web"
)

// With -update, the expected outputs in testdata are replaced by the actual ones.
var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"kith": main, "probe": probe}) }

// TestScript runs the tool through its command line; see testdata.
func TestScript(t *testing.T) {
	clitest.Run(t, *update, map[string]clitest.Command{"hold": hold, "serve": serving, "damage": damage, "program": program})
}

// hold DB keeps a database open until the end of the script.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	g, err := db.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Defer(func() {
		if err := g.Close(); err != nil {
			ts.Fatalf("close: %v", err)
		}
	})
}

// serve DB [TOKEN] keeps a database open until the end of the script, and serves it at $URL. The
// token of a file allows statements that write.
func serving(ts *testscript.TestScript, _ bool, args []string) {
	g, err := db.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	var o web.Options
	if len(args) == 2 {
		o.Token, err = serve.ReadToken(ts.MkAbs(args[1]))
		ts.Check(err)
	}
	s := httptest.NewServer(o.Handler(g))
	ts.Setenv("URL", s.URL)
	ts.Defer(func() {
		s.Close()
		if err := g.Close(); err != nil {
			ts.Fatalf("close: %v", err)
		}
	})
}

// program FILE ARGUMENT... runs the text of a Go program that imports kith. The weight and the time
// of an edge may be given as they were before they became options.
func program(ts *testscript.TestScript, _ bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	file := ts.MkAbs("main.go")
	b = regexp.MustCompile(`AddEdge\(([^,]+), ([^,]+), 1\)`).ReplaceAll(b, []byte("AddEdge($1, $2)"))
	b = regexp.MustCompile(`PutEdge\(db\.Edge\{Src: (.+), Dst: (.+), Weight: (.+), Time: (.+)\}\)`).
		ReplaceAll(b, []byte("PutEdge($1, $2, db.Weight($3), db.At($4))"))
	ts.Check(os.WriteFile(file, b, 0o600))
	cmd := exec.Command("go", append([]string{"run", file}, args[1:]...)...) // in this directory, which belongs to the module
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Run())
}

// damage DB flips a bit in every table of a database.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sst") {
			continue
		}
		name := filepath.Join(ts.MkAbs(args[0]), e.Name())
		b, err := os.ReadFile(name)
		ts.Check(err)
		b[len(b)/4] ^= 1
		ts.Check(os.WriteFile(name, b, 0o600))
	}
}
