package query_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// The error of a timeout differs from that of the caller's context.
func TestTimeout(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	s := &query.Session{DB: g, Settings: query.Settings{Timeout: time.Millisecond}}
	holder := &query.Session{DB: g}
	tell(holder, "BEGIN")
	defer holder.Close()
	_, err := s.Run(context.Background(), "INSERT EDGES 1 -> 2")
	var at *query.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &at) || !strings.Contains(at.Msg, "SET timeout") {
		t.Errorf("a statement that takes too long: %v", err)
	}
	s.Settings.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, "INSERT EDGES 1 -> 2"); err != context.DeadlineExceeded {
		t.Errorf("the caller's time is over: %v", err)
	}
}
