package web_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// social returns a database of users who follow each other and like posts.
func social(t *testing.T) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, text := range []string{
		"CREATE RELATION likes WITH (directed = on, source_label = user, target_label = post)",
		"INSERT EDGES 'ann' -[follows]-> 'bob', 'bob' -[follows]-> 'cat', 'ann' -> 'dan', 'ann' -[likes]-> 'p1', 'bob' -[likes]-> 'p1', " +
			"'bob' -[likes]-> 'p2', 'cat' -[likes]-> 'p2', 'cat' -[likes]-> 'p3', 'ann' -[\"odd, & <name>\"]-> 'bob'",
	} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// Bad input about relations and properties is refused with the thing and its place, and changes
// nothing.
func TestBadRelationsAndProperties(t *testing.T) {
	t.Parallel()
	g := social(t)
	if _, err := query.Run(t.Context(), g, "UPDATE NODE 'p1' SET price = 1.5, tags = ('a'), seen = '2026-11-01'"); err != nil {
		t.Fatal(err)
	}
	before, err := g.Stats()
	if err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"t%d",`, i)
	}
	for _, c := range []struct {
		body, want string
		status     int // 0 means 422
	}{
		{`{"statement": "UPDATE NODE 'p1' SET tags = ?", "parameters": [[` + many.String() + `"x"]]}`, "1:22: property \\\"tags\\\": a list of 100001 strings; at most 1000 are accepted", 0},
		{`{"statement": "UPDATE NODE 'p1' SET price = ?", "parameters": ["x"]}`, "1:22: value of another type: property \\\"price\\\" is of type float, not string", 0},
		{`{"statement": "UPDATE NODE 'p1' SET fresh = ?", "parameters": ["2026-02-30"]}`, "1:22: property \\\"fresh\\\": \\\"2026-02-30\\\" is not a time", 0},
		{`{"statement": "UPDATE NODE ? SET price = 1", "parameters": ["nobody"]}`, "1:13: no node 'nobody'", 404},
		{`{"statement": "UPDATE NODE 'p1' SET score = 1"}`, "1:22: a property cannot have the name", 0},
		{`{"statement": "UPDATE NODE 'p1' SET price = ?", "parameters": [1e999]}`, "the number 1e999 is too large", 400},
		{`{"statement": "NODES WHERE prise < 2"}`, "did you mean price?", 0},
		{`{"statement": "PREDICT LINKS like FOR 'ann'"}`, "1:15: no relation \\\"like\\\"; did you mean likes?", 404},
		{`{"statement": "PREDICT LINKS FOR 'ann' WHERE price < 2 OR score > 0"}`, "1:31: a condition on the nodes and a condition on the answer are joined by AND", 0},
		{`{"statement": "NEIGHBORS OF 'ann' VIA folow"}`, "1:24: no relation \\\"folow\\\"", 404},
		{`{"statement": "CREATE RELATION likes WITH (directed = off)"}`, "1:17: relation \\\"likes\\\" exists already, directed", 409},
		{`{"statement": "RANK NODES FOR NEAR(?, 3)", "parameters": [[0, 0]]}`, "1:16: a vector without a number other than 0", 0},
		{`{"statement": "RANK NODES FOR NEAR(?, 3)", "parameters": [[1, 2]]}`, "1:16: no node has a vector of 2 numbers: there are no vectors", 0},
	} {
		if status, _, text := send(t, url, "Bearer "+token, c.body); status != cmp.Or(c.status, http.StatusUnprocessableEntity) || !strings.Contains(text, c.want) {
			t.Errorf("%.100s: %d %.300s, want %d %s", c.body, status, text, c.status, c.want)
		}
	}
	if after, err := g.Stats(); err != nil || after.Version != before.Version {
		t.Errorf("version %d after %d, %v", after.Version, before.Version, err)
	}
}

// A picture has the edges of the relations that are asked for, and names them.
func TestNeighborhoodOfRelations(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Handler(social(t)))
	for _, c := range []struct {
		path   string
		status int
		has    []string
		lacks  []string
	}{
		{"/neighborhood?node=ann", 200, []string{">likes<", ">follows<", ">edge without relation<", ">odd, &amp; &lt;name&gt;<"}, []string{">edge<"}},
		{"/neighborhood?node=ann&via=likes", 200, []string{">likes<"}, []string{">follows<"}},
		{"/neighborhood?node=ann&via=likes&via=follows&relation=likes", 200, []string{">likes<", ">follows<", "predicted link"}, []string{"without relation"}},
		{"/neighborhood?node=ann&via=like", 404, []string{"did_you_mean", "likes"}, nil},
		{"/neighborhood?node=ann&relation=like", 404, []string{"likes"}, nil},
		{"/why?source=ann&target=p2&relation=likes", 200, []string{"sentences"}, nil},
		{"/why?source=ann&target=p2&relation=like", 404, []string{"likes"}, nil},
	} {
		r, err := http.Get(url + c.path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != c.status {
			t.Errorf("%s: %s, %v\n%s", c.path, r.Status, err, b)
		}
		for _, text := range c.has {
			if !strings.Contains(string(b), text) {
				t.Errorf("%s has no %s:\n%s", c.path, text, b)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(string(b), text) {
				t.Errorf("%s has %s:\n%s", c.path, text, b)
			}
		}
	}
}

// The page predicts the links of a relation, and the legend of the picture switches the edges of
// each relation off and on, with the nodes that only they lead to.
func TestPageRelations(t *testing.T) {
	t.Parallel()
	p := open(t, social(t), 1200, 800, web.Options{})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelectorAll("#picture .legend input").length === 5 && document.querySelector("#picture[aria-busy=false] a.node")`)
	shown := func(selector string) string {
		return `[...document.querySelectorAll('#picture ` + selector + `')].filter((e) => getComputedStyle(e).display !== "none").length`
	}
	colors := `new Set([...document.querySelectorAll("#picture path.edge")].map((e) => e.getAttribute("stroke")).filter((c) => c)).size`
	if n := evaluate[int](p, colors); n != 4 {
		t.Errorf("4 relations have %d colors", n)
	}
	edges, nodes := evaluate[int](p, shown("path.edge")), evaluate[int](p, shown("a.node"))
	click := func(kind string) {
		t.Helper()
		p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#picture .legend input[value="` + kind + `"]').click()`))
	}
	click("-likes")
	if now := evaluate[int](p, shown(`path.edge[data-relation="likes"]`)); now != 0 || evaluate[int](p, shown("path.edge")) == 0 {
		t.Errorf("%d edges of likes are drawn without it", now)
	}
	click("predicted")
	if now := evaluate[int](p, shown("a.node")); now >= nodes {
		t.Errorf("without likes and predictions %d nodes of %d are drawn", now, nodes)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='bob'"`)) // what is off stays off
	p.until(`document.querySelector("#links h2 .key")?.textContent === "bob" && document.querySelector("#picture[aria-busy=false] .center")?.dataset.name === "bob"`)
	if now := evaluate[int](p, shown(`path.edge[data-relation="likes"]`)); now != 0 {
		t.Errorf("%d edges of likes are drawn around another node", now)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelector("#picture[aria-busy=false] .center")?.dataset.name === "ann"`)
	click("-likes")
	click("predicted")
	if now := evaluate[int](p, shown("path.edge")); now != edges || evaluate[int](p, shown("a.node")) != nodes {
		t.Errorf("%d edges of %d are back", now, edges)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`(() => { const choice = document.getElementById("node-relation"); choice.value = "likes"; choice.dispatchEvent(new Event("change")); })()`))
	p.until(`document.querySelector("#links h2")?.textContent === "Most likely likes links of ann"`)
	p.until(`[...document.querySelectorAll("#links .link-head a")].every((a) => a.textContent.startsWith("p"))`)
	p.click(".why-button")
	p.until(`document.querySelectorAll(".reasons li").length > 1`)
	p.screenshot("relations")
}
