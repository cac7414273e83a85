package query

import "reflect"

// element is one of the values that an argument stands for: only statements that run have it.
type element struct {
	Param
	of any
}

// spread returns a list with the elements of a slice in the place of a parameter that stands for one.
// Bytes are no slice: nothing is a list of them.
func (r *run) spread(list []Value) []Value {
	spread := make([]Value, 0, len(list))
	for _, v := range list {
		p, isParam := v.(Param)
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
