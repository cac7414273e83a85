package query_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// patience is a context that ends when it has been looked at so many times.
type patience struct {
	context.Context
	left, looks int
}

func (p *patience) Err() error {
	p.looks++
	if p.left--; p.left < 0 {
		return context.Canceled
	}
	return nil
}

// Long work looks at its context again and again, and ends with its error; nothing has changed then.
func TestCancel(t *testing.T) {
	t.Chdir(t.TempDir())
	g := dbtest.Open(t, &db.Options{InMemory: true})
	rng := rand.New(rand.NewPCG(1, 2))
	var list strings.Builder
	for range 60_000 {
		list.WriteString(strconv.Itoa(rng.IntN(30_000)) + " " + strconv.Itoa(rng.IntN(30_000)) + "\n")
	}
	if err := os.WriteFile("list.txt", []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(&query.Session{DB: g}, "LOAD EDGES FROM 'list.txt'; CREATE MODEL m USING prb; CREATE MODEL n USING ppr;")
	for i := range 40 {
		story(g, "CHOOSE LINK FOR "+strconv.Itoa(i)+" AMONG SAMPLE(20) USING n; REWARD "+strconv.Itoa(i+1)+" = 1")
	}
	for _, text := range []string{
		"PREDICT LINKS FOR 1 AMONG ALL WITH (cache = off, epsilon = 1e-12)",
		"PREDICT LINKS FOR 1 AMONG NEIGHBORS(20) USING m",
		"RANK NODES FOR 1, 2, 3, 4, 5 WITH (epsilon = 1e-12, cache = off)",
		"PATH FROM 1 TO 29999",
		"NEIGHBORS OF 1 DEPTH 30",
		"NODES WHERE degree > 100",
		"WHY 1 -> 2 PATHS 1000",
		"WARM 11, 12, 13, 14",
		"EXPORT EDGES TO 'out.csv'",
		"EXPORT NODES TO 'out.csv'",
		"EXPORT LOG TO 'out.jsonl'",
		"BACKUP TO 'out.kbk'",
		"EVALUATE n ON LOG USING dr",
		"EVALUATE PREDICT LINKS FOR SAMPLE(20) USING ppr ON HOLDOUT 0.1",
		"LOAD EDGES FROM 'list.txt'",
		"TRAIN MODEL m WITH (samples = 2000)",
		"CHECK",
	} {
		before := story(g, "SHOW STATS; SHOW MODELS")
		for _, looks := range []int{0, 1, 2} {
			ctx := &patience{Context: context.Background(), left: looks}
			_, err := (&query.Session{DB: g}).Run(ctx, text)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled at look %d of %d: %v", text, looks+1, ctx.looks, err)
				break
			}
		}
		if after := story(g, "SHOW STATS; SHOW MODELS"); after != before {
			t.Errorf("%s was cancelled and has left\n%s\nit was\n%s", text, after, before)
		}
		if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
			t.Fatalf("%s was cancelled and has left %v, %v", text, files, err)
		}
	}
}

// A game that would take hours ends when its context does.
func TestCancelStream(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true})
	story(g, "INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 5, 5 -> 1")
	ctx, cancel := context.WithCancel(context.Background())
	s := &query.Session{DB: g, Progress: func(query.Progress) { cancel() }}
	_, err := s.Run(ctx, "EVALUATE STREAM EDGES CANDIDATES 3 USING ppr BASELINES random WITH (rounds = 100000000)")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
