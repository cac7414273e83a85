package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/kith/internal/shell"
)

const (
	pictureFile = "shell.svg"
	maxPicture  = 30 << 10
)

// TestPicture checks that the picture of a session shows the output of the shell. With -update it
// draws the picture again.
func TestPicture(t *testing.T) {
	slow(t)
	if _, err := os.Stat(facebook); err != nil {
		t.Skip("shared/data is absent")
	}
	path := filepath.Join(t.TempDir(), "g.kith")
	answers(t, path, "LOAD EDGES FROM '"+facebook+"'; CREATE MODEL friends; TRAIN MODEL friends;")
	got := picture(answers(t, path,
		"PREDICT LINKS FOR 9 AMONG NEIGHBORS(2) TOP 5;",
		"WHY 9 -> 239 AMONG NEIGHBORS(2);",
	))
	if len(got) > maxPicture {
		t.Errorf("the picture has %d bytes", len(got))
	}
	if *update {
		if err := os.WriteFile(pictureFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(pictureFile)
	if err != nil || timeless([]string{got}) != timeless([]string{string(want)}) {
		t.Errorf("%s is not what the shell shows (go test ./cmd/kith -run Picture -update draws it anew), error %v", pictureFile, err)
	}
}

const (
	lineHeight = 17  // in pixels
	charWidth  = 7.8 // in pixels, for a font of 13 pixels
	margin     = 12
)

// picture draws the typed text, in its colours, and the output as SVG.
func picture(session []exchange) string {
	var lines []string
	for _, e := range session {
		lines = append(append(lines, shell.Prompt+shell.Highlight(e.typed)), e.shown...)
	}
	var text strings.Builder
	width := 0
	for i, line := range lines {
		spans, n := coloured(line)
		width = max(width, n)
		fmt.Fprintf(&text, "<text x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+13+lineHeight*i, spans)
	}
	w, h := 2*margin+int(charWidth*float64(width)), 2*margin+lineHeight*len(lines)
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\" "+
		"font-family=\"ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"13\" fill=\"#d0d0d0\" xml:space=\"preserve\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#1e1e1e\"/>\n%s</svg>\n", w, h, text.String())
}

// coloured returns a line with its colours in SVG, and the number of characters that it shows.
func coloured(line string) (spans string, width int) {
	colours := map[string]string{"36": "#56b6c2", "33": "#e5c07b", "35": "#c678dd", "32": "#98c379", "90": "#808080"} // of the codes of a terminal
	for i, part := range strings.Split(line, "\x1b[") {
		colour := ""
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			colour, part = colours[code], rest
		}
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(part)) // a Builder never fails
		width += len([]rune(part))
		if colour == "" {
			spans += b.String()
			continue
		}
		spans += fmt.Sprintf("<tspan fill=\"%s\">%s</tspan>", colour, b.String())
	}
	return spans, width
}
