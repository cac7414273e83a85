package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/serve"
	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// The variable KITH_NATS makes the test binary the tool.
func TestMain(m *testing.M) {
	if os.Getenv("KITH_NATS") != "" {
		main()
	}
	os.Exit(m.Run())
}

const limit = 2 * time.Minute

// natsServer starts a NATS server on loopback and returns its URL.
func natsServer(t *testing.T, o server.Options) string {
	t.Helper()
	o.Host, o.Port, o.StoreDir, o.NoSigs = "127.0.0.1", -1, t.TempDir(), true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(limit) {
		t.Fatal("the NATS server does not start")
	}
	return s.ClientURL()
}

// database makes a database with an edge and returns its directory.
func database(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.kith")
	g, err := db.Open(path, dbtest.Small(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 1 -> 2"); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts the tool, and returns the URL that it prints and a function that ends the process by
// SIGTERM.
func start(t *testing.T, args ...string) (url string, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "KITH_NATS=1", "GOMEMLIMIT=128MiB")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(line)[0], func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A follower answers with the edges that were inserted at the publisher over HTTP, and says that it
// is a follower.
func TestServe(t *testing.T) {
	t.Parallel()
	nats := natsServer(t, server.Options{JetStream: true, JetStreamMaxStore: 4 << 30})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("x", serve.MinToken)), 0o600); err != nil {
		t.Fatal(err)
	}
	leader, endLeader := start(t, "publish", database(t), "--nats", nats, "--listen", "127.0.0.1:0", "--write", "--token-file", token)
	follower, endFollower := start(t, "follow", filepath.Join(t.TempDir(), "copy"), "--nats", nats, "--listen", "127.0.0.1:0")
	client, err := web.Dial(leader)
	if err != nil {
		t.Fatal(err)
	}
	client.Token = strings.Repeat("x", serve.MinToken)
	for i := range 20 {
		if _, err := client.Run(t.Context(), fmt.Sprintf("INSERT EDGES 2 -> %d", 3+i)); err != nil {
			t.Fatal(err)
		}
	}
	var s db.Stats
	for began := time.Now(); s.Version < 21; time.Sleep(time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("the follower is at version %d", s.Version)
		}
		if err := json.Unmarshal([]byte(get(t, follower+"/stats")), &s); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Follower || s.Behind != 0 || s.Edges != 21 {
		t.Errorf("%+v", s)
	}
	if page := get(t, leader+"/metrics"); !strings.Contains(page, "\nkith_changes_limit_bytes 2.68435456e+08\n") && !strings.Contains(page, "\nkith_changes_limit_bytes 268435456\n") {
		t.Error(page)
	}
	if page := get(t, follower+"/metrics"); !strings.Contains(page, "\nkith_follower 1\n") || !strings.Contains(page, "\nkith_behind_versions 0\n") {
		t.Error(page)
	}
	reader, err := web.Dial(follower)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Run(t.Context(), "INSERT EDGES 7 -> 8"); err == nil {
		t.Error("a follower accepts a write")
	}
	endFollower()
	endLeader()
}

// Errors of the command line, of the server and of files have a message and an exit code.
func TestErrors(t *testing.T) {
	t.Parallel()
	good := natsServer(t, server.Options{JetStream: true, JetStreamMaxStore: 4 << 30})
	locked := natsServer(t, server.Options{JetStream: true, Username: "u", Password: "p"})
	path, folder := database(t), t.TempDir()
	letter := filepath.Join(folder, "letter")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"publish"}, 2, "DB is missing"},
		{[]string{"follow"}, 2, "DIR is missing"},
		{[]string{"follow", "x", "--write", "--token-file", letter}, 2, "a follower is only read"},
		{[]string{"publish", path, "--write"}, 2, "need --token-file"},
		{[]string{"publish", path, "--replicas", "9"}, 1, "--replicas must be from 0 to 5, got 9"},
		{[]string{"publish", filepath.Join(folder, "none"), "--nats", good}, 1, "'kith load' makes a database"},
		{[]string{"publish", path, "--nats", "nats://127.0.0.1:1"}, 1, "--nats nats://127.0.0.1:1: "},
		{[]string{"publish", path, "--nats", locked}, 1, "Authorization Violation"},
		{[]string{"publish", path, "--nats", good, "--creds", letter}, 1, "letter"},
		{[]string{"publish", path, "--nats", good, "--stream-bytes", "4K"}, 1, "StreamBytes must be at least"},
		{[]string{"follow", filepath.Join(folder, "copy"), "--nats", good}, 1, "there is no log: no database is published"},
		{[]string{"follow", filepath.Join(folder, "copy"), "--nats", good, "--database", "X"}, 1, "there is no log: database X"},
		{[]string{"follow", folder, "--nats", good}, 1, folder},
		{[]string{"follow", path, "--nats", good}, 1, "there is no log"},
	} {
		var stderr bytes.Buffer
		code := cli.Run(newRoot(), append(c.args, memoryOf(c.args)...), nil, io.Discard, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", c.args, code, stderr.String(), c.code, c.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "copy")); !os.IsNotExist(err) {
		t.Errorf("a copy is left: %v", err)
	}
}

// memoryOf returns the flag --memory for a command that has it.
func memoryOf(args []string) []string {
	if len(args) < 2 {
		return nil
	}
	return []string{"--memory", "64M"}
}
