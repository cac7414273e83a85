package words_test

import (
	"testing"

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
