package main

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// server is a kith serve of a test.
type server struct {
	*exec.Cmd
	t      *testing.T
	stderr strings.Builder
}

// startServer serves a database in another process, and waits until it does.
func startServer(t *testing.T, path string, flags ...string) *server {
	t.Helper()
	s := &server{Cmd: exec.Command("kith", append([]string{"serve", path, "--listen", "127.0.0.1:0"}, flags...)...), t: t}
	s.Cmd.Stderr = &s.stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() }) // it may have ended
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, error %v", line, err)
	}
	return s
}

// end ends the server with a signal, and returns whether it ended without an error.
func (s *server) end(signal os.Signal) bool {
	s.t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	return s.Wait() == nil
}

// attachCase is a command line and parts of what it writes.
type attachCase struct {
	args         []string
	stdout, fail string // "" for fail means that the command succeeds
}

// run runs the command lines.
func runCases(t *testing.T, cases []attachCase) {
	t.Helper()
	for _, c := range cases {
		var stdout, stderr strings.Builder
		cmd := exec.Command("kith", c.args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if (err != nil) != (c.fail != "") || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.fail) {
			t.Errorf("kith %q: error %v\n%s%swant %q, %q", c.args, err, &stdout, &stderr, c.stdout, c.fail)
		}
	}
}

// shortPath returns the path of a new database whose directory has room for a socket, and makes the
// file of a token beside it.
func shortPath(t *testing.T) (path, token string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the signals of the test are those of Unix")
	}
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // nothing depends on it
	path, token = filepath.Join(dir, "g.kith"), filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("x", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	runCases(t, []attachCase{{args: []string{"shell", "--create", path, "-c", "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid', 'cid' -> 'dan';"}}})
	return path, token
}

// A server that writes runs the statements of the commands that find the directory locked, without
// the token, and not what a request cannot do. Its socket goes when it ends.
func TestAttached(t *testing.T) {
	t.Parallel()
	path, token := shortPath(t)
	s := startServer(t, path, "--write", "--token-file", token, "--token-for-reads")
	info, err := os.Lstat(filepath.Join(path, "SOCKET"))
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, error %v", info, err)
	}
	runCases(t, []attachCase{
		{[]string{"shell", path, "-c", "INSERT EDGES 'dan' -> 'eve'; SHOW STATS;"}, `{"name":"edges","value":4}`, ""},
		{[]string{"predict", path, "ann", "--mode", "csv", "--using", "common_neighbors"}, "source,target,rank,score,because\nann,cid,1,1,1 common neighbour: bob\n", ""},
		{[]string{"predict", path, "an"}, "", "kith: 1:19: no node 'an'; did you mean 'ann'?\nPREDICT LINKS FOR 'an'\n"},
		{[]string{"why", path, "ann", "cid", "--using", "common_neighbors"}, `"because":"cid shares`, ""},
		{[]string{"train", path}, `"model":"default","version":2`, ""},
		{[]string{"shell", path, "-c", "BEGIN;"}, "", "a server has " + path + " open: end it first"},
		{[]string{"shell", path, "--read-only", "-c", "INSERT EDGES 1 -> 2;"}, "", "because --read-only is given"},
		{[]string{"changes", path}, "", "keeps no changes"},
		{[]string{"load", path, token}, "", "has it open; end it first"},
		{[]string{"check", path}, "", "has it open; end it first"},
	})
	if !s.end(syscall.SIGTERM) {
		t.Errorf("the server failed: %s", &s.stderr)
	}
	if _, err := os.Lstat(filepath.Join(path, "SOCKET")); err == nil {
		t.Error("the socket is left")
	}
	runCases(t, []attachCase{{[]string{"shell", path, "-c", "SHOW STATS;"}, `{"name":"edges","value":4}`, ""}})
}

// A server that only reads shares the directory with readers. What must write asks it, and learns
// why that is refused.
func TestAttachedToReader(t *testing.T) {
	t.Parallel()
	path, _ := shortPath(t)
	s := startServer(t, path)
	second := startServer(t, path)
	second.end(syscall.SIGTERM)
	if text := second.stderr.String(); !strings.Contains(text, "note: kith shell needs --attach here: another server answers at ") {
		t.Errorf("the second server says %q", text)
	}
	runCases(t, []attachCase{
		{[]string{"predict", path, "ann", "--top", "1"}, `"target":"cid","rank":1`, ""},
		{[]string{"shell", path, "-c", "SHOW STATS;"}, `{"name":"edges","value":3}`, ""},
		{[]string{"shell", path, "-c", "INSERT EDGES 1 -> 2;"}, "", "open only reads: end it, or start it with kith serve --write"},
		{[]string{"train", path}, "", "TRAIN MODEL is refused here"},
	})
	if !s.end(syscall.SIGTERM) {
		t.Errorf("the server failed: %s", &s.stderr)
	}
}

// A killed server leaves its socket, which disturbs nothing, and what it has answered is kept.
func TestAttachedKilled(t *testing.T) {
	t.Parallel()
	path, token := shortPath(t)
	for range 2 {
		s := startServer(t, path, "--write", "--token-file", token)
		runCases(t, []attachCase{{[]string{"shell", path, "-c", "MERGE EDGES 'dan' -> 'eve';"}, "", ""}})
		if s.end(syscall.SIGKILL) {
			t.Error("the server ended by itself")
		}
		if _, err := os.Lstat(filepath.Join(path, "SOCKET")); err != nil {
			t.Error(err)
		}
	}
	copied := path + ".copy"
	runCases(t, []attachCase{
		{[]string{"check", path}, ": ok: 5 nodes, 4 edges", ""},
		{[]string{"check", "--repair", path}, ": ok: 5 nodes, 4 edges", ""},
		{[]string{"compact", path}, "", ""},
		{[]string{"predict", path, "ann", "--top", "1"}, `"rank":1`, ""},
		{[]string{"backup", path, path + ".kbk"}, "", ""},
		{[]string{"restore", path + ".kbk", copied}, "", ""},
		{[]string{"shell", copied, "-c", "SHOW STATS;"}, `{"name":"edges","value":4}`, ""},
	})
}

// A server in a directory whose path is too long for a socket says so, and serves.
func TestServeLongPath(t *testing.T) {
	t.Parallel()
	path, _ := shortPath(t)
	long := filepath.Join(filepath.Dir(path), strings.Repeat("x", 100))
	if err := os.Rename(path, long); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, long)
	if !s.end(syscall.SIGTERM) || !strings.Contains(s.stderr.String(), "is too long for a socket, by ") {
		t.Errorf("the server says %q", &s.stderr)
	}
}
