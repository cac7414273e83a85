package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/cmd/internal/clitest"
	"kith/cmd/internal/serve"
	"kith/db"
)

// attack is a server under attack.
type attack struct {
	t       *testing.T
	address string
	nodes   int
	clients sync.WaitGroup
	mu      sync.Mutex     // protects following field
	answers map[string]int // number of answers by request and status
}

// TestHostile attacks kith serve with slow clients, heavy statements and requests that it refuses.
// It checks that nothing is written, that the memory is bounded, and that GET /stats is answered
// meanwhile. With -long -v it prints the figures on a graph of the size of dblp-2010:
//
//	go test ./cmd/kith -long -v -run 'TestHostile$'
func TestHostile(t *testing.T) {
	a := &attack{t: t, nodes: 2000, answers: map[string]int{}}
	slow, heavy, lasts := 30, 12, time.Second
	switch {
	case *long:
		a.nodes, slow, heavy, lasts = 326_000, 300, 60, 20*time.Second
	case testing.Short():
		a.nodes, slow, heavy, lasts = 500, 8, 6, 400*time.Millisecond
	}
	pid := a.serve()
	before, rss := a.stats(), residentPeak(t, pid)
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	answers := a.probe(lasts)
	for i := range slow {
		a.start(func() { a.slowClient(ctx, i%4) })
	}
	for i := range heavy {
		a.start(func() { a.heavyClient(ctx, i) })
	}
	a.start(func() { a.refusedClient(ctx) })
	took := answers()
	a.clients.Wait()
	after, peak := a.stats(), residentPeak(t, pid)
	if after.Version != before.Version || after.Nodes != before.Nodes || after.Edges != before.Edges || after.Decisions != before.Decisions {
		t.Errorf("something was written: %+v, was %+v", after, before)
	}
	t.Logf("%d nodes, %d edges: GET /stats %d times: median %v, 99%% %v, maximum %v; peak memory %d MB, was %d MB; answers %v",
		after.Nodes, after.Edges, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], peak>>20, rss>>20, a.answers)
	if limit := int64(768 << 20); peak > limit {
		t.Errorf("the server takes %d MB, want at most %d", peak>>20, limit>>20)
	}
}

// serve starts kith serve on a new graph and returns its process number.
func (a *attack) serve() (pid int) {
	t, dir := a.t, a.t.TempDir()
	path, token := filepath.Join(dir, "g.kith"), filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("x", serve.MinToken)), 0o600); err != nil {
		t.Fatal(err)
	}
	list := clitest.WriteList(t, "list.txt", a.nodes, 5*a.nodes)
	if out, err := exec.Command("kith", "load", path, list).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := exec.Command("kith", "serve", path, "--listen", "127.0.0.1:0", "--write", "--token-file", token, "--memory", "256M")
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // the process may have ended
		_ = server.Wait()         // the error tells of the signal
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, a.address, _ = strings.Cut(strings.TrimSpace(line), "http://")
	return server.Process.Pid
}

// probe begins to ask for the figures, for a time, and waits for the first answer. The function
// that it returns waits for the last one, and returns how long each took, the shortest first. A
// process of its own asks, because here the requests would wait for those of the other clients
// before they are sent.
func (a *attack) probe(lasts time.Duration) (wait func() []time.Duration) {
	cmd := exec.Command("probe", "http://"+a.address+"/stats", lasts.String())
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	lines := bufio.NewScanner(stdout)
	if err != nil || !lines.Scan() {
		a.t.Fatal("probe has not begun: ", err)
	}
	return func() (took []time.Duration) {
		for ok := true; ok; ok = lines.Scan() {
			d, err := time.ParseDuration(lines.Text())
			if err != nil {
				a.t.Error(err)
			}
			took = append(took, d)
		}
		if err := cmd.Wait(); err != nil {
			a.t.Error("probe: ", err)
		}
		slices.Sort(took)
		return took
	}
}

func residentPeak(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("the system does not report the memory of a process: %v", err)
	}
	return kb << 10
}

// stats returns the figures of the server.
func (a *attack) stats() (s db.Stats) {
	r, err := http.Get("http://" + a.address + "/stats")
	if err != nil {
		a.t.Error(err)
		return s
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		a.t.Errorf("%s: %v", r.Status, err)
	}
	return s
}

func (a *attack) start(f func()) {
	a.clients.Add(1)
	go func() {
		defer a.clients.Done()
		f()
	}()
}

// slowClient sends its headers, or its body, byte by byte, or does not read a large answer or a
// large picture.
func (a *attack) slowClient(ctx context.Context, kind int) {
	const headers = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"
	text := headers + strings.Repeat(" ", 900_000)
	at := 0
	switch kind {
	case 1:
		at = len(headers) + 8000
	case 2:
		statement := fmt.Sprintf(`{"statement": "NODES TOP %d"}`, min(a.nodes, 99_000))
		text = strings.Replace(headers, "900000", fmt.Sprint(len(statement)), 1) + statement
		at = len(text)
	case 3:
		text = "GET /neighborhood?node=1&width=2000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
		at = len(text)
	}
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", a.address)
		if err != nil {
			a.t.Error(err)
			return
		}
		_, err = io.WriteString(c, text[:at])
		for i := at; ctx.Err() == nil && err == nil; i++ {
			time.Sleep(50 * time.Millisecond)
			if i < len(text) {
				_, err = io.WriteString(c, text[i:i+1])
			}
		}
		c.Close()
	}
}

// heavyClient sends statements that take long.
func (a *attack) heavyClient(ctx context.Context, seed int) {
	var nodes []string
	for i := range 1000 {
		nodes = append(nodes, fmt.Sprint((i*7919+seed*104729)%a.nodes))
	}
	body := `{"statement": "PREDICT LINKS FOR ` + strings.Join(nodes, ", ") + ` AMONG NEIGHBORS(2)"}`
	for ctx.Err() == nil {
		if a.send(ctx, "heavy", body, nil) == "503" {
			time.Sleep(time.Second) // as Retry-After says
		}
	}
}

// refusedClient sends requests that are refused.
func (a *attack) refusedClient(ctx context.Context) {
	const insert = `{"statement": "INSERT NODE 'hostile'"}`
	for ctx.Err() == nil {
		a.send(ctx, "host", insert, func(r *http.Request) { r.Host = "evil.example" })
		a.send(ctx, "origin", insert, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") })
		a.send(ctx, "token", insert, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("y", serve.MinToken)) })
		a.send(ctx, "no token", insert, nil)
		a.send(ctx, "5 MB", insert+strings.Repeat(" ", 5_000_000), nil)
		a.send(ctx, "path", insert, func(r *http.Request) { r.URL.Path = "/x/../query" })
	}
}

// send posts a query, which change changes, and counts and returns the status of its answer.
func (a *attack) send(ctx context.Context, name, body string, change func(*http.Request)) (status string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.address+"/query", bytes.NewReader([]byte(body)))
	if err != nil {
		a.t.Error(err)
		return ""
	}
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	status = "cut off"
	if answer, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body) // the status is enough
		answer.Body.Close()
		status = fmt.Sprint(answer.StatusCode)
	}
	if ctx.Err() != nil {
		return status
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[name+" "+status]++
	if refused := status[0] == '4' || status == "cut off"; name != "heavy" && !refused && status != "503" {
		a.t.Errorf("%s has status %s", name, status)
	}
	return status
}
