package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"kith/query"
	"kith/query/internal/parse"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	b := newBudget(11)
	one, two, other := share{of: b, client: "a"}, share{of: b, client: "a"}, share{of: b, client: "b"}
	for _, step := range []struct {
		of       *share
		n        int64
		ok       bool
		used     int64
		releases bool
	}{
		{of: &one, n: 4, ok: true, used: 4},
		{of: &one, n: 3, ok: true, used: 4},
		{of: &two, n: 3, ok: false, used: 4},
		{of: &two, n: 2, ok: true, used: 6},
		{of: &other, n: 1000, ok: false, used: 6},
		{of: &other, n: 5, ok: true, used: 11},
		{of: &one, releases: true, used: 7},
		{of: &one, releases: true, used: 7},
		{of: &two, n: 1000, ok: true, used: 11},
		{of: &two, releases: true, used: 5},
		{of: &other, releases: true},
		{of: &other, n: 1000, ok: true, used: 6},
		{of: &other, releases: true},
	} {
		if step.releases {
			step.of.release()
		} else if ok := step.of.grow(step.n); ok != step.ok {
			t.Errorf("%+v: %t", step, ok)
		}
		if b.used != step.used {
			t.Errorf("%+v: %d are used", step, b.used)
		}
	}
	if len(b.by) > 0 {
		t.Errorf("clients are remembered: %v", b.by)
	}
}

// A body is counted as it arrives, unless it is small.
func TestMetered(t *testing.T) {
	t.Parallel()
	b := newBudget(200_000)
	read := func(n int) (share, error) {
		s := share{of: b, client: "a"}
		_, err := io.Copy(io.Discard, &metered{Reader: strings.NewReader(strings.Repeat("x", n)), share: &s})
		return s, err
	}
	if s, err := read(smallBytes); err != nil || s.n != 0 {
		t.Errorf("a small body: %v, %d counted", err, s.n)
	}
	if s, err := read(60_000); err != nil || s.n != 60_000 {
		t.Errorf("a body: %v, %d counted", err, s.n)
	}
	if _, err := read(60_000); !errors.Is(err, errBusy) {
		t.Errorf("a body beyond the budget: %v", err)
	}
}

// Small statements leave a processor to other requests, where there are several, and large ones
// half of them to small ones.
func TestMaxRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, small, large int }{
		{0, max(runtime.GOMAXPROCS(0)-1, 1), max((runtime.GOMAXPROCS(0)-1)/2, 1)}, {1, 1, 1}, {7, 7, 3},
	} {
		for _, l := range []*lane{Options{MaxRunning: c.most}.handler(nil).open, Options{MaxRunning: c.most}.handler(nil).tokened} {
			if l.small.most != c.small || l.large.most != c.large {
				t.Errorf("MaxRunning %d: %d small and %d large statements, want %d and %d", c.most, l.small.most, l.large.most, c.small, c.large)
			}
		}
	}
}

// begin starts to wait for turns, in order, and returns a channel for each turn that begins.
func begin(t *testing.T, turns *turns, clients ...string) (begun []chan *turn) {
	for _, client := range clients {
		_, before := turns.load()
		got := make(chan *turn, 1)
		go func() {
			n, err := turns.take(t.Context(), client)
			if err != nil {
				n = nil
			}
			got <- n
		}()
		for _, now := turns.load(); now == before && len(got) == 0; _, now = turns.load() {
			runtime.Gosched()
		}
		begun = append(begun, got)
	}
	return begun
}

// Clients take turns, each with its statements in order.
func TestTurnsOfClients(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, 10)
	running, err := turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	clients := []string{"a", "a", "a", "b", "c", "b"}
	begun := begin(t, turns, clients...)
	for _, i := range []int{0, 3, 4, 1, 5, 2} {
		running.end()
		running = <-begun[i]
		for j, other := range begun {
			if len(other) > 0 {
				t.Errorf("turn %d of %s begins beside turn %d", j, clients[j], i)
			}
		}
	}
	running.end()
	if running, waiting := turns.load(); running != 0 || waiting != 0 || len(turns.queues) != 0 {
		t.Errorf("%d run, %d wait, %d queues", running, waiting, len(turns.queues))
	}
}

// Beyond the number of statements that may wait, the client with most of them is refused.
func TestTurnsAreDropped(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, 3)
	running, err := turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	begun := begin(t, turns, "a", "a", "a")
	if _, err := turns.take(t.Context(), "a"); !errors.Is(err, errBusy) {
		t.Errorf("the fifth of one client: %v", err)
	}
	ended := make(chan error)
	go func() {
		n, err := turns.take(t.Context(), "b")
		if err == nil {
			n.end()
		}
		ended <- err
	}()
	if n := <-begun[2]; n != nil {
		t.Error("the last one of the client with most has a turn")
	}
	running.end()
	first := <-begun[0]
	first.end()
	if err := <-ended; err != nil {
		t.Errorf("the other client: %v", err)
	}
	(<-begun[1]).end()
}

// A statement whose context ends while it waits gives up its place, whether or not its turn has
// just come.
func TestTurnsCancelled(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, 100)
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		for i := range 4 {
			go func() {
				if n, err := turns.take(ctx, fmt.Sprint(i)); err == nil {
					n.end()
				}
				done <- true
			}()
		}
		cancel()
		for range 4 {
			<-done
		}
	}
	if running, waiting := turns.load(); running != 0 || waiting != 0 || len(turns.queues) != 0 {
		t.Errorf("%d run, %d wait, %d queues", running, waiting, len(turns.queues))
	}
}

// A statement that takes long becomes large, so that the next small one begins, and its like are
// large from the beginning.
func TestLongStatementMoves(t *testing.T) {
	t.Parallel()
	h := Options{MaxRunning: 1}.handler(nil)
	late := make(chan func(), 10)
	h.after = func(d time.Duration, f func()) func() bool {
		late <- f
		return func() bool { return true }
	}
	begun, finish, ended := make(chan string), make(chan bool), make(chan error)
	run := func(text string) {
		stmt, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			ended <- h.inTurn(t.Context(), "a", h.open.small, h.open.large, &task{shape: shapeOf(text), lasts: query.Lasts(stmt)}, func(func()) error {
				begun <- text
				<-finish
				return nil
			})
		}()
	}
	const first, second, third = "NEIGHBORS OF 1 DEPTH 3", "PATH FROM 1 TO 2", "NEIGHBORS OF 27 DEPTH 4"
	run(first)
	<-begun
	run(second)
	for _, waiting := h.open.small.load(); waiting == 0; _, waiting = h.open.small.load() {
		runtime.Gosched()
	}
	(<-late)() // the time of the first one is over
	if text := <-begun; text != second {
		t.Errorf("%s begins", text)
	}
	run(third) // a like of the first one
	for _, waiting := h.open.large.load(); waiting == 0; _, waiting = h.open.large.load() {
		runtime.Gosched()
	}
	finish <- true
	finish <- true
	if text := <-begun; text != third {
		t.Errorf("%s begins", text)
	}
	finish <- true
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, turns := range []*turns{h.open.small, h.open.large} {
		if running, waiting := turns.load(); running != 0 || waiting != 0 {
			t.Errorf("%d run, %d wait", running, waiting)
		}
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	if a, b := shapeOf("PREDICT LINKS FOR 'o''neill', 7 TOP 10 WITH (alpha = 0.5)"), shapeOf("PREDICT LINKS FOR 'ann', -12 TOP 3 WITH (alpha = 0.25)"); a == b || strings.ReplaceAll(a, "??", "?") != strings.ReplaceAll(b, "-", "") {
		t.Errorf("%s, %s", a, b)
	}
	c := costs{mean: map[string]time.Duration{}}
	c.ended("x", time.Second)
	c.exceeds("x", quick)
	if c.of("x") != time.Second {
		t.Errorf("%v after a time that is less", c.of("x"))
	}
	for range 10 {
		c.ended("x", 0)
	}
	if c.of("x") >= quick || c.of("x") <= 0 {
		t.Errorf("%v after short ones", c.of("x"))
	}
	for i := range 3 * maxShapes {
		c.ended(fmt.Sprint(i), time.Second)
	}
	if len(c.mean) > maxShapes {
		t.Errorf("%d shapes are remembered", len(c.mean))
	}
}

// Beyond the number of places, the client with most of them gives way.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		replaces bool
		clients  string // in order, a letter each
		want     string // those that have a place at the end, by their number
		refused  string
	}{
		{true, "aaa", "012", ""},
		{true, "aaaa", "123", ""},
		{true, "aaab", "123", ""},
		{true, "aabb", "013", ""},
		{true, "abcd", "123", ""},
		{true, "abcda", "234", ""},
		{true, "aaabbbbb", "127", ""},
		{false, "aaaa", "012", "3"},
		{false, "aaab", "123", ""},
		{false, "aabb", "012", "3"},
		{false, "abcd", "012", "3"},
		{false, "aaabc", "234", ""},
		{false, "aaabca", "234", "5"},
	} {
		s := newPlaces(3, "test")
		ended, refused := map[int]bool{}, ""
		var taken []*place
		for i, client := range c.clients {
			p, err := s.take(string(client), c.replaces, func() { ended[i] = true })
			if errors.Is(err, errBusy) {
				refused += fmt.Sprint(i)
			}
			taken = append(taken, p)
		}
		got := ""
		for i, p := range taken {
			if p == nil {
				continue
			}
			if err := p.leave(); (err != nil) != ended[i] || err != nil && !errors.Is(err, errBusy) {
				t.Errorf("%+v: place %d: %v", c, i, err)
			} else if err == nil {
				got += fmt.Sprint(i)
			}
		}
		if got != c.want || refused != c.refused || s.load() != 0 {
			t.Errorf("%+v: got %s, refused %s, %d places remain", c, got, refused, s.load())
		}
	}
}

// Addresses of one network of IPv6 are one client.
func TestClientOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1:99": "192.0.2.1", "[::ffff:192.0.2.1]:99": "192.0.2.1", "[2001:db8:1:2:3::4]:99": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::9]:1": "2001:db8:1:2::/64",
		"@": "local", "": "local",
	} {
		if got := clientOf(&http.Request{RemoteAddr: address}); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
