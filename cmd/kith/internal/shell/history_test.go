package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistory checks that only the owner may read the history, even if the file existed before.
func TestHistory(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	env := func(string) string { return state }
	file := filepath.Join(state, "kith", "history")
	for i := range 2 {
		h, err := openHistory(env)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range []string{fmt.Sprint("CHECK;", i), fmt.Sprint("CHECK;", i), strings.Repeat("x", maxEntry+1)} {
			if _, err := h.Write(entry); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, mode %v", err, info.Mode())
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := openHistory(env)
	if err != nil || h.Len() != 2 {
		t.Fatalf("the history holds %v, error %v", h, err)
	}
	if _, err := openHistory(func(string) string { return filepath.Join(file, "no directory") }); err == nil {
		t.Error("no error")
	}
}

// TestHistoryIsBounded checks that the oldest entries are dropped when there are too many.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	env := func(string) string { return state }
	h, err := openHistory(env)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2*maxHistory + 5 {
		if _, err := h.Write(fmt.Sprintf("NEIGHBORS\nOF %d;", i)); err != nil {
			t.Fatal(err)
		}
	}
	h, err = openHistory(env)
	if err != nil || h.Len() > maxHistory || h.Len() < maxHistory-1 {
		t.Fatalf("%d entries, error %v", h.Len(), err)
	}
	if last, err := h.GetLine(h.Len() - 1); err != nil || last != fmt.Sprintf("NEIGHBORS\nOF %d;", 2*maxHistory+4) {
		t.Errorf("the last is %q, error %v", last, err)
	}
}
