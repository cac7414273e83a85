package db_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"kith/db"
)

// Algorithms of gonum run on a snapshot of the graph.
func ExampleTx_Gonum() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for _, e := range [][2]string{{"ann", "bob"}, {"bob", "cid"}, {"dan", "eve"}} {
			if err := tx.AddEdge(e[0], e[1], db.Weight(2)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		gg := tx.Gonum()
		fmt.Println(len(topo.ConnectedComponents(gg.(graph.Undirected))), "components")
		ann, err := tx.GonumNode("ann")
		if err != nil {
			return err
		}
		cid, err := tx.GonumNode("cid")
		if err != nil {
			return err
		}
		way, length := path.DijkstraFrom(ann, gg).To(cid.ID())
		for _, n := range way {
			fmt.Print(n.(db.GonumNode).Key, " ")
		}
		fmt.Println(length)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 components
	// ann bob cid 4
}
