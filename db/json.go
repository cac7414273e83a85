package db

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Every result type of the package marshals to JSON by the names that statements of package query use for their
// columns. Numbers that JSON lacks, NaN and the infinities, are null. A list is never null. An error is its text.

// object writes a struct as a JSON object with a member for each field, including those of embedded structs, by the
// names of their json tags.
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

// member returns the value of a field in a form that encoding/json can write.
func member(field reflect.Value) any {
	switch v := field.Interface().(type) {
	case float64:
		return numberOrNull(v)
	case float32:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil
		}
	case []float64:
		return members(v, numberOrNull)
	case []float32:
		return members(v, func(x float32) any { return member(reflect.ValueOf(x)) })
	case error:
		return v.Error()
	case []error:
		return members(v, func(err error) any { return err.Error() })
	}
	if field.Kind() == reflect.Slice && field.IsNil() {
		return []any{}
	}
	return field.Interface()
}

func members[T any](v []T, f func(T) any) []any {
	all := make([]any, len(v))
	for i, x := range v {
		all[i] = f(x)
	}
	return all
}

func numberOrNull(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// MarshalJSON implements [json.Marshaler].
func (l Link) MarshalJSON() ([]byte, error) { return object(l) }

// MarshalJSON implements [json.Marshaler].
func (r Ranking) MarshalJSON() ([]byte, error) { return object(r) }

// MarshalJSON implements [json.Marshaler].
func (r Reasons) MarshalJSON() ([]byte, error) { return object(r) }

// MarshalJSON implements [json.Marshaler].
func (i Input) MarshalJSON() ([]byte, error) { return object(i) }

// MarshalJSON implements [json.Marshaler].
func (p Path) MarshalJSON() ([]byte, error) { return object(p) }

// MarshalJSON implements [json.Marshaler]. Without a reward, the reward is null.
func (d Decision) MarshalJSON() ([]byte, error) {
	if !d.Rewarded {
		d.Reward = math.NaN()
	}
	return object(d)
}

// MarshalJSON implements [json.Marshaler].
func (o Offer) MarshalJSON() ([]byte, error) { return object(o) }

// MarshalJSON implements [json.Marshaler].
func (o Observed) MarshalJSON() ([]byte, error) { return object(o) }

// MarshalJSON implements [json.Marshaler].
func (v LogValue) MarshalJSON() ([]byte, error) { return object(v) }

// MarshalJSON implements [json.Marshaler].
func (h HeldOut) MarshalJSON() ([]byte, error) { return object(h) }

// MarshalJSON implements [json.Marshaler].
func (p PageRank) MarshalJSON() ([]byte, error) { return object(p) }

// MarshalJSON implements [json.Marshaler].
func (n RankedNode) MarshalJSON() ([]byte, error) { return object(n) }

// MarshalJSON implements [json.Marshaler].
func (n Node) MarshalJSON() ([]byte, error) { return object(n) }

// MarshalJSON implements [json.Marshaler].
func (r Reached) MarshalJSON() ([]byte, error) { return object(r) }

// MarshalJSON implements [json.Marshaler].
func (e Edge) MarshalJSON() ([]byte, error) { return object(e) }

// MarshalJSON implements [json.Marshaler].
func (m ModelInfo) MarshalJSON() ([]byte, error) { return object(m) }

// MarshalJSON implements [json.Marshaler].
func (t Trained) MarshalJSON() ([]byte, error) { return object(t) }

// MarshalJSON implements [json.Marshaler].
func (c Comparison) MarshalJSON() ([]byte, error) { return object(c) }

// MarshalJSON implements [json.Marshaler].
func (s Standing) MarshalJSON() ([]byte, error) { return object(s) }

// MarshalJSON implements [json.Marshaler].
func (o Option) MarshalJSON() ([]byte, error) { return object(o) }

// MarshalJSON implements [json.Marshaler].
func (s Step) MarshalJSON() ([]byte, error) { return object(s) }

// MarshalJSON implements [json.Marshaler].
func (s Stats) MarshalJSON() ([]byte, error) { return object(s) }

// MarshalJSON implements [json.Marshaler].
func (r LoadReport) MarshalJSON() ([]byte, error) { return object(r) }

// MarshalJSON implements [json.Marshaler].
func (r Repairs) MarshalJSON() ([]byte, error) { return object(r) }

// MarshalJSON implements [json.Marshaler].
func (e CompactionEvent) MarshalJSON() ([]byte, error) { return object(e) }
