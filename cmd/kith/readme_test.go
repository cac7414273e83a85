package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kith/cmd/kith/internal/shell"
	"kith/db"
	"kith/query"
)

const (
	readmeFile   = "../../README.md"
	languageFile = "../../query/LANGUAGE.md"
	facebook     = "../../../shared/data/snap/facebook_combined.txt"
	votes        = "../../../shared/data/snap/wiki-Vote.txt"
)

// block is a fenced block of a page.
type block struct {
	section, language string
	lines             []string
	at                int // index of its first line, from 0
}

// readPage returns the lines and the blocks of a page.
func readPage(t *testing.T, file string) (lines []string, blocks []block) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(b), "\n")
	section, open := "", false
	for i, line := range lines {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			blocks = append(blocks, block{section: section, language: language, at: i + 1})
			open = true
		case fence:
			open = false
		case open:
			last := &blocks[len(blocks)-1]
			last.lines = append(last.lines, line)
		case strings.HasPrefix(line, "#"):
			section = strings.TrimLeft(line, "# ")
		}
	}
	return lines, blocks
}

// exchange is a typed input and the lines of output that follow it.
type exchange struct {
	typed string
	shown []string
}

// exchanges splits a session of the shell into inputs with their outputs.
func exchanges(lines []string) (all []exchange) {
	for _, line := range lines {
		if typed, prompted := strings.CutPrefix(line, shell.Prompt); prompted {
			all = append(all, exchange{typed: typed})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.shown = append(last.shown, line)
		}
	}
	return all
}

// answers types lines into a shell and returns the output of each, on a terminal of unlimited
// width.
func answers(t *testing.T, path string, typed ...string) (all []exchange) {
	t.Helper()
	err := with(path, &db.Options{Memory: 2 << 30}, func(g *db.DB) error {
		for _, line := range typed {
			var b bytes.Buffer
			s := shell.Shell{Commands: []string{".mode table", ".timer on", line}, Stdout: &b, Stderr: &b}
			if err := s.Local(t.Context(), g, path, false); err != nil {
				return fmt.Errorf("%s: %w: %s", line, err, b.String())
			}
			shown := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			all = append(all, exchange{line, shown})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// timeless returns the text without the times of statements.
func timeless(lines []string) string {
	return regexp.MustCompile(`\(\d+\.\d+ m?s\)`).ReplaceAllString(strings.Join(lines, "\n"), "(...)")
}

// TestReadme checks that the command lines and statements of the README, and the sessions of
// LANGUAGE.md, are valid.
func TestReadme(t *testing.T) {
	_, blocks := readPage(t, readmeFile)
	_, more := readPage(t, languageFile)
	blocks = append(blocks, more...)
	calls, statements := 0, 0
	for _, b := range blocks {
		joined := strings.ReplaceAll(strings.Join(b.lines, "\n"), "\\\n", " ")
		for line := range strings.Lines(joined) {
			for _, args := range toolCalls(strings.Trim(line, "()")) {
				calls++
				if err := parses(args); b.language == "sh" && err != nil {
					t.Errorf("%s: %s: %v", b.section, line, err)
				}
			}
		}
		typed := exchanges(b.lines)
		if b.language == "sql" {
			for f, err := range query.Split(strings.NewReader(strings.Join(b.lines, "\n"))) {
				if err != nil {
					t.Fatal(err)
				}
				typed = append(typed, exchange{typed: f.Text})
			}
		}
		for _, e := range typed {
			statements++
			if _, err := (query.Fragment{Text: e.typed}).Parse(); err != nil && !strings.HasPrefix(e.typed, ".") {
				t.Errorf("%s: %s: %v", b.section, e.typed, err)
			}
		}
	}
	if calls < 2 || statements < 8 {
		t.Errorf("only %d command lines and %d statements were found", calls, statements)
	}
}

// TestReadmeProgram runs the first program of the README.
func TestReadmeProgram(t *testing.T) {
	slow(t)
	lines, blocks := readPage(t, readmeFile)
	i := slices.IndexFunc(blocks, func(b block) bool { return b.language == "go" })
	dir := t.TempDir()
	program := filepath.Join(dir, "main.go")
	// The program runs in this directory, because it belongs to the module, so the database needs
	// an absolute path.
	text := strings.Replace(strings.Join(blocks[i].lines, "\n"), `"friends.kith"`, fmt.Sprintf("%q", filepath.Join(dir, "friends.kith")), 1)
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", program).CombinedOutput()
	line := lines[slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "It prints ") })]
	want := ""
	for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(line, -1) {
		want += m[1] + "\n"
	}
	if got := string(out); err != nil || got != want {
		t.Errorf("it prints %q, error %v; the README says %q", got, err, want)
	}
}

// TestReadmeHour follows the README's session literally, except that the download is a copy. With
// -update it rewrites the output of the shell.
func TestReadmeHour(t *testing.T) {
	slow(t)
	list, err := os.ReadFile(facebook)
	if err != nil {
		t.Skip("shared/data is absent")
	}
	h := newHour(t, list)
	lines, blocks := readPage(t, readmeFile)
	for i, b := range blocks {
		switch {
		case b.section != "The shell and the language":
		case b.language == "sh":
			h.bash(b.lines)
		default:
			blocks[i].lines = show(t, b, filepath.Join(h.dir, "g.kith"), everyLine)
		}
	}
	updatePage(t, readmeFile, lines, blocks)
}

// TestReadmeVotes runs the evaluation that LANGUAGE.md shows. With -update it rewrites the output
// of the shell.
func TestReadmeVotes(t *testing.T) {
	slow(t)
	list, err := os.Open(votes)
	if err != nil {
		t.Skip("shared/data is absent")
	}
	defer list.Close()
	path := filepath.Join(t.TempDir(), "votes.kith")
	err = with(path, &db.Options{Direction: db.Directed}, func(g *db.DB) error {
		_, err := g.Load(context.Background(), list, db.LoadOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lines, blocks := readPage(t, languageFile)
	for i, b := range blocks {
		if len(exchanges(b.lines)) > 0 {
			blocks[i].lines = show(t, b, path, regexp.MustCompile(`^[┌├└]|model  | (default|resource_allocation) .* mrr |^note: mrr`))
		}
	}
	updatePage(t, languageFile, lines, blocks)
}

// updatePage writes a page with changed blocks if -update is set.
func updatePage(t *testing.T, file string, lines []string, blocks []block) {
	if !*update {
		return
	}
	for _, b := range slices.Backward(blocks) {
		end := b.at + slices.Index(lines[b.at:], "```")
		lines = slices.Concat(lines[:b.at], b.lines, lines[end:])
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hour runs the commands of the README in a directory next to a checkout, with a home directory
// elsewhere.
type hour struct {
	t   *testing.T
	dir string
	env []string
}

func newHour(t *testing.T, list []byte) *hour {
	root := t.TempDir()
	h := &hour{t: t, dir: filepath.Join(root, "hour"), env: os.Environ()}
	for _, name := range []string{"hour", "home", "bin"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	checkout, err := filepath.Abs("../..")
	if err == nil {
		err = os.Symlink(checkout, filepath.Join(root, "kith"))
	}
	if err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(list); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h.write("../home/facebook_combined.txt.gz", packed.Bytes(), 0o600)
	h.write("../bin/curl", []byte("#!/bin/sh\nexec cp \"$HOME/facebook_combined.txt.gz\" .\n"), 0o700)
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		h.env = append(h.env, name+"="+strings.TrimSpace(string(value)))
	}
	bin := filepath.Join(root, "bin")
	h.env = append(h.env, "HOME="+filepath.Join(root, "home"), "GOBIN="+bin, "GOFLAGS=",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return h
}

func (h *hour) write(name string, b []byte, mode os.FileMode) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), b, mode); err != nil {
		h.t.Fatal(err)
	}
}

// bash runs lines of a shell and returns their output.
func (h *hour) bash(lines []string) string {
	h.t.Helper()
	cmd := exec.Command("bash", "-ec", strings.Join(lines, "\n"))
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%q: %v: %s", lines, err, out)
	}
	return string(out)
}

var everyLine = regexp.MustCompile("")

// show types the input of a block into a shell of a database, and compares the lines of the output
// that match a pattern with the block. It returns the correct block.
func show(t *testing.T, b block, path string, pattern *regexp.Regexp) (lines []string) {
	t.Helper()
	want := exchanges(b.lines)
	var typed []string
	for _, e := range want {
		typed = append(typed, e.typed)
	}
	for i, e := range answers(t, path, typed...) {
		lines = append(lines, shell.Prompt+e.typed)
		if want[i].shown == nil {
			continue
		}
		shown := slices.DeleteFunc(e.shown, func(line string) bool { return !pattern.MatchString(line) })
		lines = append(lines, shown...)
		if got := timeless(shown); !*update && got != timeless(want[i].shown) {
			t.Errorf("%s shows what follows (go test ./cmd/kith -run Readme -long -update writes it into the README)\n%s", e.typed, got)
		}
	}
	return lines
}
