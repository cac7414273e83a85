package replica_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/cmd/kith-nats/replica"
	"kith/db"
)

var (
	long  = flag.Bool("long", false, "also run the tests that take minutes")
	times = flag.Int("times", 1, "multiply the number of kills")
)

// The variable KITH_ROLE makes the test binary one of the processes that TestKill kills.
func TestMain(m *testing.M) {
	role, found := map[string]func(args []string) error{"log": runLog, "publish": runPublisher, "follow": runFollower}[os.Getenv("KITH_ROLE")]
	if !found {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, role(os.Args[1:]))
	os.Exit(1)
}

// runLog runs a NATS server with a folder at a port.
func runLog(args []string) error {
	o := serverOptions(args[0])
	var err error
	if o.Port, err = strconv.Atoi(args[1]); err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(limit) {
		return errors.New("the server does not start")
	}
	fmt.Println("ready")
	s.WaitForShutdown()
	return nil
}

// dial connects to a server, which may not run yet.
func dial(url string) (jetstream.JetStream, error) {
	c, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		return nil, err
	}
	for c.Status() != nats.CONNECTED {
		time.Sleep(time.Millisecond)
	}
	return jetstream.New(c)
}

var toStderr = slog.New(slog.NewTextHandler(os.Stderr, nil))

// untilFinal calls f again when the log server was away.
func untilFinal(f func() error) error {
	for {
		err := f()
		for _, final := range []error{db.ErrMismatch, db.ErrCorrupt, db.ErrInput, db.ErrClosed, replica.ErrOther} {
			if errors.Is(err, final) {
				return err
			}
		}
		toStderr.Warn("again", "err", err)
		time.Sleep(20 * time.Millisecond)
	}
}

// runPublisher publishes a database, makes a history in it, and prints each version that it has
// made.
func runPublisher(args []string) error {
	g, err := db.Open(args[0], options(false))
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() {
		js, err := dial(args[1])
		if err == nil {
			err = untilFinal(func() error { return replica.Publish(context.Background(), g, js, killOptions()) })
		}
		failed <- err
	}()
	go func() {
		s, err := g.Stats()
		for h := (history{s.Version * 31}); err == nil; {
			if err = h.next(g); err == nil && h.step%197 == 0 {
				_, err = g.Load(context.Background(), strings.NewReader("1 2\n3 4\n"), db.LoadOptions{})
			}
			if err == nil {
				s, err = g.Stats()
			}
			fmt.Println(s.Version)
		}
		failed <- err
	}()
	return <-failed
}

// killOptions make snapshots frequent, and changes of several messages.
func killOptions() replica.Options {
	return replica.Options{StreamBytes: 4 << 20, SnapshotBytes: 1 << 20, MessageBytes: 8 << 10, Logger: toStderr}
}

// runFollower follows a database, and prints its versions.
func runFollower(args []string) error {
	js, err := dial(args[1])
	if err != nil {
		return err
	}
	var f *replica.Follower
	err = untilFinal(func() (err error) {
		f, err = replica.Open(context.Background(), args[0], js, replica.FollowOptions{DB: options(true), Logger: toStderr})
		if err == nil {
			return db.ErrClosed
		}
		return err
	})
	if f == nil {
		return err
	}
	go func() {
		last := uint64(0)
		for {
			if v := f.Status().Version; v != last {
				last = v
				fmt.Println(v)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return f.Run(context.Background())
}

// process is a child that prints lines until it is killed.
type process struct {
	*exec.Cmd
	lines atomic.Int64
	last  atomic.Uint64 // the number that it printed last
	ended chan struct{}
}

func run(t *testing.T, role string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.Env = append(os.Environ(), "KITH_ROLE="+role, "GOMEMLIMIT=128MiB")
	p.Stderr = t.Output()
	out, err := p.StdoutPipe()
	must(t, err, p.Start())
	t.Cleanup(p.kill)
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); p.lines.Add(1) {
			if v, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
				p.last.Store(v)
			}
		}
	}()
	return p
}

// printed waits until the process has printed n more lines.
func (p *process) printed(t *testing.T, n int) {
	t.Helper()
	until := p.lines.Load() + int64(n)
	wait(t, strings.Join(p.Args[1:], " "), func() error {
		select {
		case <-p.ended:
			t.Fatalf("%v ended by itself", p.Args[1:])
		default:
		}
		if got := p.lines.Load(); got < until {
			return fmt.Errorf("%d lines of %d", got, until)
		}
		return nil
	})
}

// kill kills the process, and waits for all that it has printed.
func (p *process) kill() {
	_ = p.Process.Kill() // it may have been killed
	<-p.ended
	_ = p.Wait() // it was killed
}

// freePort returns a port of loopback that is free now.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	return port
}

// Whichever process is killed and whenever: no version that a commit made is lost, and a follower
// has each once.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 6
	if *long {
		kills = 25
	}
	kills *= *times
	dir, port := t.TempDir(), freePort(t)
	url := "nats://127.0.0.1:" + port
	path, copy := filepath.Join(dir, "g"), filepath.Join(dir, "copy")
	g, err := db.Open(path, options(false))
	must(t, err, g.Close())
	starts := []func() *process{
		func() *process { p := run(t, "log", filepath.Join(dir, "log"), port); p.printed(t, 1); return p },
		func() *process { return run(t, "publish", path, url) },
		func() *process { return run(t, "follow", copy, url) },
	}
	var children []*process
	for _, s := range starts {
		children = append(children, s())
	}
	rng := rand.New(rand.NewPCG(5, uint64(kills)))
	acknowledged, counts := uint64(0), [3]int{}
	for kill := range kills {
		victim := rng.IntN(3)
		if kill < 3 {
			victim = kill
		}
		counts[victim]++
		children[1].printed(t, 1+rng.IntN(10))
		children[2].printed(t, 1+rng.IntN(4))
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		children[victim].kill()
		acknowledged = max(acknowledged, children[1].last.Load())
		children[victim] = starts[victim]()
	}
	children[1].printed(t, 20)
	children[1].kill()
	acknowledged = max(acknowledged, children[1].last.Load())
	children[2].kill()

	g, err = db.Open(path, options(false))
	must(t, err)
	t.Cleanup(func() { must(t, g.Close()) })
	if v := version(t, g); v < acknowledged {
		t.Fatalf("version %d, and %d was acknowledged", v, acknowledged)
	}
	js := connect(t, url)
	publish(t, g, js, killOptions())
	f, _ := follow(t, copy, js)
	arrives(t, f, g)
	newer, _ := follow(t, filepath.Join(dir, "newer"), js)
	arrives(t, newer, g)
	t.Logf("%d kills of the log server, %d of the publisher, %d of the follower; version %d", counts[0], counts[1], counts[2], version(t, g))
}
