package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// digests is a file of lines "name digest".
const digests = "testdata/digests"

// Scores stay the same bit for bit. A change of model that is meant to change them writes the
// digests again with -update.
func TestDigests(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of amd64")
	}
	got := map[string]string{}
	for _, policy := range []string{
		"common_neighbors", "adamic_adar", "resource_allocation", "preferential_attachment", "jaccard", "katz", "ppr", "random",
	} {
		got[policy] = scoreDigest(t, newModel(t, policy, "", 0), twoGroups(false).world(nil), twoGroups(true).world(nil))
	}
	for _, features := range []int{0, 3} {
		r := newRounds(1)
		play(t, newModel(t, "random", "", 0), r, 200) // which finds links
		m := newModel(t, "default", "", features)
		name := fmt.Sprintf("default-%d", features)
		got[name] = scoreDigest(t, m, r.mesh.world(r.feature), twoGroups(true).world(r.feature))
		trainOn(t, m, r)
		got[name+"-trained"] = scoreDigest(t, m, r.mesh.world(r.feature))
		play(t, m, r, 150)
		got[name+"-taught"] = scoreDigest(t, m, r.mesh.world(r.feature))
		for _, policy := range []string{"prb", "prb_greedy"} {
			for _, preset := range []string{"paper", "default"} {
				r, m := newRounds(1), newModel(t, policy, preset, features)
				play(t, m, r, 200)
				got[fmt.Sprintf("%s-%s-%d", policy, preset, features)] = scoreDigest(t, m, r.mesh.world(r.feature))
			}
		}
	}
	m, now := follower(t, 400)
	got["default-timed"] = scoreDigest(t, m, now.World)
	compareDigests(t, got)
}

// trainOn trains a model on the links that were found so far.
func trainOn(t *testing.T, m *Model, r *rounds) {
	t.Helper()
	g := r.mesh.without(nil)
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(r.feature), nil }
	if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 40, Epochs: 2}, without); err != nil {
		t.Fatal(err)
	}
}

// scoreDigest returns a digest of the scores of all pairs of every third node.
func scoreDigest(t *testing.T, m *Model, worlds ...World) string {
	t.Helper()
	h := sha256.New()
	for _, w := range worlds {
		for u := 0; u < w.Graph.NumNodes(); u += 3 {
			var targets []ID
			for v := range ID(w.Graph.NumNodes()) {
				targets = append(targets, v)
			}
			scores, err := m.Scorer().Score(context.Background(), w, Pairs(ID(u), targets))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scores {
				for _, x := range []float64{s.Score, s.Exploit, s.Explore, s.PPR, s.Bound} {
					h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
				}
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// compareDigests compares the digests with those of the file, or writes them with -update.
func compareDigests(t *testing.T, got map[string]string) {
	t.Helper()
	var lines []string
	for name, digest := range got {
		lines = append(lines, name+" "+digest)
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile(digests, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(digests)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		name, digest, _ := strings.Cut(in.Text(), " ")
		want[name] = digest
	}
	for name, digest := range got {
		if digest != want[name] {
			t.Errorf("%s: the scores have digest %s, want %q", name, digest, want[name])
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s has %d digests, want %d", digests, len(want), len(got))
	}
}
