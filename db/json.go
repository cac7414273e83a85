package db

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// The form on the wire.
//
// [DB.Stats] and [Stats.WritePrometheus] return figures, Options.Events receives syncs,
// commits, checkpoints and compactions, Options.Logger logs background work, and a training tells
// how far it has come to EdgePlan.Progress. The results of this package marshal to JSON, by the
// names that the statements of package query use for their columns. A node is a number or a string.
// Numbers that JSON lacks, NaN and the infinities, are null. A [Key] is also an
// [encoding.TextMarshaler] and a [database/sql.Scanner].

// Every result type of the package marshals to JSON by the names that statements of package query
// use for their columns. Their tags suffice, except for the types below, which hold errors or
// numbers that JSON lacks. NaN and the infinities are null, and an error is its text.

// object writes a struct as a JSON object with a member for each field, including the fields of
// embedded structs, by the names of their json tags.
func object(v any) ([]byte, error) {
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
		if s, ok := v.Interface().(Seeds); ok && len(s) == 1 && s[0].Weight == 1 {
			return s[0].Node
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

// MarshalJSON implements [json.Marshaler]. Without a reward, the reward is null.
func (d Decision) MarshalJSON() ([]byte, error) {
	if !d.Rewarded {
		d.Reward = math.NaN()
	}
	return object(d)
}

// MarshalJSON implements [json.Marshaler], as the methods below do.
func (v Link) MarshalJSON() ([]byte, error)          { return object(v) }
func (v Input) MarshalJSON() ([]byte, error)         { return object(v) }
func (v LogEvaluation) MarshalJSON() ([]byte, error) { return object(v) }
func (v LoadReport) MarshalJSON() ([]byte, error)    { return object(v) }
func (v Repairs) MarshalJSON() ([]byte, error)       { return object(v) }
