package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/internal/cli"
)

// Models find hidden likes of users who like one half of the items, and popularity does not.
func TestKindsOfRatings(t *testing.T) {
	t.Parallel()
	var list bytes.Buffer
	rng := rand.New(rand.NewPCG(5, 6))
	for user := range 80 {
		for _, item := range rng.Perm(60)[:20] {
			stars := 1 + rng.IntN(3)
			if item%2 == user%2 {
				stars += 2
			}
			fmt.Fprintf(&list, "%d\t%d\t%d\t%d\n", user+1, item+1, stars, 100*user+item)
		}
	}
	path := filepath.Join(t.TempDir(), "u.data")
	if err := os.WriteFile(path, list.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	args := []string{"kinds", "--data", path, "--ways", "popular,ratings,kinds", "--sample", "50"}
	if code := cli.Run(newRoot(), args, nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d: %s", code, log.String())
	}
	mrr := map[string]float64{}
	for line := range strings.Lines(log.String()) {
		var seed, users, links int
		var way string
		var v float64
		if _, err := fmt.Sscan(line, &seed, &way, &users, &links, &v); err != nil || seed != 1 || links < users {
			t.Fatalf("line %q: %v", line, err)
		}
		mrr[way] = v
	}
	if len(mrr) != 3 || mrr["kinds"] < 1.2*mrr["popular"] {
		t.Errorf("mrr %v", mrr)
	}
	if !strings.Contains(out.String(), "| kinds |") {
		t.Errorf("the table is\n%s", out.String())
	}
	for _, args := range [][]string{{"kinds"}, {"kinds", "--data", path, "--ways", "none"}, {"kinds", "--data", path, "--sample", "0"}} {
		if code := cli.Run(newRoot(), args, nil, &out, &log); code == 0 {
			t.Errorf("%q is accepted", args)
		}
	}
}
