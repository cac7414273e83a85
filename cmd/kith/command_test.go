package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"kith/query/parse"
)

// cut returns the commands of a script with their positions.
func cut(t testing.TB, r io.Reader) (all []string) {
	t.Helper()
	for c, err := range commands(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d:%d %s", c.Line, c.Col, c.Text))
	}
	return all
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		want         []string
	}{
		{"nothing", "", nil},
		{"blanks", " \n\n-- a comment\n", nil},
		{"one", "CHECK;", []string{"1:1 CHECK;"}},
		{"the last without a semicolon", "CHECK;\nSHOW\n STATS\n", []string{"1:1 CHECK;", "2:1 SHOW\n STATS\n"}},
		{"some in a line", "CHECK; CHECK;\nCHECK;", []string{"1:1 CHECK;", "1:8 CHECK;", "2:1 CHECK;"}},
		{"one begun behind another", "CHECK; SHOW\nSTATS; CHECK;", []string{"1:1 CHECK;", "1:8 SHOW\nSTATS;", "2:8 CHECK;"}},
		{"dot commands", ".mode csv\nCHECK;\n.quit", []string{"1:1 .mode csv", "2:1 CHECK;", "3:1 .quit"}},
		{"a dot behind a comment", "-- why\n.help\r\n", []string{"2:1 .help"}},
		{"a dot within a statement", "SHOW\n.help\n;", []string{"1:1 SHOW\n.help\n;"}},
		{"a dot within a line", "CHECK; .help\n", []string{"1:1 CHECK;", "1:8 .help\n"}},
		{"a dot within a string", "INSERT NODE 'a;\n.quit';", []string{"1:1 INSERT NODE 'a;\n.quit';"}},
		{"runes count once", "INSERT NODE 'é'; CHECK;", []string{"1:1 INSERT NODE 'é';", "1:18 CHECK;"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.script), iotest.OneByteReader(strings.NewReader(c.script))} {
			if got := cut(t, r); strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// TestCommandsAreThoseOfSplit checks that a script without dot commands is split into the same statements, at the same
// positions, as by package query.
func TestCommandsAreThoseOfSplit(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"CHECK", ";", ";\n", "\n", " ", "'a;b'", "'\n'", "/* ; */", "-- ;\n", "é", "'open"})
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), "")
		var want []parse.Fragment
		for f, err := range parse.Split(strings.NewReader(script)) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, f)
		}
		var got []parse.Fragment
		for c, err := range commands(strings.NewReader(script)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Fragment)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: got %v, want %v", script, got, want)
		}
	})
}

// TestCommandsComeEarly checks that a statement is yielded before more of the script is read.
func TestCommandsComeEarly(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go io.WriteString(w, "CHECK; SHOW\n")
	for c, err := range commands(r) {
		if err != nil || c.Text != "CHECK;" {
			t.Errorf("%q, %v", c.Text, err)
		}
		break
	}
}

// TestLongStatement checks that a statement that is too long is refused before all of it is read, and that a long line
// of short statements is accepted.
func TestLongStatement(t *testing.T) {
	t.Parallel()
	n := 0
	for c, err := range commands(repeat("x ")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Parse(); err == nil {
			t.Error("no error")
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d statements", n)
	}
	const statements = longest / 4
	n = 0
	for c, err := range commands(strings.NewReader(strings.Repeat("CHECK;", statements))) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Text != "CHECK;" {
			t.Fatalf("statement %d is %q", n, c.Text)
		}
		n++
	}
	if n != statements {
		t.Errorf("%d statements", n)
	}
}

// repeat is a reader that repeats a text without end.
type repeat string

func (r repeat) Read(p []byte) (int, error) { return copy(p, r), nil }

func TestCommandsEndWithTheReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var last error
	for _, err := range commands(io.MultiReader(strings.NewReader("CHECK;\nSHOW"), iotest.ErrReader(broken))) {
		last = err
	}
	if last != broken {
		t.Errorf("got %v", last)
	}
}
