package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
)

// The test of exactly-once outcomes kills a consumer of two queues at every point between its
// stores: before and after each write of a transaction, before and after the sync of its commit,
// and between the commit and the answer to the queue. The consumer keeps its position in the first
// queue in a variable. The second queue keeps the position itself, in the file path.queue, and
// delivers a message again unless the position was written.

// consume observes the next message of each queue, prints what it has acknowledged of the first,
// and kills itself at a point. The path ends with the number of the point.
func consume(path string) error {
	path, number, _ := strings.Cut(path, "@")
	last, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var points atomic.Int64
	point := func() {
		if points.Add(1) == int64(last) {
			self, _ := os.FindProcess(os.Getpid()) // never fails
			_ = self.Kill()
			select {}
		}
	}
	o := &db.Options{Memory: 64 << 20, Events: db.Events{
		Sync: func(time.Duration) { point() }, Commit: func(db.CommitEvent) { point() },
	}}
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	point()
	if err := consumeOwn(g, point); err != nil {
		return err
	}
	if err := consumeOther(g, path+".queue", point); err != nil {
		return err
	}
	return g.Close()
}

// consumeOwn observes the next message of the queue whose position is a variable.
func consumeOwn(g *db.DB, point func()) error {
	at := 0
	err := g.Update(context.Background(), func(tx *db.Tx) (err error) {
		if at, err = position(tx); err != nil {
			return err
		}
		point()
		err = tx.Observe(context.Background(), db.ObserveOptions{Source: 1, Target: 2 + at%30, Reward: 1, Model: "m"})
		if err != nil {
			return err
		}
		point()
		at++
		err = tx.Set("position", []byte(strconv.Itoa(at)))
		point()
		return err
	})
	if err != nil {
		return err
	}
	point()
	fmt.Println(at)
	point()
	return nil
}

// position returns the number of messages of the first queue that were observed.
func position(tx *db.Tx) (int, error) {
	b, err := tx.Get("position")
	if err != nil || b == nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}

// consumeOther observes the next message of the queue that keeps its position in a file.
func consumeOther(g *db.DB, file string, point func()) error {
	at, err := delivered(file)
	if err != nil {
		return err
	}
	err = g.Observe(context.Background(), db.ObserveOptions{
		Source: 1, Target: 2 + at%30, Reward: 0, Model: "m", ID: fmt.Sprint("message ", at),
	})
	if err != nil {
		return err
	}
	point()
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(at+1)), 0o600); err != nil {
		return err
	}
	point()
	err = os.Rename(file+".new", file)
	point()
	return err
}

// delivered returns the number of messages that a queue was told of.
func delivered(file string) (int, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}

func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, &db.Options{Memory: 64 << 20})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}), g.Close())
	acknowledged := 0
	for point, killed := 1, true; killed; point++ {
		cmd := child(t, "consume", fmt.Sprint(path, "@", point))
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		for lines := bufio.NewScanner(out); lines.Scan(); {
			acknowledged, err = strconv.Atoi(lines.Text())
			must(t, err)
		}
		killed = cmd.Wait() != nil
		if killed && point > 100 || !killed && point < 15 {
			t.Fatalf("the consumer passed %d points", point)
		}
		acknowledged = wantOnce(t, point, path, acknowledged)
	}
}

// wantOnce fails t unless each message of both queues was observed once, up to what was
// acknowledged or one message further. It returns the position in the first queue.
func wantOnce(t *testing.T, point int, path string, acknowledged int) (at int) {
	t.Helper()
	g := open(t, path, &db.Options{Memory: 64 << 20})
	must(t, g.Check(context.Background()))
	ids, rounds := observed(t, g)
	own, others := 0, map[string]bool{}
	for _, id := range ids {
		if id == "" {
			own++
		}
		others[id] = true
	}
	delete(others, "")
	told, err := delivered(path + ".queue")
	must(t, err)
	view(t, g, func(tx *db.Tx) (err error) {
		at, err = position(tx)
		if at != own || at < acknowledged || at > acknowledged+1 {
			t.Errorf("point %d: position %d, %d observations, %d were acknowledged", point, at, own, acknowledged)
		}
		return err
	})
	if n := len(ids) - own; len(others) != n || n < told || n > told+1 || rounds != len(ids) {
		t.Errorf("point %d: %d observations with %d ids, %d were told; the model learned %d of %d", point, n, len(others), told, rounds, len(ids))
	}
	for i := range told {
		if !others[fmt.Sprint("message ", i)] {
			t.Errorf("point %d: message %d is lost", point, i)
		}
	}
	must(t, g.Close())
	return at
}
