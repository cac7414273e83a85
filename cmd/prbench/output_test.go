package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a", "results.json")
	for _, v := range []any{map[string]int{"n": 1}, []int{2}} {
		if err := writeResults(io.Discard, filepath.Dir(name), v, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil || string(b) != "[\n  2\n]\n" {
		t.Errorf("%q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	if err := writeResults(io.Discard, filepath.Dir(name), func() {}, "", nil); err == nil {
		t.Error("a function was written")
	}
	if err := writeFile(filepath.Join(name, "c"), nil); err == nil {
		t.Error("a file became a folder")
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := markdown([]string{"policy", "regret"}, [][]string{{"prb", "1"}, {"random", "2"}})
	if want := "| policy | regret |\n|---|---:|\n| prb | 1 |\n| random | 2 |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
