package query_test

import (
	"fmt"
	"strings"

	"kith/query"
)

func ExampleParse() {
	s, err := query.Parse("predict links for 'alice' among neighbors(2) top ?;")
	fmt.Println(s, err)
	predict := s.(*query.Predict)
	fmt.Println(predict.Among.Position().Col, predict.Using.Value == "")
	// Output:
	// PREDICT LINKS FOR 'alice' AMONG NEIGHBORS(2) TOP ? <nil>
	// 33 true
}

func ExampleSplit() {
	script := `
INSERT EDGES 'alice' -> 'bob', 'bob' -> 'carol';
PREDICT LINKS FOR alice; -- a name is no node
CHECK;`
	for f, err := range query.Split(strings.NewReader(script)) {
		var s query.Statement
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
	// 3:19: found alice, expected a node (an integer, a 'string' or a parameter); did you mean 'alice'?
	// PREDICT LINKS FOR alice;
	//                   ^
	// CHECK
}
