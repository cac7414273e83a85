package db_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"kith/db"
)

// click is a message of a queue.
type click struct {
	id     string
	person string
	post   string
}

// A consumer of a queue keeps its position in the same commit as what it has learned, so that a
// crash loses no message and counts none twice. The id of an outcome is for messages that the queue
// itself has twice.
func ExampleTx_Set() {
	ctx := context.Background()
	queue := []click{{"c1", "ann", "bread"}, {"c2", "bob", "cake"}, {"c2", "bob", "cake"}, {"c3", "bob", "bread"}}
	g, err := db.Open("", &db.Options{InMemory: true}) // or the path of a directory, and nil
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	consumeNext := func(tx *db.Tx) error {
		at := uint64(0)
		position, err := tx.Get("clicks")
		if err != nil {
			return err
		}
		if position != nil {
			at = binary.BigEndian.Uint64(position)
		}
		next := queue[at:min(at+3, uint64(len(queue)))]
		for _, c := range next {
			for _, name := range []string{c.person, c.post} {
				if err := tx.PutNode(db.Node{Key: db.Str(name)}); err != nil {
					return err
				}
			}
			if err := tx.Observe(ctx, db.ObserveOptions{Source: c.person, Target: c.post, Reward: 1, Insert: true, ID: c.id}); err != nil {
				return err
			}
		}
		return tx.Set("clicks", binary.BigEndian.AppendUint64(nil, at+uint64(len(next))))
	}
	for range 2 {
		if err := g.Update(ctx, consumeNext); err != nil {
			log.Fatal(err)
		}
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		for o, err := range tx.Observations() {
			if err != nil {
				return err
			}
			fmt.Println(o.ID, o.Source, o.Target)
		}
		position, err := tx.Get("clicks")
		fmt.Println("position", position[7])
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// c1 ann bread
	// c2 bob cake
	// c3 bob bread
	// position 4
}

// A program that has more to write than fits into one Update uses a BulkWriter.
func ExampleDB_BulkWriter() {
	g, err := db.Open("", &db.Options{InMemory: true}) // or the path of a directory, and nil
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	w := g.BulkWriter(context.Background())
	for person := range 1000 {
		for k := 1; k <= 20; k++ {
			if err := w.PutEdge(person, (person+k*k)%1000, db.Via("follows")); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	s, err := g.Stats()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Nodes, "nodes,", s.Edges, "edges")
	// Output:
	// 1000 nodes, 20000 edges
}
