package draw

import (
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"kith/db"
)

var update = flag.Bool("update", false, "rewrite the picture in testdata")

// Each picture is XML that a page may contain, has the same bytes each time, lies in its box, and
// shows every node once.
func TestNeighborhood(t *testing.T) {
	t.Parallel()
	for name, n := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkNeighborhood(t, name, n)
		})
	}
}

func checkNeighborhood(t *testing.T, name string, n *db.Neighborhood) {
	t.Helper()
	for _, o := range []Options{{}, {Width: 380, Height: 500, Seed: 4}, {Width: 1, Height: 1}} {
		picture := Neighborhood(n, o)
		svg := drawn(t, picture)
		elements := wellFormed(t, svg)
		safeInline(t, elements)
		keys := map[string]bool{}
		for _, e := range elements {
			if e.Name.Local == "a" {
				keys[attribute(e, "data-key")] = true
			}
		}
		if len(keys) != len(n.Nodes) {
			t.Errorf("%s: %d nodes are drawn, want %d", name, len(keys), len(n.Nodes))
		}
		if err := inBox(picture); err != nil {
			t.Errorf("%s, options %+v: %v", name, o, err)
		}
		if again := drawn(t, Neighborhood(n, o)); again != svg {
			t.Errorf("%s: the same picture has other bytes", name)
		}
	}
}

// No circles overlap, and no label covers a circle or a label.
func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	for name, n := range samples() {
		s := newSketch(n, Options{})
		for i := range s.at {
			for j := range i {
				if d := math.Hypot(s.at[i].X-s.at[j].X, s.at[i].Y-s.at[j].Y); d < s.radius[i]+s.radius[j] {
					t.Errorf("%s: circles %d and %d overlap by %.1f", name, i, j, s.radius[i]+s.radius[j]-d)
				}
			}
		}
		labels := 0
		for _, shape := range s.draw().Shapes {
			if shape.Class == "label" {
				labels++
			}
		}
		if labels < min(len(n.Nodes), 20) {
			t.Errorf("%s: %d labels for %d nodes", name, labels, len(n.Nodes))
		}
	}
}

// Numbers that are no numbers do no harm.
func TestNeighborhoodOfBadNumbers(t *testing.T) {
	t.Parallel()
	n := around(6, star(6), 4, 5)
	for i, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.MaxFloat64} {
		n.Nodes[i].PageRank = x
	}
	n.Predicted[0].Score, n.Predicted[1].Score = math.NaN(), math.Inf(1)
	svg := drawn(t, Neighborhood(n, Options{}))
	if err := inBox(newSketch(n, Options{}).draw()); err != nil {
		t.Error(err)
	}
	for _, e := range wellFormed(t, svg) {
		for _, a := range e.Attr {
			if a.Name.Local != "aria-label" && (strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf")) {
				t.Errorf("%s=%q", a.Name.Local, a.Value)
			}
		}
	}
}

// TestNeighborhoodGolden compares a small picture with the one in testdata.
func TestNeighborhoodGolden(t *testing.T) {
	t.Parallel()
	n := &db.Neighborhood{
		Center: db.Str("ann"), Directed: true,
		Nodes: []db.NeighborhoodNode{
			{Key: db.Str("ann"), Label: "person", PageRank: 0.3, Edges: 2}, {Key: db.Str("bob"), Label: "person", PageRank: 0.2, Depth: 1, Edges: 1},
			{Key: db.Int(7), Label: "item", PageRank: 0.1, Depth: 1}, {Key: db.Str("dan & co"), Label: "item", PageRank: 0.05, Depth: 2},
		},
		Edges: []db.Edge{
			{Src: db.Str("ann"), Dst: db.Str("bob"), Weight: 1}, {Src: db.Str("ann"), Dst: db.Int(7), Weight: 1}, {Src: db.Str("bob"), Dst: db.Str("dan & co"), Weight: 2},
		},
		Predicted: []db.Link{{Target: db.Str("dan & co"), Rank: 1, Score: 0.7}},
	}
	golden(t, "testdata/neighborhood.svg", Neighborhood(n, Options{Width: 400, Height: 240, Standalone: true}))
}

// A bare picture leaves labels and legend to the page, and says what they need.
func TestBareNeighborhood(t *testing.T) {
	t.Parallel()
	n := around(3, star(3), 1)
	n.Nodes[1].Label, n.Nodes[2].Label = "a", `"b"`
	n.Relations = []db.Relation{{Name: "few"}, {Name: "<many>"}}
	n.Edges = []db.Edge{
		{Src: n.Nodes[0].Key, Dst: n.Nodes[1].Key, Relation: "few"},
		{Src: n.Nodes[0].Key, Dst: n.Nodes[1].Key, Relation: "<many>"}, {Src: n.Nodes[0].Key, Dst: n.Nodes[2].Key, Relation: "<many>"},
	}
	fades := n.Nodes[2].Key
	svg := drawn(t, Neighborhood(n, Options{Bare: true, Fades: func(k db.Key) bool { return k == fades }}))
	safeInline(t, wellFormed(t, svg))
	for _, has := range []string{
		`data-ends="0 1" data-relation="few"`, `data-ends="0 2" data-relation="&lt;many&gt;"`, `class="predicted" data-ends="0 `,
		`data-number="1" data-label="a"`, `data-label="&#34;b&#34;"`, `class="node faint" `,
	} {
		if !strings.Contains(svg, has) {
			t.Errorf("no %s in\n%s", has, svg)
		}
	}
	for _, lacks := range []string{"<text", "legend"} {
		if strings.Contains(svg, lacks) {
			t.Errorf("%s in\n%s", lacks, svg)
		}
	}
	if few, many := strings.Count(svg, colors[relationColor(1)]), strings.Count(svg, colors[relationColor(0)]); few != 1 || many != 2 {
		t.Errorf("%d edges of few and %d of many have their color", few, many)
	}
}

// golden compares a picture with a file, which the flag -update rewrites.
func golden(t *testing.T, file string, p *Picture) {
	t.Helper()
	got := drawn(t, p)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes:\n%s", file, got)
	}
}

// Any key gives XML from which the key can be read again, and a short label.
func FuzzKey(f *testing.F) {
	for _, s := range []string{
		"ann", `"><script>alert(1)</script>`, "]]>", "a\x01b\x1f\x7f", "\u202eevil", "\ufffe\uffff", "نص عربي", strings.Repeat("長い", 200), "a\r\n\tb", "&#0;", "\U0010fffe",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := db.Str(s)
		if k.Valid() != nil {
			t.Skip()
		}
		n := around(3, star(3), 1)
		n.Nodes[1].Key, n.Nodes[1].Label, n.Edges[0].Dst, n.Predicted[0].Target = k, s, k, k
		for _, o := range []Options{{}, {Standalone: true}} {
			elements := wellFormed(t, drawn(t, Neighborhood(n, o)))
			found := false
			for _, e := range elements {
				var got db.Key
				if e.Name.Local == "a" && json.Unmarshal([]byte(attribute(e, "data-key")), &got) == nil && got == k {
					found = true
				}
			}
			if !found {
				t.Fatalf("key %q is not drawn", s)
			}
		}
		if label := short(s, labelRunes); utf8.RuneCountInString(label) > labelRunes {
			t.Fatalf("label %q", label)
		}
	})
}

// BenchmarkNeighborhood lays out and draws 200 nodes with 600 edges.
func BenchmarkNeighborhood(b *testing.B) {
	n := samples()["random"]
	b.ReportAllocs()
	for b.Loop() {
		if err := Neighborhood(n, Options{}).Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
