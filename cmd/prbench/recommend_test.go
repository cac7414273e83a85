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

// writeClubs writes a split of users who have items of their club, and returns its folder.
func writeClubs(t *testing.T) string {
	t.Helper()
	dir, rng := filepath.Join(t.TempDir(), "clubs"), rand.New(rand.NewPCG(5, 7))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var train, test bytes.Buffer
	for user := range 120 {
		fmt.Fprint(&train, user)
		fmt.Fprint(&test, user)
		for at, i := range rng.Perm(25)[:10] {
			to := &train
			if at < 2 && user%4 > 0 {
				to = &test
			}
			fmt.Fprintf(to, " %d", user%3+3*i)
		}
		train.WriteByte('\n')
		test.WriteByte('\n')
	}
	for name, b := range map[string]*bytes.Buffer{"train.txt": &train, "test.txt": &test} {
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ndcgs runs recommend, and returns NDCG@20 by policy and what is printed.
func ndcgs(t *testing.T, args ...string) (ndcg map[string]float64, out string) {
	t.Helper()
	var table, log bytes.Buffer
	if code := cli.Run(newRoot(), append([]string{"recommend"}, args...), nil, &table, &log); code != 0 {
		t.Fatalf("exit code %d: %s", code, log.String())
	}
	ndcg = map[string]float64{}
	for line := range strings.Lines(log.String()) {
		cells := strings.Split(line, "  ")
		policy, _, _ := strings.Cut(cells[1], ",")
		var v float64
		if _, err := fmt.Sscan(cells[4], &v); err != nil {
			t.Fatalf("line %q", line)
		}
		ndcg[policy] = v
	}
	return ndcg, table.String()
}

// Models and rivals find the items of clubs, and popularity does not. The same seed gives the same
// measures.
func TestRecommend(t *testing.T) {
	t.Parallel()
	dir := writeClubs(t)
	args := []string{"--data", dir, "--policies", "popularity,default,prior,ease,common_neighbors"}
	ndcg, out := ndcgs(t, args...)
	for _, policy := range []string{"default", "prior", "ease"} {
		if ndcg[policy] < 1.5*ndcg["popularity"] || !strings.Contains(out, "| clubs | "+policy) {
			t.Errorf("%s: NDCG@20 %v\n%s", policy, ndcg, out)
		}
	}
	if again, _ := ndcgs(t, args...); fmt.Sprint(again) != fmt.Sprint(ndcg) {
		t.Errorf("NDCG@20 is %v, then %v", ndcg, again)
	}
}
