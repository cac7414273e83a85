package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/query"
)

// Dot commands, their arguments and files are completed; package complete has the statements.
func TestCompleted(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b's", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct{ text, word, values string }{
		{"PREDICT ", "", "LINKS"},
		{"LOAD EDGES FROM '", "'", "'a.csv' 'b''s' 'sub/"},
		{"LOAD EDGES FROM './b''", "'./b''", "'./b''s'"},
		{"LOAD EDGES FROM '.h", "'.h", "'.hidden'"},
		{".help pred", "pred", "predict"},
		{".help EVALUATE H", "EVALUATE H", "EVALUATE HOLDOUT"},
		{".mo", ".mo", ".mode"},
		{".mode js", "js", "json jsonlines"},
		{".timer ", "", "on off"},
		{".read a", "a", "a.csv"},
		{".quit n", "n", ""},
	} {
		word, values := completed(c.text, query.Vocabulary{})
		if got := strings.Join(values, " "); word != c.word || got != c.values {
			t.Errorf("%q: got %q, %q, want %q, %q", c.text, word, got, c.word, c.values)
		}
	}
}
