package db

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

// A transaction that stays open while vectors, edges and bases change reads what it did at first.
// The store keeps the old versions for it in the files that it had, not in new ones, and lets go of
// these when the transaction ends.
func TestLongReader(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	open := func() *DB {
		g, err := Open(t.TempDir(), &Options{NoSync: true, Memory: 64 << 20})
		must(t, err)
		return g
	}
	const nodes, length = 400, 64
	write := func(g *DB, round int) {
		t.Helper()
		must(t, g.Update(ctx, func(tx *Tx) error {
			for i := range nodes {
				n := Node{Key: Int(int64(i)), Label: "x", Features: make([]float32, length)}
				for j := range n.Features {
					n.Features[j] = float32(round) + float32(i*j%97)/97
				}
				if err := tx.PutNode(n); err != nil {
					return err
				}
				if err := tx.PutEdge(n.Key, Int(int64((i+round+1)%nodes)), Weight(float32(round+1))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	records := func(tx *Tx) string {
		t.Helper()
		var b bytes.Buffer
		for e, err := range tx.records(ctx) {
			must(t, err)
			fmt.Fprintf(&b, "%q %x\n", e.Key, e.Value)
		}
		return b.String()
	}
	lists := func(tx *Tx) string {
		t.Helper()
		var b bytes.Buffer
		_, err := tx.WriteEdges(ctx, &b, ListOptions{})
		must(t, err)
		for n, err := range tx.Nodes() {
			must(t, err)
			fmt.Fprintln(&b, n)
		}
		return b.String()
	}
	begin := func(g *DB) *Tx {
		t.Helper()
		write(g, 0)
		must(t, g.Compact(ctx)) // nothing is in memory any more
		tx, err := g.Begin(ctx, false)
		must(t, err)
		return tx
	}
	g, twin := open(), open()
	tx, same := begin(g), begin(twin)
	before := records(tx)
	for round := range 60 {
		write(g, round+1)
		if round%20 == 10 {
			must(t, g.compactLog(ctx))
		}
	}
	if !g.store.Pins() {
		t.Error("the store keeps all versions since the transaction began")
	}
	if lists(tx) != lists(same) || records(tx) != before {
		t.Error("the transaction reads something else")
	}
	must(t, tx.Rollback(), same.Rollback())
	if g.store.Pins() {
		t.Error("the store keeps what the transaction read")
	}
	must(t, g.Check(ctx), g.Close(), twin.Close()) // closing writes tables, whatever was in memory
	g, err := Open(g.store.Dir(), nil)
	must(t, err)
	defer g.Close()
	if stats, err := g.Stats(); err != nil || stats.MappedBytes <= 0 || stats.MappedBytes > stats.DiskBytes {
		t.Errorf("tables of %d bytes, files of %d, %v", stats.MappedBytes, stats.DiskBytes, err)
	}
}
