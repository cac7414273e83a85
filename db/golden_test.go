package db_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// digests is a file of lines "name digest".
const digests = "testdata/digests"

// Answers to holdouts stay the same bit for bit. A change of model that is meant to change them
// writes the digests again with -remake.
func TestDigests(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of amd64")
	}
	want := readDigests(t)
	for name, fill := range goldenGraphs() {
		t.Run(name, func(t *testing.T) {
			direction := db.Undirected
			if strings.HasSuffix(name, "directed") {
				direction = db.Directed
			}
			g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction, Memory: 64 << 20})
			fill(t, g)
			compareDigest(t, want, name, g)
		})
	}
	if *remake {
		writeDigests(t, want)
	}
}

// goldenGraphs returns what fills a database with a graph, by name.
func goldenGraphs() map[string]func(*testing.T, *db.DB) {
	file := func(name string, long bool) func(*testing.T, *db.DB) {
		return func(t *testing.T, g *db.DB) {
			if notShort(t); long {
				slow(t)
			}
			_, err := g.Load(context.Background(), shared(t, name), db.LoadOptions{})
			must(t, err)
		}
	}
	return map[string]func(*testing.T, *db.DB){
		"circles": func(t *testing.T, g *db.DB) {
			notShort(t)
			circles(t, g)
		},
		"strewn-directed":    func(t *testing.T, g *db.DB) { strew(t, g, 120, 1) },
		"featured":           featured,
		"GrQc":               file("snap/CA-GrQc.txt", false),
		"facebook":           file("snap/facebook_combined.txt", true),
		"wiki-Vote-directed": file("snap/wiki-Vote.txt", true),
	}
}

// featured makes a graph of 200 nodes in groups that their features tell.
func featured(t *testing.T, g *db.DB) {
	rng := rand.New(rand.NewPCG(4, 4))
	update(t, g, func(tx *db.Tx) error {
		for u := range 200 {
			f := []float32{float32(u % 7), float32(u % 3), rng.Float32()}
			must(t, tx.PutNode(db.Node{Key: db.Int(int64(u)), Features: f}))
		}
		for range 900 {
			u := rng.IntN(200)
			must(t, tx.PutEdge(u, (u+7*rng.IntN(29))%200))
		}
		return nil
	})
}

// compareDigest compares the digest of the answers of the default and of plain heuristics with the
// wanted one. With -remake it changes the wanted one.
func compareDigest(t *testing.T, want map[string]string, name string, g *db.DB) {
	t.Helper()
	h := db.EvaluateOptions{Share: 0.1, Sample: 8, Seed: 5, Among: []db.Candidates{db.Neighbors(2)}}
	contenders := []db.Contender{
		{Prior: true}, {Model: "resource_allocation"}, {Model: "ppr"}, {Model: "katz"},
		{Spec: &db.ModelSpec{}, Plan: model.EdgePlan{Samples: 100, Epochs: 2}},
		{Spec: &db.ModelSpec{Policy: "prb"}, Plan: model.EdgePlan{Samples: 50, Epochs: 1}},
	}
	sum := sha256.New()
	for _, c := range contenders {
		_, all := heldOut(t, g, h, c)
		for _, out := range all {
			fmt.Fprintln(sum, out.Source.Literal(), out.Hidden)
			for _, x := range slices.Concat(out.Found, out.Others, out.FoundExploit, out.OthersExploit) {
				sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			}
		}
	}
	digest := fmt.Sprintf("%x", sum.Sum(nil)[:16])
	if *remake {
		want[name] = digest
	}
	if digest != want[name] {
		t.Errorf("the answers have digest %s, want %q", digest, want[name])
	}
}

func readDigests(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(digests)
	if err != nil && !*remake {
		t.Fatal(err)
	}
	all := map[string]string{}
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		name, digest, _ := strings.Cut(in.Text(), " ")
		all[name] = digest
	}
	return all
}

func writeDigests(t *testing.T, all map[string]string) {
	t.Helper()
	var lines []string
	for name, digest := range all {
		lines = append(lines, name+" "+digest+"\n")
	}
	slices.Sort(lines)
	must(t, os.WriteFile(digests, []byte(strings.Join(lines, "")), 0o644))
}
