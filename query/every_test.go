package query

import (
	"context"
	"errors"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// Every statement either is part of a transaction or says that it cannot be; none waits for its own.
func TestEveryStatementInATransaction(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true})
	t.Chdir(t.TempDir()) // for what is exported
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, text := range examples {
		for _, begin := range []string{"BEGIN", "BEGIN READ ONLY"} {
			s := &Session{DB: g}
			if _, err := s.Run(ctx, begin); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(ctx, text); errors.Is(err, ctx.Err()) && ctx.Err() != nil {
				t.Fatalf("%s: %s: %v", begin, text, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
