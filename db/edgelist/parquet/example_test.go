package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// A program that embeds kith writes a graph as a Parquet file, and loads one. With a query.Session
// it sets Session.Tables, for LOAD and EXPORT.
func Example() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(ctx, strings.NewReader("ann bob 2\nbob cid 0.5\n"), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	o := db.ListOptions{Format: edgelist.Parquet, Tables: parquet.Format{}}
	err = g.View(ctx, func(tx *db.Tx) error {
		_, err := tx.WriteEdges(ctx, &file, o)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	report, err := g.Load(ctx, &file, db.LoadOptions{Tables: parquet.Format{}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Columns, report.Lines, "edges")
	// Output:
	// src,dst,weight 2 edges
}
