package db_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"kith/db"
	"kith/index"
)

// The test of killed followers runs two processes: one makes a random history and appends its
// changes to a file, the other applies the changes of the file to a copy.

// lead makes steps of a history, prints the version after each, and does not end by itself. It
// appends the changes that are durable to the file path.feed.
func lead(path string) error {
	now := newClock()
	g, err := db.Open(path, feedOptions(now))
	if err != nil {
		return err
	}
	sent, err := readFeed(path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() { failed <- sendChanges(g, path, uint64(len(sent))) }()
	go func() {
		s, err := g.Stats()
		for i := int(s.Version); err == nil; i++ {
			if err = historyStep(g, now, i); err == nil {
				s, err = g.Stats()
				fmt.Println(s.Version)
			}
		}
		failed <- err
	}()
	return <-failed
}

// sendChanges appends the changes after a version to the file path.feed: the length of each, in 4
// bytes, and its binary form.
func sendChanges(g *db.DB, path string, since uint64) error {
	f, err := os.OpenFile(path+".feed", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for c, err := range g.Changes(context.Background(), since) {
		if err != nil {
			return err
		}
		b, err := c.MarshalBinary()
		if err != nil {
			return err
		}
		if _, err := f.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
			return err
		}
	}
	return errors.New("the changes ended")
}

// readFeed returns the changes of the file path.feed, and cuts off an incomplete one at its end.
func readFeed(path string) (all []db.Change, err error) {
	b, err := os.ReadFile(path + ".feed")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rest := b
	for len(rest) >= 4 && len(rest)-4 >= int(binary.LittleEndian.Uint32(rest)) {
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		var c db.Change
		if err := c.UnmarshalBinary(rest[4:n]); err != nil {
			return nil, err
		}
		all, rest = append(all, c), rest[n:]
	}
	if len(rest) > 0 {
		err = os.Truncate(path+".feed", int64(len(b)-len(rest)))
	}
	return all, err
}

// follow applies the changes of the file path.feed to the database path.follower, prints its
// version after each call, and does not end by itself.
func follow(path string) error {
	h, err := db.Open(path+".follower", followAt(newClock()))
	if err != nil {
		return err
	}
	all, err := readFeed(path)
	for n := 1; err == nil; n++ {
		s, err := h.Stats()
		if err != nil {
			return err
		}
		next := all[min(int(s.Version), len(all)):]
		if err := h.Apply(context.Background(), next[:min(n%4, len(next))]...); err != nil {
			return err
		}
		if s, err = h.Stats(); err != nil {
			return err
		}
		fmt.Println(s.Version)
	}
	return err
}

// followAt returns options of a follower with a clock.
func followAt(c *clock) *db.Options {
	o := followOptions(false)
	o.Now = func() time.Time { return c.now }
	return o
}

// process is a child that prints versions until it is killed.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	last  uint64 // version that it printed last
}

func start(t *testing.T, name, path string) *process {
	cmd := child(t, name, path)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	return &process{cmd, bufio.NewScanner(out), 0}
}

// read reads a version, and reports whether there was one.
func (p *process) read(t *testing.T) bool {
	if !p.lines.Scan() {
		return false
	}
	v, err := strconv.ParseUint(p.lines.Text(), 10, 64)
	must(t, err)
	p.last = v
	return true
}

// kill kills the process after it has printed n versions.
func (p *process) kill(t *testing.T, n int, moment time.Duration) {
	for range n {
		if !p.read(t) {
			t.Fatalf("the process ended by itself: %v", p.Wait())
		}
	}
	time.Sleep(moment)
	must(t, p.Process.Kill())
	for p.read(t) {
	}
	_ = p.Wait() // it was killed
}

// No change that was yielded is lost by a kill, none that was acknowledged is missing, and a
// follower that is killed has each change once.
func TestFollowCrash(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	now := newClock()
	path := place(t)
	g := open(t, path, feedOptions(now))
	copied := path + ".follower"
	var b bytes.Buffer
	_, err := g.WriteTo(ctx, &b)
	must(t, err, restore(copied, b.Bytes()), g.Close())
	rng := rand.New(rand.NewPCG(3, 4))
	kills := size(1, 3, 12) * *times
	for kill := range kills {
		leader := start(t, "lead", path)
		leader.kill(t, 1+rng.IntN(40), time.Duration(rng.IntN(5000))*time.Microsecond)
		g = open(t, path, feedOptions(now))
		sent, err := readFeed(path)
		must(t, err, g.Check(ctx))
		made := changes(t, g, 0)
		if uint64(len(made)) < leader.last || len(sent) > len(made) || !sameHistory(sent, made[:len(sent)]) {
			t.Fatalf("kill %d: version %d was acknowledged and %d changes were sent; now there are %d", kill, leader.last, len(sent), len(made))
		}
		follower := start(t, "follow", path)
		follower.kill(t, 1+rng.IntN(10), time.Duration(rng.IntN(5000))*time.Microsecond)
		h := open(t, copied, followAt(now))
		if v := version(t, h); v < follower.last {
			t.Fatalf("kill %d: the follower is at version %d and acknowledged %d", kill, v, follower.last)
		}
		must(t, h.Check(ctx))
		if kill%2 == 1 {
			must(t, h.Apply(ctx, made[version(t, h):]...))
			alike(t, fmt.Sprint("kill ", kill), g, h)
		}
		must(t, h.Close(), g.Close())
	}
	t.Logf("%d kills of each", kills)
}

// sameHistory reports whether changes are the same, except for the keys of nodes that were erased
// after they were sent.
func sameHistory(sent, made []db.Change) bool {
	return slices.EqualFunc(sent, made, func(a, b db.Change) bool {
		return a.Version == b.Version && a.Before == b.Before && a.After == b.After && len(a.Nodes) == len(b.Nodes) && len(a.Edges) == len(b.Edges)
	})
}

// Applying any bytes is an error or makes a version that Check accepts.
func FuzzApply(f *testing.F) {
	ctx := context.Background()
	now := newClock()
	g := open(f, place(f), feedOptions(now))
	for i := range 40 {
		must(f, historyStep(g, now, i))
	}
	var backup bytes.Buffer
	_, err := g.WriteTo(ctx, &backup)
	must(f, err)
	at := version(f, g)
	for i := range 40 {
		must(f, historyStep(g, now, 40+i))
	}
	for _, c := range changes(f, g, at) {
		b, err := c.MarshalBinary()
		must(f, err)
		f.Add(b[:len(b)-4])
	}
	must(f, g.Close())
	path := place(f)
	must(f, restore(path, backup.Bytes()))
	h := open(f, path, followOptions(false))
	f.Cleanup(func() { must(f, h.Close()) })
	f.Fuzz(func(t *testing.T, b []byte) {
		var c db.Change
		if c.UnmarshalBinary(checksummed(b)) != nil {
			return
		}
		if _, err := c.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		before := version(t, h)
		if err := h.Apply(ctx, c); err != nil && version(t, h) != before {
			t.Fatalf("an error, and version %d after %d: %v", version(t, h), before, err)
		}
		if version(t, h) != before {
			must(t, h.Check(ctx))
		}
	})
}

// checksummed returns the binary form of a change for a document.
func checksummed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(b), index.Checksum(b))
}
