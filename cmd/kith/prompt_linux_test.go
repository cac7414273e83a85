package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPromptKeepsKeys checks that every statement arrives as typed, however late the terminal
// reports the position of the cursor: typed key by key, each key after the last one is on the
// screen, and typed ahead.
func TestPromptKeepsKeys(t *testing.T) {
	statements := 8
	switch {
	case *long:
		statements = 60
	case testing.Short():
		statements = 3
	}
	for _, delay := range []time.Duration{0, 20 * time.Millisecond, 60 * time.Millisecond, 150 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			term := openSession(t, tty{24, 100, delay}, "XDG_STATE_HOME="+state)
			typed := make([]string, statements)
			for i := range typed {
				typed[i] = fmt.Sprintf("NODES WHERE label IN (a, 'some more of it', \"and''more\") AND node <> %d TOP %d;", i*7919, i+1)
				if i%2 == 0 {
					term.typeKeys(typed[i])
				} else {
					term.send(typed[i] + "\r")
				}
			}
			term.arrived(state, typed)
		})
	}
}

// TestPromptKeepsLetters checks that letters outside ASCII arrive, also in a long paste: letters
// that readline can take for Alt keys, letters of several characters, and wide ones.
func TestPromptKeepsLetters(t *testing.T) {
	state := t.TempDir()
	term := openSession(t, ordinary, "XDG_STATE_HOME="+state)
	letters := "NODES LABEL \"nö ångström ÿ € 漢字 e\u0301 🇩🇪\";"
	term.typeKeys(letters)
	back := "NODES LABEL \"z\";"
	term.send("NODES LABEL \"\";" + "\x1b[D\x1b[D" + "z" + "\r")
	wide := "NODES LABEL \"漢字\";"
	term.send("NODES LABEL \"字\";" + "\x1b[D\x1b[D\x1b[D" + "漢" + "\r")
	paste := "NODES\n\tLABEL \"" + strings.Repeat("é€", 1500) + "\";"
	term.send("\x1b[200~" + paste + "\x1b[201~\r")
	term.arrived(state, []string{letters, back, wide, paste})
}

// arrived ends the session and checks that its history equals the typed text.
func (term *terminal) arrived(state string, typed []string) {
	term.t.Helper()
	term.send("exit\r")
	if code := term.exit(); code != 0 {
		term.t.Errorf("exit code %d", code)
	}
	got, whole := entries(term.t, filepath.Join(state, "kith", "history")), 0
	for i, want := range append(typed, "exit") {
		if i < len(got) && got[i] == want {
			whole++
		} else if whole == i { // the first entry that differs
			term.t.Errorf("line %d, %q, arrived as %q", i, want, got[min(i, len(got)):min(i+1, len(got))])
		}
	}
	term.t.Logf("%d of %d lines arrived whole", whole, len(typed)+1)
}

// typeKeys types a line, each key after the prompt has shown the key before.
func (term *terminal) typeKeys(line string) {
	term.t.Helper()
	for _, key := range line + "\r" {
		term.send(string(key))
		term.expect(showCursor)
	}
}

// entries returns the entries of a history file.
func entries(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var entry struct{ Block string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		all = append(all, entry.Block)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPromptScreen checks the screen while a statement is edited, both with room below and at the
// bottom.
func TestPromptScreen(t *testing.T) {
	for _, c := range []struct {
		name  string
		above int // number of statements that fill the screen before
	}{{"room below", 0}, {"at the bottom", 12}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term := openSession(t, tty{rows: 12, cols: 40}, "NO_COLOR=1")
			for i := range c.above {
				term.enter(fmt.Sprintf("PATH FROM 1 TO 2 DEPTH %d;", i+1))
				term.ready()
			}
			for _, step := range []struct {
				keys  string
				lines []string // last lines of the screen
				left  int      // number of keys between the cursor and the end of the input
			}{
				{"NODES LABEL x", []string{"kith> NODES LABEL x"}, 0},
				{" WHERE degree > 1 OR degree", []string{"kith> NODES LABEL x WHERE degree > 1 OR ", "degree"}, 0},
				{" <> 0000000000000000000000000000", []string{"kith> NODES LABEL x WHERE degree > 1 OR ", "degree <> 0000000000000000000000000000"}, 0},
				{"00", []string{"kith> NODES LABEL x WHERE degree > 1 OR ", "degree <> 000000000000000000000000000000"}, 0},
				{"00", []string{"kith> NODES LABEL x WHERE degree > 1 OR ", "degree <> 000000000000000000000000000000", "00"}, 0},
				{"\rAND edges = 12345678901234567890123456789", []string{
					"kith> NODES LABEL x WHERE degree > 1 OR ", "degree <> 000000000000000000000000000000", "00",
					"  ... AND edges = 1234567890123456789012", "3456789"}, 0},
				{"\x1b[D\x1b[D\x1b[D", []string{"  ... AND edges = 1234567890123456789012", "3456789"}, 3},
				{"x", []string{"  ... AND edges = 1234567890123456789012", "3456x789"}, 3},
				{"\x03", []string{"kith>"}, 0},
				// A paste is inserted unchanged, up to Enter.
				{"\x1b[200~PATH FROM 1\r\n\tTO 2;\x1b[201~", []string{"kith> PATH FROM 1", "  ...      TO 2;"}, 0},
				{"\r", []string{"kith>"}, 0},
				// Tab completes, and the menu disappears.
				{"describe \t", []string{"kith> describe", "DECISION  MODEL  NODE"}, -1},
				{"model f\t", []string{"kith> describe model friends"}, -1},
				{";\r", []string{"kith>"}, 0},
				// Ctrl-R searches the history.
				{"\x12FROM 1", []string{"kith> PATH FROM 1", "  ...      TO 2;", "statements (inc-search): FROM 1_"}, -1},
				{"\r", []string{"kith>"}, 0},
			} {
				term.send(step.keys)
				term.shows(fmt.Sprintf("after %q", step.keys), func(s *screen) bool {
					return s.ends(step.lines, step.left)
				})
			}
		})
	}
}

// ends reports whether the screen ends with lines, ignoring a menu below a search, with the cursor
// left columns before their end; -1 means anywhere.
func (s *screen) ends(lines []string, left int) bool {
	shown := strings.Split(s.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if left < 0 {
		return strings.Contains(s.String(), strings.Join(lines, "\n"))
	}
	at := len(shown) - len(lines)
	end := len([]rune(lines[len(lines)-1]))
	if end == len("kith>") {
		end++
	}
	full := end == len(s.cells[0])
	return at >= 0 && slices.Equal(shown[at:], lines) &&
		(full && s.row == len(shown) && s.col == 0 || !full && s.row == len(shown)-1 && s.col == end-left)
}
