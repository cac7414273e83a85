package query

import (
	"reflect"

	"kith/query/parse"
)

// element is an element of a slice given as an argument. It occurs only in statements being run.
type element struct {
	parse.Param
	of any
}

// spread returns list with each parameter whose argument is a slice replaced by the elements of the slice. A []byte
// does not count as a slice.
func (r *run) spread(list []parse.Value) []parse.Value {
	spread := make([]parse.Value, 0, len(list))
	for _, v := range list {
		p, isParam := v.(parse.Param)
		x, err := r.value(v)
		elements := reflect.ValueOf(x)
		if _, bytes := x.([]byte); !isParam || err != nil || bytes || elements.Kind() != reflect.Slice {
			spread = append(spread, v)
			continue
		}
		for i := range elements.Len() {
			spread = append(spread, element{p, elements.Index(i).Interface()})
		}
	}
	return spread
}
