package shell

import "testing"

func TestHighlight(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"show 'a''b' -- x\n, \"c": cyan + "show" + uncoloured + " " + yellow + "'a''b'" + uncoloured + " " + grey + "-- x\n" + uncoloured + ", " + green + `"c` + uncoloured,
		"TOP 1.5e3 x1 /* 2":       cyan + "TOP" + uncoloured + " " + magenta + "1.5e3" + uncoloured + " x1 " + grey + "/* 2" + uncoloured,
		"$a ?":                    green + "$a" + uncoloured + " " + green + "?" + uncoloured,
		".mode  csv":              cyan + ".mode" + uncoloured + "  csv",
		".help":                   cyan + ".help" + uncoloured,
	} {
		if got := Highlight(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
