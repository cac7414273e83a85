package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestIsWhole(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want bool
	}{
		{"", true},
		{"  \n", true},
		{"-- nothing", true},
		{"/* nothing */", true},
		{"/* open", false},
		{";", true},
		{"CHECK", false},
		{"CHECK;", true},
		{"CHECK; -- done", true},
		{"CHECK; /* open", false},
		{"CHECK; SHOW", false},
		{"CHECK -- not yet;", false},
		{"CHECK /* not yet; */", false},
		{"CHECK /*/;", false},
		{"DESCRIBE NODE 'a;", false},
		{"DESCRIBE NODE 'a'';", false},
		{"DESCRIBE NODE 'a''';", true},
		{`DESCRIBE MODEL "a;`, false},
		{`DESCRIBE MODEL "a'";`, true},
		{"nonsense;", true},
		{"NODES 1->2;", true},
		{strings.Repeat("x", maxStatement+1), false},
		{strings.Repeat("x", maxStatement+1) + ";", true},
	}
	for _, tt := range tests {
		if got := IsWhole(tt.text); got != tt.want {
			t.Errorf("%.40q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

// TestSplitRefuses checks that an error in one statement does not affect the next.
func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxStatement+10)
	tests := []struct{ name, script, want string }{
		{"too long", "CHECK; " + long + ";\n CHECK", "1:1 ok, 1:8: statement is longer than 1 MiB, 2:2 ok"},
		{"too long and quoted", "'" + long + ";';CHECK", fmt.Sprintf("1:1: statement is longer than 1 MiB, 1:%d ok", len(long)+5)},
		{"a long comment counts", "/*" + long + "*/ CHECK", "1:1: statement is longer than 1 MiB"},
		{"blanks before it do not", strings.Repeat(" ", maxStatement+10) + "CHECK", fmt.Sprintf("1:%d ok", maxStatement+11)},
		{"invalid UTF-8", "CHECK;\n\xff;\nCHECK;", "1:1 ok, 2:1: statement is not valid UTF-8: byte 0xff, 3:1 ok"},
		{"byte order mark", "\uFEFFCHECK; CHECK", "1:1 ok, 1:9 ok"},
		{"columns are runes", "DESCRIBE NODE 'äöü'; CHECK", "1:1 ok, 1:22 ok"},
	}
	for _, tt := range tests {
		if got := outcomes(strings.NewReader(tt.script)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// outcomes returns the position of each statement of a script, or its error.
func outcomes(r io.Reader) string {
	var list []string
	for f, err := range Split(r) {
		if err == nil {
			_, err = f.Parse()
		}
		if err != nil {
			list = append(list, err.Error())
			continue
		}
		list = append(list, fmt.Sprintf("%d:%d ok", f.Line, f.Col))
	}
	return strings.Join(list, ", ")
}

// TestSplitReads checks that statements are yielded as soon as they are closed, and an error of the
// reader last.
func TestSplitReads(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	script := io.MultiReader(strings.NewReader("CHECK; SHOW STATS;\n SHOW"), iotest.ErrReader(broken))
	n := 0
	for f, err := range Split(iotest.OneByteReader(script)) {
		n++
		if (n == 3) != errors.Is(err, broken) {
			t.Errorf("statement %d, %q: got %v", n, f.Text, err)
		}
	}
	if n != 3 {
		t.Errorf("got %d pairs, want 3", n)
	}
}

// fragments returns the fragments of a script with their positions.
func fragments(t *testing.T, r io.Reader) (all []string) {
	t.Helper()
	for f, err := range Split(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d:%d %s", f.Line, f.Col, f.Text))
	}
	return all
}

func TestSplit(t *testing.T) {
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
		{"a dot within a comment", "/*\n.quit */ CHECK;", []string{"1:1 /*\n.quit */ CHECK;"}},
		{"runes count once", "INSERT NODE 'é'; CHECK;", []string{"1:1 INSERT NODE 'é';", "1:18 CHECK;"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.script), iotest.OneByteReader(strings.NewReader(c.script))} {
			if got := fragments(t, r); strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// endless is a reader that repeats a text without end.
type endless string

func (r endless) Read(p []byte) (int, error) { return copy(p, r), nil }

// TestSplitRefusesEarly checks that a statement that is too long is refused before all of it is
// read.
func TestSplitRefusesEarly(t *testing.T) {
	t.Parallel()
	for _, err := range Split(endless("x ")) {
		if err == nil {
			t.Error("no error")
		}
		break
	}
}

// TestSplitStops checks that nothing is read after a statement at which the caller stops.
func TestSplitStops(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	go func() { _, _ = write.Write([]byte("CHECK; ")) }() // nothing more is written: a further read would block
	for f, err := range Split(read) {
		if err != nil || f.Text != "CHECK;" {
			t.Errorf("got %q, %v", f.Text, err)
		}
		break
	}
	_ = read.Close()
}

// TestSplitFindsEveryStatement checks that concatenated statements are split where they were
// joined.
func TestSplitFindsEveryStatement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for _, s := range rapid.SliceOfN(statements(), 0, 5).Draw(t, "script") {
			want = append(want, s.String()+";")
		}
		glue := rapid.SampledFrom([]string{"", " ", "\n", "\t"}).Draw(t, "glue")
		script := strings.Join(want, glue)
		var got []string
		for f, err := range Split(strings.NewReader(script)) {
			if err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			if at := script[f.Offset:]; !strings.HasPrefix(at, f.Text) {
				t.Fatalf("%q is not at its offset %d", f.Text, f.Offset)
			}
			if p := start().After(script[:f.Offset]); p != f.Pos {
				t.Fatalf("%q is at %v, not %v", f.Text, p, f.Pos)
			}
			got = append(got, f.Text)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
