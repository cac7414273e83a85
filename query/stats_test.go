package query_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// SHOW STATS has figures of the changes that are kept, and tells how far a follower is.
func TestStatsOfChanges(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, ChangeBytes: 1 << 20, Now: func() time.Time { return time.Unix(1e9, 0) }})
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(1, 2) }); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	path := filepath.Join(t.TempDir(), "follower.kith")
	_, err := g.WriteTo(ctx, &b)
	if err == nil {
		err = db.Restore(ctx, path, &db.Options{Memory: 64 << 20, ChangeBytes: -1}, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := dbtest.Reopen(t, path, &db.Options{Follower: true, Published: func() uint64 { return 4 }})
	for in, want := range map[*db.DB]string{
		g: "changes kept 1|changes kept after version 0|change bytes 102|change readers 0",
		h: "follows another database true|committed there 2001-09-09T01:46:40Z|versions behind 3",
	} {
		rows, err := query.Run(ctx, in, "SHOW STATS")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows.Rows {
			if name := r[0].(string); strings.Contains(name, "change") && name != "logged changes" || strings.Contains(name, "follows") || strings.Contains(name, "there") || name == "versions behind" {
				got = append(got, fmt.Sprint(name, " ", r[1]))
			}
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}
