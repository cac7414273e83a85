package edgelist_test

import (
	"errors"
	"fmt"
	"strings"

	"kith/db/edgelist"
)

func Example() {
	file := strings.NewReader("# who knows whom\n1\t2\t0.5\n1\tbob\t2\n2\tbob\n")
	r, err := edgelist.NewReader(file, edgelist.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("columns", r.Columns)
	for e, err := range r.Edges() {
		var bad *edgelist.LineError
		switch {
		case errors.As(err, &bad):
			fmt.Println(bad) // the stream continues
		case err != nil:
			fmt.Println(err)
			return
		default:
			fmt.Println(e.Src.Int, e.Dst.IsInt, e.Weight)
		}
	}
	// Output:
	// columns src,dst,weight
	// 1 true 0.5
	// 1 false 2
	// edgelist: line 4: columns: found 2, expected 3: "2\tbob"
}
