package clitest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// WriteList writes the edge list of a random graph and returns its file name.
func WriteList(t *testing.T, name string, nodes, edges int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range edges {
		fmt.Fprintf(&text, "%d\t%d\n", r.IntN(nodes), r.IntN(nodes))
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
