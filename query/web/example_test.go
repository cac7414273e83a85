package web_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"kith/db"
	"kith/query"
	"kith/query/web"
)

// A process serves its database on the loopback interface, for inspection.
func ExampleHandler() {
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	ctx := context.Background()
	if _, err := query.Run(ctx, g, "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid'"); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(web.Handler(g)) // http.ListenAndServe("127.0.0.1:7331", web.Handler(g))
	defer server.Close()

	c, err := web.Dial(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	rows, err := c.Run(ctx, "PATH FROM ? TO ?", "ann", "cid")
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows.Rows {
		fmt.Println(row...)
	}
	_, err = c.Run(ctx, "DELETE NODE 'ann'")
	fmt.Println(err)
	// Output:
	// 0 ann <nil>
	// 1 bob 1
	// 2 cid 1
	// 1:1: DELETE NODE is refused here, where statements only look at the database
}
