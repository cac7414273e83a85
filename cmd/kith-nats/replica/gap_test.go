package replica_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/cmd/kith-nats/replica"
	"kith/db"
)

// load loads edges into g, which makes a gap in its changes.
func load(t testing.TB, g *db.DB, edges string) {
	t.Helper()
	_, err := g.Load(t.Context(), strings.NewReader(edges), db.LoadOptions{})
	must(t, err)
}

// fill makes many changes, of about 2 KB each.
func fill(t testing.TB, g *db.DB, changes int) {
	t.Helper()
	for i := range changes {
		must(t, g.Update(t.Context(), func(tx *db.Tx) error {
			for j := range 80 {
				if err := tx.PutEdge(db.Str(fmt.Sprint("long name of node ", i%17)), db.Int(int64(j)), db.Weight(float32(1+i))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// A load, after which nothing is written, reaches a follower as a snapshot, whether it runs or not.
// Those who read the old copy meanwhile get answers.
func TestLoad(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	stop := publish(t, g, js, replica.Options{})
	path := filepath.Join(t.TempDir(), "copy")
	f, end := follow(t, path, js)
	arrives(t, f, g)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			if err := f.Use(context.Background(), func(_ context.Context, g *db.DB) error { _, err := g.Stats(); return err }); err != nil {
				t.Error(err)
			}
		}
		answered <- n
	}()
	load(t, g, "1 2\n2 3\n3 4\n")
	arrives(t, f, g)
	if s := f.Status(); s.Restored != 1 {
		t.Errorf("%+v", s)
	}
	cancel()
	t.Logf("%d answers meanwhile", <-answered)
	h.steps(t, g, 20)
	arrives(t, f, g)
	end()
	load(t, g, "7 8\n")
	h.steps(t, g, 5)
	f, _ = follow(t, path, js)
	arrives(t, f, g)
	stop() // and a load while nothing is published
	h.steps(t, g, 5)
	load(t, g, "5 6\n")
	publish(t, g, js, replica.Options{})
	arrives(t, f, g)
	h.steps(t, g, 20)
	arrives(t, f, g)
}

// A follower that was away while the changes that it needs fell off the log begins again with a
// snapshot, and a new one can always begin.
func TestAway(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	o := replica.Options{StreamBytes: 1 << 20, SnapshotBytes: 200 << 10}
	publish(t, g, js, o)
	path := filepath.Join(t.TempDir(), "copy")
	f, end := follow(t, path, js)
	arrives(t, f, g)
	end()
	for i := range 4 {
		fill(t, g, 500)
		other, end := follow(t, filepath.Join(t.TempDir(), fmt.Sprint("new ", i)), js)
		arrives(t, other, g)
		end()
	}
	info, err := js.Stream(t.Context(), streamName(t, g))
	must(t, err)
	state := info.CachedInfo().State
	if state.FirstSeq == 1 || state.Bytes > 1<<20 {
		t.Errorf("the log has kept everything: %+v", state)
	}
	f, _ = follow(t, path, js)
	arrives(t, f, g)
	if s := f.Status(); s.Restored != 1 {
		t.Errorf("%+v", s)
	}
	all, err := snapshots(t, g, js).List(t.Context())
	must(t, err)
	if len(all) > 3 { // two, and one that is being taken
		t.Errorf("%d snapshots are kept", len(all))
	}
}

// A gap in the log needs a snapshot, which waits for the one that is being taken: two would write
// into the same slot.
func TestGapDuringSnapshot(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g := newDatabase(t)
	must(t, replica.StartDuring(t.Context(), g, js, replica.Options{}, func() {
		time.Sleep(100 * time.Millisecond)
		if all, err := snapshots(t, g, js).List(t.Context()); !errors.Is(err, jetstream.ErrNoObjectsFound) {
			t.Errorf("%d snapshots, %v", len(all), err)
		}
	}))
	all, err := snapshots(t, g, js).List(t.Context())
	must(t, err)
	if len(all) != 1 {
		t.Errorf("%d snapshots", len(all))
	}
}

// snapshots returns the object store of the snapshots of g.
func snapshots(t testing.TB, g *db.DB, js jetstream.JetStream) jetstream.ObjectStore {
	t.Helper()
	store, err := js.ObjectStore(t.Context(), "kith_"+strings.TrimPrefix(streamName(t, g), "KITH_"))
	must(t, err)
	return store
}

func streamName(t testing.TB, g *db.DB) (name string) {
	t.Helper()
	must(t, g.View(t.Context(), func(tx *db.Tx) error { name = "KITH_" + tx.Stats().Database; return nil }))
	return name
}

// Changes that are larger than a message arrive, also if the publisher ends in the middle of one.
func TestLargeChange(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	f, _ := func() (*replica.Follower, func()) {
		stop := publish(t, g, js, replica.Options{})
		defer stop()
		return follow(t, filepath.Join(t.TempDir(), "copy"), js)
	}()
	for i := range 6 {
		stop := publish(t, g, js, replica.Options{MessageBytes: 1 << 10})
		h.steps(t, g, 20)
		if i%2 == 0 {
			arrives(t, f, g)
		}
		stop()
	}
	for _, large := range []int{100 << 10, 300 << 10} {
		vector := make([]float32, large/40)
		must(t, g.Update(t.Context(), func(tx *db.Tx) error {
			for i := range 10 {
				if err := tx.PutNode(db.Node{Key: db.Int(int64(1000 + i)), Label: fmt.Sprint("wide", large), Features: vector}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	publish(t, g, js, replica.Options{MessageBytes: 16 << 10})
	arrives(t, f, g)
}

// If a database has two publishers, the first returns an error, and a publisher whose database is
// an older copy, or one that went another way, is refused.
func TestTwoPublishers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	older, other := copied(t, g), copied(t, g)
	add := func(g *db.DB, a, b int64) {
		must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(db.Int(a), db.Int(b)) }))
	}
	ended := make(chan error, 1)
	go func() { ended <- replica.Publish(ctx, g, js, replica.Options{Logger: logger(t)}) }()
	f, _ := follow(t, filepath.Join(t.TempDir(), "copy"), js)
	add(g, 100, 101)
	arrives(t, f, g)
	if err := replica.Publish(ctx, older, js, replica.Options{}); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("an older copy: %v", err)
	}
	add(other, 100, 102)
	if err := replica.Publish(ctx, other, js, replica.Options{}); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("another way at the same version: %v", err)
	}
	add(other, 100, 103)
	if err := replica.Publish(ctx, other, js, replica.Options{}); !errors.Is(err, db.ErrMismatch) {
		t.Errorf("another way: %v", err)
	}
	twin := copied(t, g)
	publish(t, twin, js, replica.Options{})
	add(twin, 100, 104)
	arrives(t, f, twin)
	add(g, 100, 105)
	if err := <-ended; !errors.Is(err, replica.ErrOther) && !errors.Is(err, db.ErrMismatch) {
		t.Errorf("the first publisher: %v", err)
	}
	add(twin, 100, 106)
	arrives(t, f, twin)
}

// A follower becomes the publisher when it has all changes.
func TestPromote(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	stop := publish(t, g, js, replica.Options{})
	path := filepath.Join(t.TempDir(), "first")
	first, end := follow(t, path, js)
	second, _ := follow(t, filepath.Join(t.TempDir(), "second"), js)
	h.steps(t, g, 20)
	arrives(t, first, g)
	stop()
	end()
	promoted, err := db.Open(path, options(false))
	must(t, err)
	defer func() { must(t, promoted.Close()) }()
	stop = publish(t, promoted, js, replica.Options{})
	defer stop()
	h.steps(t, promoted, 40)
	arrives(t, second, promoted)
	if s := second.Status(); s.Restored != 0 {
		t.Errorf("%+v", s)
	}
}

// A log that the server has lost is made again.
func TestLostLog(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	publish(t, g, js, replica.Options{})
	f, _ := follow(t, filepath.Join(t.TempDir(), "copy"), js)
	arrives(t, f, g)
	for _, name := range []string{streamName(t, g), "OBJ_kith_" + strings.TrimPrefix(streamName(t, g), "KITH_")} {
		must(t, js.DeleteStream(t.Context(), name))
		h.steps(t, g, 10)
		arrives(t, f, g)
	}
	stream, err := js.Stream(t.Context(), streamName(t, g))
	must(t, err, stream.Purge(t.Context()))
	h.steps(t, g, 10)
	arrives(t, f, g)
	wait(t, "a snapshot in the new store", func() error {
		_, err := js.ObjectStore(t.Context(), "kith_"+strings.TrimPrefix(streamName(t, g), "KITH_"))
		return err
	})
}

// A follower notices that a log was made again although the new one ends at the same message.
func TestLogMadeAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	js := newLog(t)
	g := newDatabase(t)
	stop := publish(t, g, js, replica.Options{})
	f := opened(t, filepath.Join(t.TempDir(), "copy"), js)
	stop()
	defer func() { must(t, f.Close()) }()
	stream, err := js.Stream(ctx, streamName(t, g))
	must(t, err)
	before := stream.CachedInfo()
	last, err := stream.GetMsg(ctx, before.State.LastSeq)
	must(t, err, js.DeleteStream(ctx, streamName(t, g)))
	_, err = js.CreateStream(ctx, before.Config)
	must(t, err)
	for range before.State.LastSeq {
		_, err := js.PublishMsg(ctx, &nats.Msg{Subject: last.Subject, Header: last.Header, Data: last.Data})
		must(t, err)
	}
	if err := replica.Poll(f, ctx, before.Created); err == nil || ctx.Err() != nil {
		t.Errorf("it does not notice: %v", err)
	}
}
