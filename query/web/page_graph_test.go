package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// must runs statements.
func must(t *testing.T, g *db.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// script runs JavaScript in the page.
func (p *tab) script(code string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](code))
}

// shows waits until the picture and the links of a node are shown.
func (p *tab) shows(node string) {
	p.Helper()
	p.until(`document.querySelector("#links h2 .key")?.textContent === ` + quoted(node) + ` && document.querySelector("#picture[aria-busy=false] .center")?.dataset.name === ` + quoted(node))
}

// insert types a text into a field that is empty.
func (p *tab) insert(selector, text string) {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS(selector)))
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// The page opens on a node with its picture, predictions and reasons, always the same one. Another
// node is a click away.
func TestPageOpensOnTheGraph(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	opening := ""
	for range 2 {
		p.do(chromedp.Navigate(p.url + "/"))
		p.until(`document.querySelector("#picture[aria-busy=false] .center") && document.querySelectorAll(".link").length > 0`)
		now := p.text("#links h2 .key")
		if opening == "" {
			opening = now
		}
		if now != opening {
			t.Errorf("the page opens on %q, then on %q", opening, now)
		}
	}
	if because := p.text(".link .because"); because == "" {
		t.Error("a link has no reason")
	}
	p.script(`location.hash = "models"`)
	p.until(`!document.getElementById("section-models").hidden`)
	p.script(`location.hash = "node"`) // shows the node again
	p.until(`location.hash.startsWith("#node=") && !document.getElementById("section-node").hidden`)
	p.shows(opening)
	p.click("#random")
	p.until(`document.querySelector("#links h2 .key").textContent !== ` + quoted(opening) + ` && document.querySelector("#picture[aria-busy=false] .center")`)
	p.do(chromedp.NavigateBack())
	p.shows(opening)
}

// An empty graph says how it gets edges, and where the statement may be run.
func TestPageStart(t *testing.T) {
	t.Parallel()
	p := open(t, dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20}), 1200, 800, web.Options{Token: token})
	p.script(`location.hash = ""`)
	p.until(`document.querySelector("#picture .empty-title")?.textContent === "The graph has no nodes."`)
	p.screenshot("empty")
	p.click("#picture button")
	p.until(`!document.getElementById("section-ask").hidden && document.getElementById("statement").value.startsWith("INSERT EDGES")`)
	p.insert("#token", token)
	p.click("#run")
	p.until(`document.querySelector("tbody tr")`)
	p.script(`location.hash = "node"`)
	p.until(`document.querySelector("#picture[aria-busy=false] .center")`)
}

// overlaps is the list of the pairs of labels of the picture that overlap on the screen.
const overlaps = `(() => {
	const boxes = [...document.querySelectorAll("#picture .name")].map((e) => [e.textContent, e.getBoundingClientRect()]);
	const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
	return boxes.flatMap(([name, a], i) => boxes.slice(i + 1).filter(([, b]) => meets(a, b)).map(([other]) => name + " and " + other));
})()`

// Labels do not overlap, at any magnification, and the most important nodes have the largest ones.
// Keys, the wheel, the mouse and fingers move the picture.
func TestPagePictureMoves(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i := range 150 {
			for _, to := range []int{0, i * 7 % 150, i * i % 150, (i + 1) % 150} {
				if i != to {
					if err := tx.PutEdge(fmt.Sprintf("a node with a long name %d", i), fmt.Sprintf("a node with a long name %d", to)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, g, 1200, 900, web.Options{})
	p.script(`location.hash = "node='a node with a long name 0'"`)
	p.until(`document.querySelectorAll("#picture[aria-busy=false] .name").length > 5`)
	view := func() (v []float64) {
		t.Helper()
		p.script(`window.painted = false; requestAnimationFrame(() => requestAnimationFrame(() => (window.painted = true)))`)
		p.until(`window.painted`)
		v = evaluate[[]float64](p, `document.querySelector("#picture svg.picture").getAttribute("viewBox").split(" ").map(Number)`)
		if pairs := evaluate[[]string](p, overlaps); len(pairs) > 0 {
			t.Errorf("labels overlap: %v", pairs)
		}
		return v
	}
	whole := view()
	if size := evaluate[float64](p, `Number(document.querySelector("#picture .name").getAttribute("font-size"))`); size < evaluate[float64](p, `Math.max(...[...document.querySelectorAll("#picture .name")].map((e) => Number(e.getAttribute("font-size"))))`) {
		t.Errorf("the first label has size %v", size)
	}
	labels := evaluate[int](p, `document.querySelectorAll("#picture .name").length`)
	p.do(chromedp.Focus(chromedp.CSS("#picture a.center")))
	p.keys("+")
	p.keys("+")
	near := view()
	if near[2] >= whole[2]/2 {
		t.Errorf("the view is %v after two +, and was %v", near, whole)
	}
	p.keys("-")
	if v := view(); v[2] <= near[2] {
		t.Errorf("the view is %v after -, and was %v", v, near)
	}
	p.keys(kb.ArrowLeft)
	if v := view(); v[0] >= near[0] && near[0] > 0 {
		t.Errorf("the view is %v after the left arrow, and was %v", v, near)
	}
	p.keys("0")
	if v := view(); v[2] != whole[2] {
		t.Errorf("the view is %v after 0", v)
	}

	at := evaluate[[]float64](p, `(({x, y, width, height}) => [x + width / 3, y + height / 3])(document.querySelector("#picture svg.picture").getBoundingClientRect())`)
	mouse := func(kind input.DispatchMouseEventType, dx, dy float64) {
		t.Helper()
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: at[0] + dx, Y: at[1] + dy, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1,
		})
	}
	p.script(fmt.Sprintf(`document.elementFromPoint(%[1]v, %[2]v).dispatchEvent(new WheelEvent("wheel", { deltaY: -600, clientX: %[1]v, clientY: %[2]v, bubbles: true, cancelable: true }))`, at[0], at[1]))
	p.until(`document.querySelector("#picture .zoomed")`)
	near = view()
	mouse(input.DispatchMouseEventTypeMousePressed, 0, 0)
	mouse(input.DispatchMouseEventTypeMouseMoved, -30, -20)
	mouse(input.DispatchMouseEventTypeMouseMoved, -60, -40)
	mouse(input.DispatchMouseEventTypeMouseReleased, -60, -40)
	if v := view(); v[0] <= near[0] || v[1] <= near[1] || v[2] != near[2] {
		t.Errorf("the view is %v after it was dragged, and was %v", v, near)
	}
	p.click(`#picture [aria-label="Show the whole picture"]`)
	if v := view(); v[2] != whole[2] || evaluate[int](p, `document.querySelectorAll("#picture .name").length`) != labels {
		t.Errorf("the whole picture has the view %v and other labels", v)
	}

	fingers := func(kind input.DispatchTouchEventType, apart float64) {
		t.Helper()
		points, first, second := []*input.TouchPoint{}, 1.0, 2.0
		if kind != input.DispatchTouchEventTypeTouchEnd {
			points = []*input.TouchPoint{{X: at[0] - apart, Y: at[1], ID: &first}, {X: at[0] + apart, Y: at[1], ID: &second}}
		}
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	fingers(input.DispatchTouchEventTypeTouchStart, 20)
	fingers(input.DispatchTouchEventTypeTouchMove, 40)
	fingers(input.DispatchTouchEventTypeTouchMove, 60)
	fingers(input.DispatchTouchEventTypeTouchEnd, 0)
	if v := view(); v[2] >= whole[2]/2 {
		t.Errorf("the view is %v after two fingers moved apart", v)
	}
	p.screenshot("zoomed")
}

// A filter is put together from a property, a comparison and a value. The list has only such
// targets, and in the picture other nodes are faint.
func TestPageFilter(t *testing.T) {
	t.Parallel()
	g := circle(t)
	must(t, g, "UPDATE NODE 'dan' SET price = 3, \"odd name\" = 'it''s'", "UPDATE NODE 5 SET price = 1")
	p := open(t, g, 1200, 800, web.Options{})
	p.script(`location.hash = "node='ann'"`)
	p.shows("ann")
	p.click("#filter-summary")
	add := func(property, operator, value, want string) {
		t.Helper()
		p.script(`for (const [id, text] of [["filter-property", ` + quoted(property) + `], ["filter-operator", ` + quoted(operator) + `]]) {
			const field = document.getElementById(id);
			field.value = [...field.options].find((o) => o.textContent === text).value;
			field.dispatchEvent(new Event("change"));
		}`)
		p.insert("#filter-value", value)
		p.click("#filter-add")
		if got := evaluate[string](p, `document.getElementById("node-where").value`); got != want {
			t.Errorf("condition %s, want %s", got, want)
		}
	}
	add("price", ">=", "2", `"price" >= 2`)
	p.until(`document.querySelectorAll(".link").length === 1 && document.querySelector(".link").textContent.includes("dan")`)
	p.until(`document.querySelector("#picture[aria-busy=false] a.faint")`)
	if faint := evaluate[bool](p, `document.querySelector('#picture a[data-name="dan"]').classList.contains("faint")`); faint {
		t.Error("a node that satisfies the condition is faint")
	}
	add("odd name", "=", "it's", `"price" >= 2 AND "odd name" = 'it''s'`)
	p.until(`document.getElementById("filter-summary").textContent.includes("odd name")`)
	p.until(`document.querySelectorAll(".link").length === 1 && document.querySelector("#picture[aria-busy=false] a.faint")`)
	p.screenshot("filter")
	p.script(`(() => { const w = document.getElementById("node-where"); w.value = "prise > 2"; w.dispatchEvent(new Event("change")); })()`)
	p.until(`document.querySelector("#links .problem")?.textContent.includes("did you mean price?") && document.getElementById("picture").textContent === ""`)
	p.script(`(() => { const w = document.getElementById("node-where"); w.value = ""; w.dispatchEvent(new Event("change")); })()`)
	p.until(`document.querySelectorAll(".link").length === 10 && document.querySelector("#picture[aria-busy=false] a.node") && !document.querySelector("#picture .faint")`)
}

// Parts of scores that are zero are not shown, a score of zero is said in words, and the columns of
// an answer that hold only zeros are shown on request.
func TestPageHidesZeros(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	must(t, g, "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cat', 'cat' -> 'dan', 'dan' -> 'eve', 'eve' -> 'fay'",
		"CREATE MODEL near USING common_neighbors")
	p := open(t, g, 1200, 800, web.Options{})
	p.script(`location.hash = "node='ann'"`)
	p.shows("ann")
	p.script(`(() => { const m = document.getElementById("node-model"); m.append(new Option("near")); m.value = "near"; m.dispatchEvent(new Event("change")); })()`)
	p.until(`document.getElementById("links").textContent.includes("no score")`)
	if zero := evaluate[bool](p, `/\b(exploit|explore|ppr) 0\b/.test(document.getElementById("links").textContent)`); zero {
		t.Errorf("zeros are shown: %s", p.text("#links"))
	}
	p.script(`location.hash = "ask"`)
	p.enter("PREDICT LINKS FOR 'ann' AMONG ('cat', 'dan') USING near RETURN target, score, explore, ppr")
	p.click("#run")
	p.until(`document.querySelector(".table-foot")?.hidden === false`)
	visible := `[...document.querySelectorAll("#answer th")].filter((e) => e.offsetParent).map((e) => e.textContent).join()`
	if got := evaluate[string](p, visible); got != "target,score" {
		t.Errorf("columns %s", got)
	}
	p.click(".table-foot button")
	if got := evaluate[string](p, visible); got != "target,score,explore,ppr" {
		t.Errorf("columns %s", got)
	}
	p.script(`location.hash = "database"`)
	p.until(`[...document.querySelectorAll(".tile")].some((e) => e.textContent.startsWith("Nodes6"))`)
	if shown := evaluate[bool](p, `[...document.querySelectorAll(".tile")].some((e) => e.offsetParent && e.textContent.startsWith("Decisions"))`); shown {
		t.Error("the number of decisions is shown, which is 0")
	}
}

// Statements are saved in the browser, run again and deleted. Without storage the page says so.
func TestPageSaved(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.enter("NEIGHBORS OF 'ann'")
	p.click("#saved-button")
	p.insert("#save-name", "of <ann>")
	p.keys(kb.Enter)
	p.until(`document.querySelector("#saved-list button")?.textContent === "of <ann>"`)
	p.do(chromedp.Navigate(p.url + "/"))
	p.until(`document.querySelector("#picture[aria-busy=false] .center")`)
	p.script(`location.hash = "ask"`)
	p.do(chromedp.WaitVisible(chromedp.CSS("#statement")))
	p.click("#saved-button")
	p.screenshot("saved")
	p.click("#saved-list button")
	p.until(`document.querySelectorAll("#answer tbody tr").length === 8 && document.getElementById("statement").value === "NEIGHBORS OF 'ann'"`)
	p.click(`#saved-list [aria-label="Delete of <ann>"]`)
	p.until(`document.getElementById("saved-list").textContent.startsWith("No statement is saved yet")`)
	p.script(`Object.defineProperty(window, "localStorage", { get() { throw new Error("no storage"); } }); 0`)
	p.insert("#save-name", "lost")
	p.keys(kb.Enter)
	p.until(`document.getElementById("saved-list").textContent.includes("keeps nothing")`)
	p.enter("NEIGHBORS OF 1")
	p.click("#run")
	p.until(`document.querySelectorAll("#answer tbody tr").length > 0 && document.querySelector(".status").textContent.includes("row")`)
}

// A result can be downloaded as CSV, with all its rows and any text.
func TestPageCSV(t *testing.T) {
	t.Parallel()
	p := open(t, circle(t), 1200, 800, web.Options{})
	p.enter("NEIGHBORS OF 'ann'")
	p.click("#run")
	p.until(`document.querySelector(".table-foot")?.hidden === false`)
	p.script(`URL.createObjectURL = (blob) => { blob.text().then((t) => (window.file = t)); return "#file"; };
		document.querySelector(".table-foot a").addEventListener("click", (e) => e.preventDefault())`)
	p.click(".table-foot a")
	p.until(`window.file`)
	text := evaluate[string](p, `window.file`)
	for _, line := range []string{"source,target,", "ann,bob,1,", `ann,"""><img src=x onerror=alert(1)>",`, "ann,\"line\nbreak\",", `"o'neill & ""co""",`} {
		if !strings.Contains(text, line) && !strings.Contains(text, strings.TrimPrefix(line, "ann,")) {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if name := evaluate[string](p, `document.querySelector(".table-foot a").download`); name != "answer.csv" {
		t.Errorf("the file is %q", name)
	}
}

// A server that may write has forms that create a model and train it, with its progress. The
// training can be cancelled. A server that only reads has none.
func TestPageTrain(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 256 << 20})
	var edges strings.Builder
	for i := range 400 {
		fmt.Fprintf(&edges, ", %d -> %d, %d -> %d", i, (i*7+1)%400+400, i, (i*31+5)%400+400)
	}
	must(t, g, "INSERT EDGES "+edges.String()[2:])
	p := open(t, g, 1200, 900, web.Options{Token: token})
	p.script(`location.hash = "models"`)
	p.until(`document.querySelector("#create-form option")`)
	p.script(`document.querySelector("#create-form input").value = "my model"`)
	p.click("#create-form button")
	p.until(`document.querySelector("#create-form .status").textContent.includes("Enter the token")`)
	p.insert("#token", token)
	p.click("#create-form button")
	p.until(`location.hash === "#models=my%20model" && document.querySelector("#models-content tr.deployed") && document.querySelector("#train-form h2").textContent === "Train my model"`)
	p.click("#train-form button")
	p.until(`document.querySelector("#train-form progress:not([hidden])") && !document.querySelector("#train-form [type=button]").disabled`)
	p.until(`document.querySelector("#train-form progress").max > 1 || document.querySelector("#train-form .status").textContent.startsWith("Trained")`)
	p.screenshot("training")
	p.click("#train-form [type=button]")
	p.until(`document.querySelector("#train-form .status").textContent.startsWith("Cancelled") && !document.querySelector("#train-form [type=submit]").disabled`)
	if versions, err := query.Run(t.Context(), g, `SHOW VERSIONS OF "my model"`); err != nil || len(versions.Rows) != 1 {
		t.Errorf("a cancelled training made a version: %v, %v", versions, err)
	}
	p.script(`for (const s of document.querySelectorAll("#train-form select")) for (const o of s.options) if (["10s", "on"].includes(o.value)) s.value = o.value`)
	p.click("#train-form button")
	p.within(time.Minute, `document.querySelector("#train-form .status").textContent.startsWith("Trained. The new version is deployed.") && document.querySelectorAll("#models-content .table tr").length > 2`)

	p = open(t, g, 1200, 900, web.Options{})
	p.models()
	if n := evaluate[int](p, `document.querySelectorAll("#create-form, #train-form, #token").length`); n != 0 {
		t.Errorf("a read-only server has %d forms that write", n)
	}
}

// The section of models shows what was shown and clicked, by day and version.
func TestPageFunnel(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Now: func() time.Time { return now }})
	must(t, g, "INSERT EDGES 1 -> 2, 2 -> 3, 2 -> 4, 2 -> 5", "CREATE MODEL m", "CHOOSE 3 LINKS FOR 1 AMONG (3, 4, 5) USING m",
		"REWARD 1 PLACE 2 = 1 WITH (examined = above)")
	now = now.Add(24 * time.Hour)
	must(t, g, "CHOOSE 2 LINKS FOR 1 AMONG (3, 4, 5) USING m")
	p := open(t, g, 1200, 800, web.Options{})
	p.models()
	p.until(`document.querySelector(".funnel [aria-busy=false]")`)
	if got := evaluate[string](p, `[...document.querySelectorAll(".funnel tbody tr")].map((tr) => [...tr.cells].map((td) => td.textContent).join("|")).join("\n")`); got !=
		"2 Nov 26|m version 1|2|unknown||\n1 Nov 26|m version 1|3|1|33.3 %|" {
		t.Errorf("the funnel shows\n%s", got)
	}
	p.screenshot("funnel")
}
