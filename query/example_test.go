package query_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"strings"

	"kith/db"
	"kith/query"
)

// Statements run in a program take their values as arguments.
func ExampleRun() {
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	ctx := context.Background()
	if _, err := query.Run(ctx, g, "INSERT EDGES 'ann' -> 'bob', 'ann' -> 'cid', 'bob' -> 'dan', 'cid' -> 'dan'"); err != nil {
		log.Fatal(err)
	}
	rows, err := query.Run(ctx, g, "PREDICT LINKS FOR ? AMONG NEIGHBORS(2) TOP 1 RETURN target, rank", "ann")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Columns, rows.Rows, rows.Notes)
	_, err = query.Run(ctx, g, "PREDICT LINK FOR 'ann'")
	fmt.Println(err)
	// Output:
	// [target rank] [[dan 1]] [answered by the built-in model: the database has no model]
	// 1:9: found LINK, expected LINKS; did you mean LINKS?
}

// A database is used through database/sql.
func ExampleConnector() {
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	pool := sql.OpenDB(query.Connector(g))
	defer pool.Close()

	tx, err := pool.Begin()
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range [][2]any{{"ann", "bob"}, {"bob", 7}} {
		if _, err := tx.Exec("INSERT EDGES ? -> ?", e[0], e[1]); err != nil {
			log.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	rows, err := pool.Query("NODES WHERE degree >= $least", sql.Named("least", 1))
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var node any // an int64 or a string
		var label sql.NullString
		var edges int
		var degree float64
		if err := rows.Scan(&node, &label, &edges, &degree); err != nil {
			log.Fatal(err)
		}
		fmt.Println(node, edges, degree)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ann 1 1
	// bob 2 2
	// 7 1 1
}

func ExampleSplit() {
	script := `
INSERT EDGES 'alice' -> 'bob', 'bob' -> 'carol';
PREDICT LINKS FOR alice; -- a name is no node
CHECK;`
	for f, err := range query.Split(strings.NewReader(script)) {
		var s *query.Statement
		if err == nil {
			s, err = f.Parse()
		}
		if err != nil {
			fmt.Printf("%v\n%s\n", err, f.Caret(err))
			continue
		}
		fmt.Println(s)
	}
	// Output:
	// INSERT EDGES 'alice' -> 'bob', 'bob' -> 'carol'
	// 3:19: found alice, expected ALL, LABEL, NEAR, "(" or a node (an integer, a 'string' or a parameter); did you mean 'alice'?
	// PREDICT LINKS FOR alice;
	//                   ^
	// CHECK
}

// A set of candidates from a command line or a configuration is used in a prediction.
func ExampleCandidates() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := query.Run(ctx, g, "INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 5"); err != nil {
		log.Fatal(err)
	}
	among, err := query.Candidates("ALL EXCEPT NEIGHBORS(2)")
	if err != nil {
		log.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		links, err := tx.Predict(ctx, db.PredictOptions{For: 1, Among: among})
		if err != nil {
			return err
		}
		for _, l := range links.Links {
			fmt.Println(l.Target)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 5
	// 4
}
