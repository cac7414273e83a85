package db_test

import (
	"bytes"
	"context"
	"expvar"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"kith/db"
)

// A list of edges is loaded completely or not at all.
func ExampleDB_Load() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	r, err := g.Load(ctx, strings.NewReader("# a comment\nann bob\nbob cid\nann bob\n"), db.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Edges, "edges", r.Nodes, "nodes")
	_, err = g.Load(ctx, strings.NewReader("cid dan\ncid\n"), db.LoadOptions{})
	fmt.Println(err != nil)
	// Output:
	// 2 edges 3 nodes
	// true
}

// A backup is made while others write, and restored to another directory.
func ExampleDB_WriteTo() {
	dir, err := os.MkdirTemp("", "kith")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.AddEdge("ann", "bob") }); err != nil {
		log.Fatal(err)
	}
	var backup bytes.Buffer
	if _, err := g.WriteTo(ctx, &backup); err != nil {
		log.Fatal(err)
	}

	path := filepath.Join(dir, "copy.kith")
	if err := db.Restore(ctx, path, nil, &backup); err != nil {
		log.Fatal(err)
	}
	c, err := db.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Check(ctx))
	s, err := c.Stats()
	fmt.Println(s.Nodes, s.Edges, err)
	// Output:
	// <nil>
	// 2 1 <nil>
}

// Figures of a database, for monitoring.
func ExampleDB_Stats() {
	ctx := context.Background()
	commits := 0
	g, err := db.Open("", &db.Options{InMemory: true, Events: db.Events{
		Commit: func(e db.CommitEvent) { commits += e.Commits },
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.AddEdge("ann", "bob") }); err != nil {
		log.Fatal(err)
	}
	s, err := g.Stats()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Nodes, s.Edges, s.Activity.Commits, commits)

	var text strings.Builder
	if err := s.WritePrometheus(&text); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(text.String(), "kith_nodes 2"))
	v := expvar.Func(func() any { return s }) // expvar.Publish("kith", v)
	fmt.Println(strings.Contains(v.String(), `"nodes":2,"edges":1`))
	// Output:
	// 2 1 1 1
	// true
	// true
}
