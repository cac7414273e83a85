package parse_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"kith/query/internal/parse"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`null`: nil, ` true `: true, `7`: int64(7), `-9223372036854775808`: int64(-1 << 63), `9007199254740993`: int64(9007199254740993),
		`7.0`: 7.0, `1e3`: 1000.0, `1e-999`: 0.0, `""`: "", `"\ud83d\ude00"`: "\U0001f600", `"\\ud800"`: `\ud800`, `"\\\"\u00e9"`: `\"é`, `"�"`: "�",
		`"\ufffd\ue000\ud7ff"`: "\ufffd\ue000\ud7ff", `[]`: []any{}, `[1, [2.5, null], {"a": []}]`: []any{int64(1), []any{2.5, nil}, parse.Object{"a": []any{}}},
		`{"a": 1, "A": {"a": 2}}`: parse.Object{"a": int64(1), "A": parse.Object{"a": int64(2)}},
	} {
		if got, err := parse.JSON("x", []byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v, want %#v", text, got, err, want)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: "it is empty, want JSON", "\n ": "it is empty", `nodes`: "it is not JSON: byte 2: invalid character", `[1,]`: "it is not JSON: byte 4: invalid character",
		`{} {}`: "after top-level value", `{"a": `: "unexpected end of JSON input", "\ufeff{}": "it is not JSON: byte 1", "\"a\xffb\"": "byte 3, 0xff, is not UTF-8",
		`"\ud800"`: `x: \ud800 is half of a surrogate pair`, `["a", "\uDFFFx"]`: `x[1]: \uDFFF is half`, `"\ud800\ud800\udc00"`: `x: \ud800`, `"\ud800\u0041"`: `x: \ud800`,
		`"\\\\\ud83d"`: `x: \ud83d`, `"\udc00\ud800"`: `x: \udc00`, `{"a": {"b": [0, "\ud800x"]}}`: `x.a.b[1]: \ud800`, `{"\ud800": 1}`: `x: \ud800`,
		`{"a": 1, "a": 2}`: `x: the member "a" is given twice`, `{"a": {"b": 1, "b": 2}}`: `x.a: the member "b" is given twice`, `{"a": 1, "\u0061": 2}`: `"a" is given twice`,
		`[9223372036854775808]`: "x[0]: the integer 9223372036854775808 is not from -2^63 to 2^63-1", `1e999`: "x: the number 1e999 is too large",
	} {
		if got, err := parse.JSON("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %#v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := parse.JSON("", []byte(`{"a": ["\ud800"]}`)); err == nil || !strings.HasPrefix(err.Error(), "a[0]: ") {
		t.Errorf("without a name: %v", err)
	}
}

// A text that Decode accepts has the same value as for encoding/json, and no text stops the
// program.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"statement": "NODES", "parameters": ["\ud83d\ude00", 1e3, [null, true]]}`, `"\ud800"`, `[1`, "\"\xff\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse.JSON("", []byte(text))
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q: accepted, but %v", text, err)
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%q: got %#v, want %#v", text, again, want)
		}
	})
}
