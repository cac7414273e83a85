// Package wire writes results as JSON that people expect.
//
// Every result type of package db marshals to JSON by the names that the statements of package
// query use for their columns. Tags suffice, except for types that hold errors or numbers that JSON
// lacks: [Object] writes NaN and the infinities as null, and an error as its text.
package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Object writes a struct as a JSON object with a member for each field, including the fields of
// embedded structs, by the names of their json tags.
func Object(v any) ([]byte, error) {
	of := reflect.ValueOf(v)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	separator := `{"`
	for _, f := range reflect.VisibleFields(of.Type()) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := of.FieldByIndex(f.Index)
		if name == "" || option == "omitzero" && field.IsZero() {
			continue // an embedded struct has no name; its fields are visited themselves
		}
		b.WriteString(separator + name + `":`)
		if err := enc.Encode(member(field)); err != nil {
			return nil, err
		}
		separator = `,"`
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// member returns a value in a form that encoding/json can write.
func member(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	case reflect.Slice:
		if m, ok := v.Interface().(json.Marshaler); ok {
			return m
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = member(v.Index(i))
		}
		return all
	}
	if err, ok := v.Interface().(error); ok {
		return err.Error()
	}
	return v.Interface()
}
