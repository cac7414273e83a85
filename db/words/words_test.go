package words_test

import (
	"strings"
	"testing"
	"time"

	"kith/db/words"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	names := []string{"default", "adamic_adar", "katz", "ppr", "ease"}
	for name, want := range map[string]string{
		"defualt": "default", "adamic": "", "adamic_ader": "adamic_adar", "kats": "katz", "prp": "ppr", "pp": "ppr",
		"eases": "ease", "x": "", "": "", "deffaullt": "default", "ddeffaullt": "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": "",
	} {
		if got := words.Closest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 edges", 1: "1 edge", 2: "2 edges"} {
		if got := words.Count(n, "edge"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

type object map[string]any

func TestValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "null"}, {true, "true"}, {5, "5 (an integer)"}, {uint8(5), "5 (an integer)"}, {3.5, "3.5 (a number)"}, {"ann", "'ann' (a string)"},
		{strings.Repeat("é", 61), "'" + strings.Repeat("é", 60) + "...' (a string)"}, {[]any{1}, "a list"}, {map[string]any{"a": 1}, "an object"}, {object{}, "an object"}, {time.Second, "1s (time.Duration)"},
	} {
		if got := words.Value(c.v); got != c.want {
			t.Errorf("%v: got %s, want %s", c.v, got, c.want)
		}
	}
}
