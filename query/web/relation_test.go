package web_test

import (
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

// The page predicts the links of a relation, and draws the edges of those that are not switched off.
func TestPageRelations(t *testing.T) {
	t.Parallel()
	p := open(t, social(t), 1200, 800, web.Options{})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelectorAll("#node-via input").length === 4 && document.querySelector("#picture[aria-busy=false] a.node")`)
	p.until(`document.getElementById("picture").textContent.includes("follows")`)
	p.do(chromedp.Evaluate[chromedp.Void](`for (const box of document.querySelectorAll("#node-via input")) if (box.value !== "likes") box.click()`))
	p.until(`document.querySelector("#picture[aria-busy=false] a.node") && !document.getElementById("picture").textContent.includes("follows")`)
	p.until(`document.getElementById("picture").textContent.includes("likes")`)
	likes := chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#node-via input")].find((box) => box.value === "likes").click()`)
	p.do(likes)
	p.until(`document.querySelector("#picture[aria-busy=false]")?.textContent.includes("No edges are drawn") && !document.querySelector("#picture a.node")`)
	p.do(likes)
	p.until(`document.querySelector("#picture[aria-busy=false] a.node") && document.getElementById("picture").textContent.includes("likes")`)
	p.do(chromedp.Evaluate[chromedp.Void](`(() => { const choice = document.getElementById("node-relation"); choice.value = "likes"; choice.dispatchEvent(new Event("change")); })()`))
	p.until(`document.querySelector("#links h2")?.textContent === "Most likely likes links of ann"`)
	p.until(`[...document.querySelectorAll("#links .link-head a")].every((a) => a.textContent.startsWith("p"))`)
	p.click(".why-button")
	p.until(`document.querySelectorAll(".reasons li").length > 1`)
	p.screenshot("relations")
}
