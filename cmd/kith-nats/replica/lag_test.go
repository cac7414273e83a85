package replica_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/cmd/kith-nats/replica"
	"kith/db"
	"kith/db/dbtest"
)

// moments are when a database made its versions durable.
type moments struct {
	mu sync.Mutex // protects at
	at map[uint64]time.Time
}

func (m *moments) note(e db.CommitEvent) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for v := e.Version - uint64(e.Commits) + 1; v <= e.Version; v++ {
		m.at[v] = now
	}
}

// TestLag prints how long after a commit was durable a follower had it durable, too, while 1,000
// edges a second are inserted. Publisher, NATS server and follower share the machine:
//
//	go test ./replica -run Lag -v -long
func TestLag(t *testing.T) {
	seconds := 1
	if *long {
		seconds = 5
	}
	for _, edges := range []int{1, 10, 100} { // of a commit
		t.Run(fmt.Sprint(edges), func(t *testing.T) { testLag(t, edges, 1000*seconds) })
	}
}

func testLag(t *testing.T, edges, all int) {
	made, applied := moments{at: map[uint64]time.Time{}}, moments{at: map[uint64]time.Time{}}
	js := newLog(t)
	o := options(false)
	o.Events.Commit = made.note
	g := dbtest.Open(t, o)
	publish(t, g, js, replica.Options{})
	o = options(true)
	o.Events.Commit = applied.note
	var f *replica.Follower
	path := filepath.Join(t.TempDir(), "copy")
	wait(t, "a snapshot", func() (err error) {
		f, err = replica.Open(t.Context(), path, js, replica.FollowOptions{DB: o})
		return err
	})
	defer func() { must(t, f.Close()) }()
	stop := start(t, f.Run)
	defer stop()
	insertAtRate(t, g, edges, all)
	arrives(t, f, g)
	var lags []time.Duration
	for v, at := range made.at {
		if then, ok := applied.at[v]; ok {
			lags = append(lags, then.Sub(at))
		}
	}
	slices.Sort(lags)
	if len(lags) < all/edges*9/10 {
		t.Fatalf("%d of %d commits were applied while the follower ran", len(lags), all/edges)
	}
	part := func(q float64) time.Duration { return lags[int(q*float64(len(lags)-1))].Round(10 * time.Microsecond) }
	t.Logf("%d commits of %d edges, 1,000 edges a second: lag p50 %v, p99 %v, max %v", len(lags), edges, part(0.5), part(0.99), part(1))
}

// insertAtRate inserts 1,000 edges a second, some in a commit. Commits run side by side, so a slow
// disk does not slow them down: they share its syncs.
func insertAtRate(t *testing.T, g *db.DB, edges, all int) {
	t.Helper()
	var wg sync.WaitGroup
	began := time.Now()
	for i := 0; i < all; i += edges {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Millisecond)))
		wg.Go(func() {
			err := g.Update(context.Background(), func(tx *db.Tx) error {
				for j := range edges {
					if err := tx.PutEdge(db.Int(int64((i+j)%997)), db.Int(int64(i+j))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d edges in %v", all, time.Since(began).Round(time.Millisecond))
}
