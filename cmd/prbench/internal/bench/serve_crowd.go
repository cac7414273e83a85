package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	random "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kith/db"
)

// server is a process of kith serve.
type server struct {
	process *exec.Cmd
	url     string
	token   string
	stderr  bytes.Buffer
	killed  atomic.Bool
	once    sync.Once
}

// startServer starts a server of a database, which may write. It makes the file of a token.
func startServer(program, path, tokenFile string) (*server, error) {
	s := &server{token: rand.Text() + rand.Text()}
	if err := os.WriteFile(tokenFile, []byte(s.token), 0o600); err != nil {
		return nil, err
	}
	s.process = exec.Command(program, "serve", path, "--listen", "127.0.0.1:0", "--write", "--token-file", tokenFile)
	s.process.Stderr = &s.stderr
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("%w; go build ./cmd/kith makes the program, and --kith names it", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line) // kith shell --attach URL
	if err != nil || len(words) == 0 {
		s.kill()
		return nil, fmt.Errorf("%s serve: %s", program, strings.TrimSpace(s.stderr.String()))
	}
	s.url = words[len(words)-1]
	return s, nil
}

// kill kills the process by SIGKILL and waits for its end.
func (s *server) kill() {
	s.once.Do(func() {
		s.killed.Store(true)
		_ = s.process.Process.Kill() // it may have ended
		_ = s.process.Wait()         // it was killed
	})
}

// requests are the requests to a path.
type requests struct {
	path string
	span time.Duration // in which they were sent

	mu      sync.Mutex // protects following fields
	took    []time.Duration
	failed  []error
	refused int // those that were told to come again
}

// acknowledged is a decision that a server has acknowledged.
type acknowledged struct {
	targets []string
	place   int
	reward  float64 // 0: none is acknowledged
}

// isIn reports whether a decision of the database has everything.
func (a *acknowledged) isIn(d *db.Decision) bool {
	if len(a.targets) != len(d.Places) {
		return false
	}
	for i, p := range d.Places {
		if text, err := p.Target.MarshalText(); err != nil || string(text) != a.targets[i] {
			return false
		}
	}
	return a.reward == 0 || d.Places[a.place-1].Rewarded && d.Places[a.place-1].Reward == a.reward
}

// journal has the acknowledged decisions by number.
type journal struct {
	mu        sync.Mutex
	decisions map[uint64]*acknowledged // guarded by mu
}

// crowd are the clients of a server.
type crowd struct {
	*server
	clients int
	nodes   []string
}

// visitor is a client, which is a goroutine with connections of its own.
type visitor struct {
	*crowd
	ctx  context.Context
	rng  *random.Rand
	http http.Client
}

// errEnded means that a visitor has nothing more to do, as the server was killed.
var errEnded = errors.New("the server was killed")

// act lets each client call act again and again, at least once and together for a while, and then
// calls end, if it is not nil, while they go on. It returns how long that while was.
func (c *crowd) act(ctx context.Context, span time.Duration, end func(), act func(*visitor) error) time.Duration {
	var ended atomic.Bool
	var all, first sync.WaitGroup
	start := time.Now()
	first.Add(c.clients)
	for i := range c.clients {
		all.Go(func() {
			v := visitor{crowd: c, ctx: ctx, rng: random.New(random.NewPCG(7, uint64(i))), http: http.Client{Transport: &http.Transport{}}}
			defer v.http.CloseIdleConnections()
			err := act(&v)
			first.Done()
			for err == nil && ctx.Err() == nil && !ended.Load() {
				err = act(&v)
			}
		})
	}
	first.Wait()
	select {
	case <-ctx.Done():
	case <-time.After(span - time.Since(start)):
	}
	took := time.Since(start)
	if end != nil {
		end()
	}
	ended.Store(true)
	all.Wait()
	return took
}

// source returns a random node, and the candidates of a question about it.
func (v *visitor) source() map[string]any {
	return map[string]any{
		"keys": "text", "source": v.nodes[v.rng.IntN(len(v.nodes))], "candidates": map[string]int{"ppr": 100},
	}
}

// predict asks for the links of a node.
func (v *visitor) predict(r *requests, top int) error {
	q := v.source()
	q["top"] = top
	return v.post(r, q, nil)
}

// decide chooses a slate and rewards one of its places.
func (v *visitor) decide(choose, reward *requests, places int, log *journal) error {
	q := v.source()
	q["places"] = places
	var slate struct {
		Decision uint64
		Places   []struct{ Target string }
	}
	if err := v.post(choose, q, &slate); err != nil || slate.Decision == 0 {
		return err
	}
	a := &acknowledged{place: 1 + v.rng.IntN(len(slate.Places))}
	for _, p := range slate.Places {
		a.targets = append(a.targets, p.Target)
	}
	log.mu.Lock()
	if log.decisions == nil {
		log.decisions = map[uint64]*acknowledged{}
	}
	log.decisions[slate.Decision] = a
	log.mu.Unlock()
	var rewarded struct{ Places []struct{ Place int } }
	err := v.post(reward, map[string]any{"keys": "text", "decision": slate.Decision, "place": a.place, "reward": 1}, &rewarded)
	if len(rewarded.Places) > 0 {
		a.reward = 1
	}
	return err
}

// post sends a request until it is answered, or fails. It returns an error only if there is nothing
// more to do. answer stays as it is if the request fails.
func (v *visitor) post(r *requests, q map[string]any, answer any) error {
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	for v.ctx.Err() == nil {
		start := time.Now()
		wait, err := v.send(r.path, body, answer)
		took := time.Since(start)
		if err != nil && v.killed.Load() {
			return errEnded
		}
		r.mu.Lock()
		switch {
		case wait > 0:
			r.refused++
		case err != nil:
			r.failed = append(r.failed, err)
		default:
			r.took = append(r.took, took)
		}
		r.mu.Unlock()
		if wait == 0 {
			return nil
		}
		time.Sleep(wait)
	}
	return v.ctx.Err()
}

// send sends a request once. If it must wait because of others, send returns for how long.
func (v *visitor) send(path string, body []byte, answer any) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(v.ctx, http.MethodPost, v.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+v.token)
	got, err := v.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	switch seconds, _ := strconv.Atoi(got.Header.Get("Retry-After")); {
	case err != nil:
		return 0, err
	case got.StatusCode == http.StatusServiceUnavailable:
		return time.Duration(max(seconds, 1)) * time.Second, errors.New(got.Status)
	case got.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("POST %s: %s: %s", path, got.Status, bytes.TrimSpace(text))
	case answer == nil:
		return 0, nil
	}
	return 0, json.Unmarshal(text, answer)
}
