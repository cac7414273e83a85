package web_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// hostile are keys that would break a page that takes text for markup.
func hostile() []string {
	return []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</svg><b>bold</b>`, `o'neill & "co"`, "line\nbreak", "\u202eright to left", strings.Repeat("long", 100)}
}

// circle returns a graph with hostile keys around ann, and a trained model.
func circle(t *testing.T) *db.DB {
	t.Helper()
	g := communities(t)
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i, key := range append(hostile(), "bob") {
			if err := tx.PutEdge("ann", key); err != nil {
				return err
			}
			if err := tx.PutEdge(key, i); err != nil {
				return err
			}
			if err := tx.PutEdge(key, "dan"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := query.Run(t.Context(), g, "CREATE MODEL friends USING adamic_adar"); err != nil {
		t.Fatal(err)
	}
	return g
}

// enter types a statement into the box in place of its text.
func (p *tab) enter(statement string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("statement").value = ""`), chromedp.Focus(chromedp.CSS("#statement")))
	call(p, input.InsertText, input.InsertTextParams{Text: statement})
}

func TestPageStatement(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.until(`document.querySelectorAll(".example").length > 0`)
	t.Logf("first contentful paint after %.0f ms", evaluate[float64](p, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`))
	p.screenshot("ask")
	p.enter("PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2) TOP 3")
	p.keys(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl))
	p.until(`document.querySelectorAll("tbody tr").length === 3`)
	if got := p.text("tbody tr td:nth-child(2)"); got != "dan" {
		t.Errorf("the first target is %q", got)
	}
	if status := p.text(".status"); !strings.HasPrefix(status, "3 rows in ") {
		t.Errorf("status %q", status)
	}
	p.until(`document.querySelector(".note")?.textContent.includes("answered by")`)
	p.screenshot("answer")

	p.enter("PREDICT LINKS FOR 1\nAMONG NEIGHBOR(2)")
	p.click("#run")
	p.until(`document.querySelector(".problem .caret")`)
	if caret := p.text(".problem .caret"); caret != "AMONG NEIGHBOR(2)\n      ^" {
		t.Errorf("caret:\n%s", caret)
	}
	if at := evaluate[int](p, `document.getElementById("statement").selectionStart`); at != len("PREDICT LINKS FOR 1\nAMONG ") {
		t.Errorf("the cursor is at %d", at)
	}
	p.screenshot("fault")

	p.enter("DELETE NODE 'ann'")
	p.click("#run")
	p.until(`document.querySelector(".problem")?.textContent.includes("refused")`)

	p.click("#history-button")
	if n := evaluate[int](p, `document.querySelectorAll("#history button").length`); n != 3 {
		t.Errorf("the history has %d statements", n)
	}
}

// A click on a node of the drawing moves on, the browser goes back, and Why explains a link.
func TestPageNode(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelectorAll("#picture a.node").length > 8 && document.querySelectorAll(".link").length === 10`)
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#picture a.target").focus()`))
	p.keys(kb.Enter)
	p.until(`location.hash !== "#node='ann'" && document.querySelector("#links h2 .key")?.textContent !== "ann"`)
	p.do(chromedp.NavigateBack())
	p.until(`document.querySelector("#links h2 .key")?.textContent === "ann" && document.querySelector("#picture[aria-busy=false] a.node")`)
	p.click(".why-button")
	p.until(`document.querySelectorAll(".reasons li").length > 3`)
	if why := p.text(".reasons"); !strings.Contains(why, "dan shares 8 neighbours with ann, among them ") || !strings.Contains(why, "dan is number 1 of ") {
		t.Errorf("reasons:\n%s", why)
	}
	p.screenshot("node")

	if color := evaluate[string](p, `getComputedStyle(document.querySelector("#picture a.center")).color`); color != evaluate[string](p, `getComputedStyle(document.getElementById("picture")).color`) {
		t.Errorf("circles have outlines of another color than the legend: %s", color)
	}

	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='nobody'"`))
	p.until(`document.querySelector("#links .problem")?.textContent.includes("no node 'nobody'") && document.getElementById("picture").textContent === ""`)
	p.do(chromedp.NavigateBack())
	p.until(`document.querySelector("#links h2 .key")?.textContent === "ann" && document.querySelector("#picture[aria-busy=false] a.node")`)

	p.do(chromedp.Focus(chromedp.CSS("#node-key")), chromedp.Evaluate[chromedp.Void](`document.getElementById("node-key").value = ""`))
	p.keys("bo")
	p.until(`document.querySelector("#node-options li")?.textContent === "'bob'"`)
	p.keys("\t")
	p.until(`document.querySelector("#links h2 .key")?.textContent === "bob"`)
}

// The section of a node shows its properties, and ranks the targets that satisfy a condition.
func TestPageProperties(t *testing.T) {
	t.Parallel()
	g := circle(t)
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		return errors.Join(
			tx.SetProperties("ann", map[string]any{"tags": []string{"<b>", "red"}, "price": 1.5}), tx.SetProperties("dan", map[string]any{"price": 3}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, g, 1200, 800, web.Options{})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelectorAll(".properties dd").length === 2 && document.querySelectorAll(".link").length === 10`)
	if got := p.text(".properties"); got != "price\n1.5\ntags\n('<b>', 'red')" {
		t.Errorf("properties: %q", got)
	}
	p.click("#filter-summary")
	p.do(chromedp.Focus(chromedp.CSS("#node-where")))
	p.keys("price > 2")
	p.keys(kb.Enter)
	p.until(`document.querySelectorAll(".link").length === 1 && document.querySelector(".link").textContent.includes("dan")`)
	p.screenshot("properties")
}

// models shows the section of models, and waits for its charts.
func (p *tab) models() {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("models-content").replaceChildren(); location.hash = "models"`))
	p.until(`document.querySelector("#models-content tr.deployed") && document.querySelectorAll("#models-content .chart[aria-busy=false]").length === 2`)
}

// The section of models shows versions, charts of what a model learned from, and evaluations.
func TestPageModels(t *testing.T) {
	t.Parallel()
	g := circle(t)
	for i := range 20 {
		if err := g.Observe(t.Context(), db.ObserveOptions{Source: i, Target: i + 50, Reward: float64(i % 2), Model: "friends"}); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, g, 1200, 900, web.Options{})
	p.models()
	if n := evaluate[int](p, `document.querySelectorAll("#models-content .chart svg").length`); n != 1 { // there are no decisions
		t.Errorf("%d charts", n)
	}
	p.click("#models-content .bar button")
	p.until(`document.querySelector("#models-content .bar + div tbody tr td")?.textContent === "friends"`)
	p.screenshot("models")
}

// Statements that write need the token, which the page sends once it has been entered.
func TestPageToken(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("t", 32)
	p := open(t, circle(t), 1200, 800, web.Options{Token: token})
	p.enter("INSERT EDGES 'new' -> 'ann'")
	p.click("#run")
	p.until(`document.querySelector(".problem")?.textContent.includes("token")`)
	p.do(chromedp.Focus(chromedp.CSS("#token")))
	call(p, input.InsertText, input.InsertTextParams{Text: token})
	p.click("#run")
	p.until(`document.querySelector("tbody tr")`)
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "database"`))
	p.until(`document.getElementById("live-text").textContent === "111 nodes, 325 edges"`) // by a server-sent event
}

// A large answer does not fill the page at once.
func TestPageManyRows(t *testing.T) {
	t.Parallel()
	g := communities(t)
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i := range 5000 {
			if err := tx.PutNode(db.Node{Key: db.Int(int64(i))}); err != nil {
				return err
			}
		}
		return tx.PutNode(db.Node{Key: db.Int(1<<62 + 1)})
	})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, g, 1200, 800, web.Options{})
	p.enter("NODES TOP 6000")
	p.click("#run")
	p.until(`document.querySelector(".status")?.textContent.startsWith("5,001 rows")`)
	if n := evaluate[int](p, `document.querySelectorAll("tbody tr").length`); n != 200 {
		t.Errorf("%d rows in the page", n)
	}
	p.click(".table > button")
	p.until(`document.querySelectorAll("tbody tr").length === 400`)
	p.enter("DESCRIBE NODE 4611686018427387905") // more digits than a number of JavaScript has
	p.click("#run")
	p.until(`document.querySelector("tbody a.key")?.textContent === "4611686018427387905"`)
}

// The stop button ends a statement, also in the server: the only slot is free again.
func TestPageStop(t *testing.T) {
	t.Parallel()
	p := open(t, communities(t), 1200, 800, web.Options{MaxRunning: 1})
	p.enter(endless)
	p.click("#run")
	p.until(`document.querySelector(".status")?.textContent.startsWith("Running, ")`)
	p.click("#stop")
	p.until(`document.querySelector(".status").textContent === "Stopped"`)
	p.enter("CHECK")
	p.click("#run")
	p.until(`document.querySelector(".status")?.textContent.startsWith("1 row ")`)
}

// The stop button of an evaluation ends it, and the next one can be started. The evaluation waits
// for the only slot.
func TestPageStopEvaluation(t *testing.T) {
	t.Parallel()
	g := circle(t)
	h, load := web.Observed(web.Options{MaxRunning: 1, Timeout: time.Hour}, g)
	p := openHandler(t, h, 1200, 900)
	p.models()
	c, err := web.Dial(p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	end := occupy(t, c, load)
	const stop = "#models-content .bar button:last-of-type"
	p.click("#models-content .bar button")
	await(load, func(l web.Load) bool { return l.Waiting == 1 })
	p.until(`!document.querySelector("` + stop + `").disabled`)
	p.click(stop)
	p.until(`document.querySelector("#models-content .bar + div").textContent === "Stopped" && document.querySelector("` + stop + `").disabled`)
	await(load, func(l web.Load) bool { return l.Waiting == 0 })
	p.click("#models-content .bar button")
	await(load, func(l web.Load) bool { return l.Waiting == 1 })
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "database"`)) // ends it too, because its answer would have no place
	await(load, func(l web.Load) bool { return l.Waiting == 0 })
	_ = end() // cancelled
	p.models()
	p.click("#models-content .bar button")
	p.until(`document.querySelector("#models-content .bar + div tbody tr td")?.textContent === "friends"`)
	p.until(`document.querySelector("` + stop + `").disabled`)
}

// The first Tab leads to a link that skips the bar at the top, and becomes visible.
func TestPageSkip(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	top := `document.querySelector(".skip").getBoundingClientRect().top`
	if evaluate[float64](p, top) >= 0 {
		t.Error("the link is visible without focus")
	}
	p.keys("\t")
	if name := evaluate[string](p, `document.activeElement.className`); name != "skip" {
		t.Errorf("the first Tab leads to %q", name)
	}
	if evaluate[float64](p, top) < 0 {
		t.Error("the link is not visible")
	}
	p.keys(kb.Enter)
	p.until(`document.activeElement.id === "main"`)
	p.keys("\t")
	if is := evaluate[bool](p, `document.getElementById("main").contains(document.activeElement)`); !is {
		t.Errorf("the next Tab leads to %q", evaluate[string](p, `document.activeElement.outerHTML`))
	}
	if hash := evaluate[string](p, `location.hash`); hash != "#ask" {
		t.Errorf("the address has %q", hash)
	}
}

// If the reader wants less motion, nothing moves.
func TestPageReducedMotion(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	moving := `[...document.querySelectorAll("*")].filter((e) => {
		const s = getComputedStyle(e);
		return s.transitionDuration.split(", ").some((d) => parseFloat(d) > 0) || s.animationName !== "none";
	}).length`
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.querySelector("#picture[aria-busy=false] a.node")`)
	if evaluate[int](p, moving) == 0 {
		t.Error("nothing moves, so that the test tests nothing")
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if n := evaluate[int](p, moving); n != 0 {
		t.Errorf("%d elements move", n)
	}
}

// A server that needs the token for reading is asked nothing before it has been entered.
func TestPageTokenForReads(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("t", 32)
	p := open(t, circle(t), 400, 800, web.Options{Token: token, TokenForReads: true})
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "node='ann'"`))
	p.until(`document.activeElement.id === "token" && document.getElementById("live-text").textContent === "waiting for the token"`)
	p.screenshot("locked")
	p.enter("SHOW STATS")
	p.click("#run")
	p.until(`document.querySelector(".problem")?.textContent.includes("Enter the token")`)
	p.do(chromedp.Focus(chromedp.CSS("#token")))
	call(p, input.InsertText, input.InsertTextParams{Text: token})
	p.keys(kb.Enter)
	p.until(`document.getElementById("live-text").textContent.includes("nodes") && document.querySelectorAll("#picture a.node").length > 8`)
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "ask"`))
	p.until(`document.querySelectorAll(".example").length > 0`)
}

// Everything can be done with the keyboard. The test runs alone, because a window that gets the
// focus meanwhile would close the list of completions.
func TestPageKeyboard(t *testing.T) {
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.until(`document.querySelectorAll(".example").length > 0`) // the page listens to keys
	p.do(chromedp.Focus(chromedp.CSS("#statement")))
	p.keys("LOA")
	p.until(`!document.getElementById("completions").hidden`)
	p.keys("\t")
	p.until(`document.getElementById("statement").value === "LOAD "`)
	p.until(`document.querySelectorAll("#completions li").length === 3`)
	p.screenshot("completion")
	p.keys(kb.ArrowDown)
	if id := evaluate[string](p, `document.getElementById("statement").getAttribute("aria-activedescendant")`); id != "completions-0" {
		t.Errorf("the marked completion is %q", id)
	}
	p.keys(kb.Enter)
	p.until(`document.getElementById("statement").value.trim() === "LOAD EDGES"`) // the browser's protocol types the Enter too
	p.keys(" ", chromedp.KeyModifiers(kb.ModifierCtrl))
	p.until(`!document.getElementById("completions").hidden`)
	p.keys(kb.Escape)
	p.until(`document.getElementById("completions").hidden`)
	p.keys("\t") // leaves the box
	if id := evaluate[string](p, `document.activeElement.id`); id != "run" {
		t.Errorf("Tab leads to %q", id)
	}
	outline := evaluate[string](p, `getComputedStyle(document.activeElement).outlineStyle`)
	if outline != "solid" {
		t.Errorf("the focus is not visible: outline %s", outline)
	}
}

// On a small screen nothing is cut off, in any section.
func TestPageNarrow(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 400, 800, web.Options{Token: token})
	p.enter("PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2)")
	p.click("#saved-button")
	p.insert("#save-name", "a statement with a long name")
	p.keys(kb.Enter)
	p.click("#run")
	p.until(`document.querySelector("tbody tr")`)
	p.script(`document.getElementById("filter").open = true`)
	for _, section := range []string{"ask", "node='ann'", "models", "database"} {
		p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "` + section + `"`))
		name, _, _ := strings.Cut(section, "=")
		p.until(`!document.getElementById("section-` + name + `").hidden && !document.querySelector("#section-` + name + ` [aria-busy=true]")`)
		if top := evaluate[float64](p, `scrollY`); top != 0 {
			t.Errorf("%s begins at %v", section, top)
		}
		if width := evaluate[int](p, `document.documentElement.scrollWidth`); width > 400 {
			t.Errorf("%s is %d pixels wide", section, width)
		}
		p.screenshot("narrow-" + name)
	}
	p.models()
	p.click(".evaluation .bar button")
	p.until(`document.querySelector(".evaluation tbody tr")`)
	if highest := evaluate[int](p, `Math.max(...[...document.querySelectorAll("#models-content td")].map((td) => td.offsetHeight))`); highest > 120 {
		t.Errorf("a column is so narrow that a cell is %d pixels high", highest)
	}
	p.screenshot("narrow-evaluation")
}

func TestPageDark(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	light := evaluate[string](p, `getComputedStyle(document.body).backgroundColor`)
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	if dark := evaluate[string](p, `getComputedStyle(document.body).backgroundColor`); dark == light {
		t.Errorf("dark and light are both %s", dark)
	}
	for _, section := range []string{"node='ann'", "database"} {
		p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "` + section + `"`))
		name, _, _ := strings.Cut(section, "=")
		p.until(`!document.getElementById("section-` + name + `").hidden && !document.querySelector("#section-` + name + ` [aria-busy=true]")`)
		p.screenshot("dark-" + name)
	}
}

// Hostile keys are text, wherever they are shown.
func TestPageHostileKeys(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.enter("NEIGHBORS OF 'ann'")
	p.click("#run")
	p.until(`document.querySelectorAll("tbody tr").length === 8`)
	for i, key := range hostile() {
		found := evaluate[bool](p, `[...document.querySelectorAll("tbody a.key")].some((a) => a.textContent === `+quoted(key)+`)`)
		if !found {
			t.Errorf("key %d is not shown: %q", i, key)
		}
		p.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("tbody a.key")].find((a) => a.textContent === ` + quoted(key) + `).click()`))
		p.until(`document.querySelector("#links h2 .key")?.textContent === ` + quoted(key))
		p.until(`document.getElementById("picture").getAttribute("aria-busy") === "false"`)
		if n := evaluate[int](p, `document.querySelectorAll("main script, main img, main b, #section-node .problem").length`); n != 0 {
			t.Errorf("%q became %d elements", key, n)
		}
	}
}

// The database without nodes and models says what to do.
func TestPageEmpty(t *testing.T) {
	t.Parallel()
	p := open(t, dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20}), 1200, 800, web.Options{})
	for section, want := range map[string]string{"node": "no nodes", "models": "no model yet"} {
		p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "` + section + `"`))
		p.until(`document.querySelector("#section-` + section + ` .empty-title")?.textContent.includes("` + want + `")`)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "toString"`)) // no section, though every object has it
	p.until(`!document.getElementById("section-node").hidden`)
}

// quoted returns a text as an expression of JavaScript.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string has JSON
	return string(b)
}
