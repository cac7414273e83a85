package parse

import "reflect"

// Params returns the parameters of a statement.
func Params(s Statement) []Param { return params(reflect.ValueOf(s)) }

// params returns the parameters in a tree or in a part of one.
func params(v reflect.Value) (all []Param) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			all = params(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, params(v.Index(i))...)
		}
	case reflect.Struct:
		if p, ok := v.Interface().(Param); ok {
			return []Param{p}
		}
		for i := range v.NumField() {
			all = append(all, params(v.Field(i))...)
		}
	}
	return all
}
