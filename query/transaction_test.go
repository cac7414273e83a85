package query_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A BEGIN that waits for another session ends with its context, and continues when that session
// closes.
func TestBeginWaits(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	first, second := &query.Session{DB: g}, &query.Session{DB: g}
	if out := tell(first, "BEGIN; INSERT EDGES 1 -> 2"); !first.InTransaction() {
		t.Fatal(out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	for _, text := range []string{"BEGIN", "INSERT EDGES 2 -> 3"} {
		if _, err := second.Run(ctx, text); !errors.Is(err, context.DeadlineExceeded) || second.InTransaction() {
			t.Errorf("%s beside a transaction: %v", text, err)
		}
	}
	done := make(chan string)
	go func() { done <- tell(second, "BEGIN; NODES; COMMIT") }()
	if err := errors.Join(first.Close(), first.Close()); err != nil || first.InTransaction() {
		t.Fatal(err)
	}
	want := "transaction\nopen\nnode | label | edges | degree\ntransaction\ncommitted\n"
	if got := <-done; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A cancelled statement has no effect on its transaction, which stays open.
func TestCancelledInTransaction(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	s := &query.Session{DB: g}
	tell(s, "BEGIN; INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, "NEIGHBORS OF 1 DEPTH 3"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if out := tell(s, "COMMIT; NEIGHBORS OF 1"); s.InTransaction() || out != "transaction\ncommitted\n"+
		"source | target | depth | weight | time | label | degree\n1 | 2 | 1 | 1 | - | - | 2\n" {
		t.Error(out)
	}
}

// A commit that fails ends the transaction.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	s := &query.Session{DB: g}
	defer s.Close()
	tell(s, "BEGIN")
	for i := range 4000 {
		if _, err := s.Run(context.Background(), "INSERT NODE ?", fmt.Sprintf("%01000d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Run(context.Background(), "COMMIT"); !errors.Is(err, db.ErrTooLarge) || s.InTransaction() {
		t.Errorf("a commit of too much: %v", err)
	}
	if out := tell(s, "NODES"); out != "node | label | edges | degree\n" {
		t.Error(out)
	}
}

// On a read-only database, a transaction can only read.
func TestBeginReadOnly(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/g"
	for _, o := range []*db.Options{nil, {ReadOnly: true}} {
		g, err := db.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		s := &query.Session{DB: g}
		if o != nil {
			if out := tell(s, "BEGIN; BEGIN READ ONLY; NODES; COMMIT"); out != "1:1: read only: the database is open for reading only; did you mean BEGIN READ ONLY?\nBEGIN;\n^\n"+
				"transaction\nopen\nnode | label | edges | degree\ntransaction\ncommitted\n" {
				t.Error(out)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A session can hold a transaction.
func ExampleSession() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	s := &query.Session{DB: g}
	defer s.Close() // rolls back an open transaction
	for _, text := range []string{
		"BEGIN", "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid'", "INSERT EDGES 'cid' -> 'dan' WEIGHT -1",
		"NEIGHBORS OF 'ann' DEPTH 2", "ROLLBACK", "NODES",
	} {
		rows, err := s.Run(ctx, text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(rows.Columns[0], len(rows.Rows), s.InTransaction())
	}
	// Output:
	// transaction 1 true
	// edges_added 1 true
	// 1:36: weight -1 is not a number from 2^-40 to 2^40
	// source 2 true
	// transaction 1 false
	// node 0 false
}
