package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
)

// around returns a neighborhood of the nodes 0 to n-1 with edges between them and predicted links
// from node 0.
func around(n int, edges [][2]int, predicted ...int) *db.Neighborhood {
	h := &db.Neighborhood{Center: db.Int(0)}
	for i := range n {
		h.Nodes = append(h.Nodes, db.NeighborhoodNode{Key: db.Int(int64(i)), PageRank: 1 / float64(i+2), Depth: min(i, 1), Edges: 2})
	}
	for _, e := range edges {
		h.Edges = append(h.Edges, db.Edge{Src: db.Int(int64(e[0])), Dst: db.Int(int64(e[1])), Weight: 1})
	}
	for i, target := range predicted {
		h.Predicted = append(h.Predicted, db.Link{Target: db.Int(int64(target)), Rank: i + 1, Score: 1 / float64(i+1)})
	}
	return h
}

// star returns the edges from node 0 to n-1 others.
func star(n int) (edges [][2]int) {
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{0, i})
	}
	return edges
}

// groups returns the edges of node 0 to all others, which form dense groups of a size.
func groups(n, size int) [][2]int {
	edges := star(n)
	for i := 1; i < n; i++ {
		for j := i + 1; j < n && (j-1)/size == (i-1)/size; j++ {
			edges = append(edges, [2]int{i, j})
		}
	}
	return edges
}

// scattered returns edges drawn at random, which join all nodes.
func scattered(n, m int) (edges [][2]int) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{random.IntN(i), i})
	}
	for len(edges) < m {
		edges = append(edges, [2]int{random.IntN(n), random.IntN(n)})
	}
	return edges
}

// samples returns made neighborhoods by name.
func samples() map[string]*db.Neighborhood {
	directed := around(60, scattered(60, 150), 7, 9, 58)
	directed.Directed = true
	return map[string]*db.Neighborhood{
		"nothing":     {},
		"one node":    around(1, nil),
		"alone":       around(4, nil, 1, 2, 3),
		"no edges":    around(50, nil),
		"pair":        around(2, star(2)),
		"loops":       around(3, [][2]int{{0, 0}, {0, 1}, {1, 1}, {1, 0}}, 0, 2),
		"star":        around(120, star(120)),
		"chain":       around(30, scattered(30, 29)),
		"groups":      around(151, groups(151, 15), 3, 80),
		"random":      around(200, scattered(200, 600), 9, 17, 199),
		"directed":    directed,
		"complete":    around(40, groups(40, 40)),
		"many":        around(100, groups(100, 100)),
		"not in list": {Center: db.Str("x"), Edges: around(3, star(3)).Edges, Predicted: []db.Link{{Target: db.Str("y")}}},
	}
}

// wellFormed returns the elements of an XML document, or fails.
func wellFormed(t testing.TB, text string) (all []xml.StartElement) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			all = append(all, e.Copy())
		}
	}
}

// safeInline checks that elements are allowed in a page that accepts no styles and no scripts of
// its documents.
func safeInline(t testing.TB, elements []xml.StartElement) {
	t.Helper()
	known := []string{"svg", "title", "a", "g", "path", "circle", "text"}
	for _, e := range elements {
		if !slices.Contains(known, e.Name.Local) {
			t.Errorf("element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
				t.Errorf("attribute %s=%q of %s", a.Name.Local, a.Value, e.Name.Local)
			}
			if a.Name.Local == "class" && a.Value == "" {
				t.Errorf("%s has no class", e.Name.Local)
			}
		}
	}
}

// attribute returns an attribute of an element, or "".
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// drawn returns the SVG of a picture.
func drawn(t testing.TB, p *Picture) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inBox checks that all points of a picture are within it.
func inBox(p *Picture) error {
	for _, s := range p.Shapes {
		for _, at := range s.Points {
			if !(at.X >= s.Radius && at.X <= p.Width-s.Radius && at.Y >= s.Radius && at.Y <= p.Height-s.Radius) {
				return fmt.Errorf("%s %q at %v is outside of %v by %v", s.Class, s.Text, at, p.Width, p.Height)
			}
		}
	}
	return nil
}

// Escape replaces what xml.EscapeText replaces.
func TestEscape(t *testing.T) {
	t.Parallel()
	check := func(text string) {
		var want strings.Builder
		if err := xml.EscapeText(&want, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := escape(text); got != want.String() {
			t.Errorf("%q: got %q, want %q", text, got, want.String())
		}
	}
	for r := rune(0); r < 0x11000; r++ {
		check(string(r))
	}
	check("a\xff<\xc3&b\xed\xa0\x80\ufffd")
}
