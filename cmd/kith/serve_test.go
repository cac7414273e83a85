package main

import (
	"bufio"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kith/cmd/internal/serve"
	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// TestServe checks that a shell can attach to kith serve and, with a token, write, and that SIGTERM ends kith serve without
// an error.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.kith")
	if out, err := exec.Command("kith", "shell", "--create", path, "-c", "INSERT EDGES 1 -> 2;").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("x", serve.MinToken)), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("kith", "serve", path, "--listen", "127.0.0.1:0", "--write", "--token-file", token)
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // the process may have ended
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(line), "--token-file", token, "-c", "INSERT EDGES 2 -> 3; SHOW STATS;")
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `{"name":"edges","value":2}`) {
		t.Errorf("%q: %s, error %v", args, out, err)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// TestRemoteNames checks that the names offered for completion are the same for a remote database.
func TestRemoteNames(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, statement := range []string{"INSERT NODE 'ann' LABEL \"a thing\"", "INSERT EDGES 1 -> 'ann'", "CREATE MODEL m USING ppr"} {
		if _, err := query.Run(t.Context(), g, statement); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(web.Handler(g))
	defer s.Close()
	client, err := web.Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	engine := &remote{client}
	here, there := newLocal(g).names(), engine.names()
	for _, text := range []string{"DROP MODEL ", "NODES LABEL ", "NEIGHBORS OF ", "NEIGHBORS OF 'a", "NEIGHBORS OF x"} {
		_, want := completed(text, here)
		if _, got := completed(text, there); !slices.Equal(got, want) || text != "NEIGHBORS OF x" && len(got) == 0 {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if err := engine.close(); err != nil {
		t.Error(err)
	}
	s.Close()
	if _, got := completed("DROP MODEL ", there); len(got) > 0 {
		t.Errorf("%q of nobody", got)
	}
}
