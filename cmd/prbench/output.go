package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kith/cmd/internal/cli"
)

// writeFile writes a file completely or not at all, and creates its folder.
func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	err := cli.WriteFile(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return os.Chmod(name, 0o644)
}

// writeJSON writes a value as indented JSON.
func writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeFile(name, append(b, '\n'))
}

// writeResults writes the figures as results.json and their table as table.md.
func writeResults(out string, figures any, table string) error {
	if err := writeJSON(filepath.Join(out, "results.json"), figures); err != nil {
		return err
	}
	return writeFile(filepath.Join(out, "table.md"), []byte(table))
}

// markdown returns a Markdown table whose first column is aligned to the left and the others to the right.
func markdown(heading []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(heading)
	b.WriteString("|---|" + strings.Repeat("---:|", len(heading)-1) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}
