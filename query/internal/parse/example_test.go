package parse_test

import (
	"fmt"

	"kith/query/internal/parse"
)

func ExampleParse() {
	s, err := parse.Parse("predict links for 'alice' among neighbors(2) top ?;")
	fmt.Println(s, err)
	fmt.Println(parse.Among.Of(s).Position().Col, parse.Using.Given(s))
	// Output:
	// PREDICT LINKS FOR 'alice' AMONG NEIGHBORS(2) TOP ? <nil>
	// 33 false
}
