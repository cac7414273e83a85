package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// expired returns a database whose decision 1 has expired.
func expired(t testing.TB) *db.DB {
	t.Helper()
	var hours atomic.Int64
	now := func() time.Time { return time.Unix(1_700_000_000+3600*hours.Add(1), 0) }
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Now: now})
	for _, text := range []string{"INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid'", "CHOOSE LINK FOR 'ann' AMONG ALL TTL 1"} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// decided returns a database with a decision of three places, number 1.
func decided(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Friends(t)
	for _, text := range []string{"CREATE MODEL n", "CHOOSE 3 LINKS FOR 'ann' AMONG ('dan', 7, 8) USING n"} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// verbExamples has requests to the verbs for each of their statuses.
func verbExamples() (all []example) {
	trusted := func(_ *testing.T, _ *db.DB, r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	valid := map[string]string{
		"/predict": `{"source": "ann"}`,
		"/choose":  `{"source": "ann", "candidates": ["dan", 7]}`,
		"/reward":  `{"decision": 1, "place": 2, "reward": 1}`,
		"/observe": `{"source": "ann", "target": "dan", "reward": 1}`,
		"/why":     `{"source": "ann", "target": "dan"}`,
		"/nodes":   `{"nodes": [{"node": "eve"}]}`,
		"/edges":   `{"edges": [{"source": "ann", "target": "eve"}]}`,
	}
	for path, body := range valid {
		route := "POST " + path
		all = append(all,
			example{route: route, status: 200, body: body, open: decided, with: trusted},
			example{route: route, status: 200, body: strings.Replace(body, "{", `{"keys": "json", `, 1), open: decided, with: trusted},
			example{route: route, status: 400, body: strings.Replace(body, "{", `{"colour": 1, `, 1), with: trusted},
			example{route: route, status: 400, body: `{`, with: trusted},
			example{route: route, status: 413, body: body, options: web.Options{MaxBody: 1}, with: trusted},
			example{route: route, status: 415, body: body, with: func(t *testing.T, g *db.DB, r *http.Request) {
				trusted(t, g, r)
				r.Header.Set("Content-Type", "text/plain")
			}},
			example{route: route, status: 408, options: web.Options{BodyTimeout: 50 * time.Millisecond}, with: func(t *testing.T, g *db.DB, r *http.Request) {
				trusted(t, g, r)
				never, _ := io.Pipe()
				r.Body, r.ContentLength = never, -1
			}},
			example{route: route, status: 503, body: body, with: func(t *testing.T, g *db.DB, r *http.Request) {
				trusted(t, g, r)
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
			}},
		)
	}
	for _, e := range []example{
		{route: "POST /predict", status: 200, body: `{"source": "ann", "candidates": {"all": true}, "top": 2, "properties": ["price"], "because": false}`},
		{route: "POST /predict", status: 200, body: `{"source": "'7'", "candidates": {"neighbors": 3}, "except": ["ann"], "keys": "text"}`},
		{route: "POST /predict", status: 200, body: `{"source": "ann", "candidates": ["dan", 7, "nobody"], "model": "katz", "time": "2026-11-01T10:00:00Z"}`},
		{route: "POST /predict", status: 200, body: `{"source": "ann", "where": [{"of": "label", "op": "=", "value": "person"}, {"of": "node", "op": "<>", "value": {"key": 7}}]}`},
		{route: "POST /predict", status: 404, body: `{"source": "eve"}`},
		{route: "POST /predict", status: 404, body: `{"source": "ann", "model": "nope"}`},
		{route: "POST /predict", status: 404, body: `{"source": "ann", "relation": "likes"}`},
		{route: "POST /predict", status: 422, body: `{"source": "ann", "where": [{"of": "degree", "op": "~", "value": 1}]}`},
		{route: "POST /choose", status: 200, body: `{"source": "ann", "candidates": {"all": true}, "places": 3, "explore": "epsilon_greedy", "epsilon": 0, "ttl": "2d", "seed": 3, "keys": "text"}`},
		{route: "POST /choose", status: 404, body: `{"source": "eve", "candidates": {"all": true}}`},
		{route: "POST /choose", status: 422, body: `{"source": "ann", "places": 51}`},
		{route: "POST /choose", status: 422, body: `{"source": "ann", "explore": "luck"}`},
		{route: "POST /reward", status: 200, body: `{"decision": 1, "rewards": [{"place": 1, "reward": 0}, {"place": 3, "reward": 1}], "examined": "all", "insert": true}`, open: decided},
		{route: "POST /reward", status: 200, body: `{"decision": 1, "rewards": []}`, open: decided},
		{route: "POST /reward", status: 404, body: `{"decision": 9, "reward": 1}`},
		{route: "POST /reward", status: 410, body: `{"decision": 1, "reward": 1}`, open: expired},
		{route: "POST /reward", status: 422, body: `{"decision": 1, "reward": 1}`, open: decided},
		{route: "POST /reward", status: 422, body: `{"decision": 1, "place": 4, "reward": 1}`, open: decided},
		{route: "POST /reward", status: 409, body: `{"decision": 1, "place": 1, "reward": 0}`, open: decided, with: func(t *testing.T, g *db.DB, _ *http.Request) {
			if err := g.RewardPlaces(t.Context(), 1, map[int]float64{1: 1}, db.ExaminedGiven); err != nil {
				t.Fatal(err)
			}
		}},
		{route: "POST /observe", status: 404, body: `{"source": "ann", "target": "eve", "reward": 1}`},
		{route: "POST /observe", status: 404, body: `{"source": "ann", "target": "dan", "reward": 1, "model": "nope"}`},
		{route: "POST /observe", status: 422, body: `{"source": "ann", "target": "dan", "reward": 1e300}`},
		{route: "POST /why", status: 404, body: `{"source": "ann", "target": "eve"}`},
		{route: "POST /why", status: 422, body: `{"source": "ann", "target": "dan", "where": [{"of": "degree", "op": "~", "value": 1}]}`},
		{route: "POST /nodes", status: 409, body: `{"nodes": [{"node": "eve"}, {"node": "ann"}], "create": true}`},
		{route: "POST /nodes", status: 422, body: `{"nodes": [{"node": "eve", "label": "person", "features": [1]}]}`},
		{route: "POST /nodes", status: 200, body: `{"nodes": [{"node": "eve", "label": "x", "features": [1.5], "properties": {"price": {"float": 3}, "tags": ["a"], "seen": "2026-11-01", "hidden": true, "n": 3, "old": null}}]}`},
		{route: "POST /edges", status: 409, body: `{"edges": [{"source": "ann", "target": "bob"}], "create": true}`},
		{route: "POST /edges", status: 422, body: `{"edges": [{"source": "ann", "target": "bob", "weight": -1}]}`},
		{route: "POST /edges", status: 200, body: `{"edges": [{"source": 5, "target": "6", "relation": "likes", "weight": 2, "time": "2026-11-01"}]}`},
	} {
		before := e.with
		e.with = func(t *testing.T, g *db.DB, r *http.Request) {
			trusted(t, g, r)
			if before != nil {
				before(t, g, r)
			}
		}
		all = append(all, e)
	}
	return all
}

// posted posts a body to a path with the token and returns the status and the body of the answer.
func posted(t testing.TB, url, path, body string) (status int, text []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

// asked is posted for an answer that is an object and must have a status.
func asked(t testing.TB, url, path string, status int, body string) (answer map[string]any) {
	t.Helper()
	got, text := posted(t, url, path, body)
	if err := json.Unmarshal(text, &answer); err != nil || got != status {
		t.Fatalf("%s %.300s: status %d, want %d: %s %v", path, body, got, status, text, err)
	}
	return answer
}

// A body that is not understood is refused with the part of it that is wrong.
func TestBodies(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	before := figures(t, g)
	for _, c := range [][3]string{
		{"/predict", `{}`, "request: the member source is missing"},
		{"/predict", `[]`, "request: it must be an object with the member source, got a list"},
		{"/observe", `7`, "request: it must be an object with the members source, target and reward, got 7 (an integer)"},
		{"/predict", `{"source": null}`, "request: the member source is missing"},
		{"/predict", `{"source": "ann", "tpo": 3}`, `request: unknown member \"tpo\" (accepted: because, candidates, except, inverse, keys, model, properties, relation, source, time, top, where); did you mean top?`},
		{"/predict", `{"source": "ann", "source": "bob"}`, `the member \"source\" is given twice`},
		{"/predict", `{"source": [1]}`, "source: a list is no key"},
		{"/predict", `{"source": 1.5}`, "source: 1.5 (a number) is no key, want an integer or a string"},
		{"/predict", `{"source": 7, "keys": "text"}`, `source: a node must be a string where keys is \"text\", got 7 (an integer)`},
		{"/predict", `{"source": "ann", "top": "3"}`, "top must be an integer of at least 0, got '3' (a string)"},
		{"/predict", `{"source": "ann", "top": -1}`, "top must be an integer of at least 0, got -1 (an integer)"},
		{"/predict", `{"source": "ann", "top": 2.5}`, "top must be an integer of at least 0, got 2.5 (a number)"},
		{"/predict", `{"source": "ann", "time": 7}`, "time must be a string such as 2026-11-01T10:00:00Z, got 7 (an integer)"},
		{"/predict", `{"source": "ann", "time": "soon"}`, `time: \"soon\" is not a time`},
		{"/predict", `{"source": "ann", "candidates": {"labl": "x"}}`, `candidates: unknown member \"labl\" (accepted: all, label`},
		{"/predict", `{"source": "ann", "candidates": {}}`, "candidates must have one of nodes, all, label"},
		{"/predict", `{"source": "ann", "except": {"all": true, "ppr": 3}}`, "except must have one of nodes, all, label, neighbors, ppr, similar, likely, sample and near, got 2 members"},
		{"/predict", `{"source": "ann", "candidates": ["dan", true]}`, "candidates.nodes[1]: true is no key"},
		{"/predict", `{"source": "ann", "candidates": {"label": "x", "via": ["y"]}}`, "candidates.via needs neighbors or ppr"},
		{"/predict", `{"source": "ann", "candidates": {"ppr": 5, "within": "7d"}}`, "candidates.within needs neighbors"},
		{"/predict", `{"source": "ann", "candidates": {"neighbors": 5, "within": "7x"}}`, "candidates.within must be a duration above 0 such as 90s, 24h or 7d, got '7x' (a string)"},
		{"/predict", `{"source": "ann", "where": [{"of": "price"}]}`, "where[0]: the member op is missing"},
		{"/predict", `{"source": "ann", "where": {"of": "price"}}`, "where must be a list, got an object"},
		{"/predict", `{"source": "ann", "because": "no"}`, "because must be true or false, got 'no' (a string)"},
		{"/choose", `{"source": "ann", "ttl": 7}`, "ttl must be a duration above 0"},
		{"/reward", `{"decision": "1"}`, "decision must be an integer of at least 0"},
		{"/observe", `{"source": "ann", "target": "bob", "reward": "much"}`, "reward must be a number, got 'much' (a string)"},
		{"/nodes", `{"nodes": [{"node": 1}, {"label": "x"}]}`, "nodes[1]: the member node is missing"},
		{"/nodes", `{"nodes": [{"node": 1, "properties": [1]}]}`, "nodes[0].properties must be an object, got a list"},
		{"/nodes", `{"nodes": [{"node": 1, "properties": {"a": {"double": 1}}}]}`, `nodes[0].properties.a: unknown member \"double\" (accepted: bool, float, integer, list, string, time)`},
		{"/nodes", `{"nodes": [{"node": 1, "properties": {"a": {}}}]}`, "nodes[0].properties.a must be a value, or an object with one member that is its type, got 0 members"},
		{"/nodes", `{"nodes": [{"node": 1, "features": [1e300]}]}`, "nodes[0].features[0] must be a number"},
		{"/edges", `{"edges": [{"source": 1}]}`, "edges[0]: the member target is missing"},
		{"/edges", "{\"edges\": [{\"source\": \"\xff\", \"target\": 1}]}", "is not UTF-8"},
	} {
		answer := asked(t, url, c[0], http.StatusBadRequest, c[1])
		fault := answer["error"].(map[string]any)
		text, err := json.Marshal(fault["text"])
		if err != nil || !strings.Contains(string(text), c[2]) || fault["kind"] != "input" {
			t.Errorf("%s %s: %s %v, want %s", c[0], c[1], text, fault["kind"], c[2])
		}
	}
	if after := figures(t, g); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

// A request that is understood and cannot be carried out has the status and the kind of its error,
// and names the part that is wrong. It changes nothing.
func TestVerbErrors(t *testing.T) {
	t.Parallel()
	g := decided(t)
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	before := figures(t, g)
	for _, c := range []struct {
		path, body string
		status     int
		kind, text string
	}{
		{"/predict", `{"source": "dna"}`, 404, "not_found", "source: no node 'dna'"},
		{"/predict", `{"source": "ann", "model": "nope"}`, 404, "no_model", "nope"},
		{"/predict", `{"source": "ann", "candidates": {"label": "persn"}}`, 404, "not_found", `no label "persn"`},
		{"/predict", `{"source": "ann", "where": [{"of": "price", "op": "<", "value": 2}]}`, 404, "not_found", `where[0]: no property "price"`},
		{"/predict", `{"source": "ann", "where": [{"of": "degree", "op": "~", "value": 2}]}`, 422, "input", `where[0]: degree: operator "~"`},
		{"/predict", `{"source": "ann", "top": 100001}`, 422, "too_large", "an answer has at most 100000 links, and 100001 are asked for"},
		{"/choose", `{"source": "ann", "candidates": ["nobody"]}`, 422, "input", "candidates"},
		{"/choose", `{"source": "ann", "explore": "luck"}`, 422, "input", `explore: `},
		{"/reward", `{"decision": 1}`, 422, "input", "give reward or rewards, and one of these only"},
		{"/reward", `{"decision": 1, "place": 1, "rewards": []}`, 422, "input", "place goes with reward"},
		{"/reward", `{"decision": 1, "reward": 1}`, 422, "input", "decision 1 has 3 places: place must say which one"},
		{"/reward", `{"decision": 1, "rewards": [{"place": 2, "reward": 1}, {"place": 2, "reward": 0}]}`, 422, "input", "rewards[1]: place 2 is given twice"},
		{"/reward", `{"decision": 1, "place": 1, "reward": 1, "examined": "some"}`, 422, "input", "some"},
		{"/reward", `{"decision": 2, "reward": 1}`, 404, "no_decision", "2"},
		{"/observe", `{"source": "ann", "target": "dna", "reward": 1}`, 404, "not_found", "target: no node 'dna'"},
		{"/why", `{"source": "ann", "target": "dna"}`, 404, "not_found", "target: no node 'dna'"},
		{"/nodes", `{"nodes": [{"node": "new"}, {"node": "dan"}], "create": true}`, 409, "exists", "nodes[1]: "},
		{"/nodes", `{"nodes": [{"node": "new"}, {"node": "old", "properties": {"score": 1}}]}`, 422, "input", "nodes[1]: a property cannot have the name"},
		{"/edges", `{"edges": [{"source": "new", "target": "old"}, {"source": "ann", "target": "bob"}], "create": true}`, 409, "exists", "edges[1]: "},
		{"/edges", `{"edges": [{"source": "new", "target": "old", "weight": 1e30}]}`, 422, "input", "edges[0]: edge 'new' -> 'old': weight"},
	} {
		fault := asked(t, url, c.path, c.status, c.body)["error"].(map[string]any)
		if fault["kind"] != c.kind || !strings.Contains(fault["text"].(string), c.text) {
			t.Errorf("%s %s: %v, want %s: %s", c.path, c.body, fault, c.kind, c.text)
		}
	}
	if after := figures(t, g); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

// Without the token, and on a server that has none, verbs that write are refused, and the others
// answer.
func TestVerbsThatWrite(t *testing.T) {
	t.Parallel()
	g := decided(t)
	_, reads := serve(t, web.Handler(g))
	_, writes := serve(t, web.Options{Token: token}.Handler(g))
	before := figures(t, g)
	for path, c := range map[string]struct {
		body     string
		readOnly bool
	}{
		"/predict": {`{"source": "ann"}`, true},
		"/why":     {`{"source": "ann", "target": "dan"}`, true},
		"/choose":  {`{"source": "ann"}`, false},
		"/reward":  {`{"decision": 1, "place": 1, "reward": 1}`, false},
		"/observe": {`{"source": "ann", "target": "dan", "reward": 1}`, false},
		"/nodes":   {`{"nodes": [{"node": "eve"}]}`, false},
		"/edges":   {`{"edges": [{"source": "ann", "target": "eve"}]}`, false},
	} {
		want, kind := [2]int{200, 200}, [2]string{}
		if !c.readOnly {
			want, kind = [2]int{403, 401}, [2]string{"read_only", "token"}
		}
		for i, url := range []string{reads, writes} {
			r, err := http.Post(url+path, "application/json", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != want[i] || kind[i] != "" && !strings.Contains(string(text), `"kind":"`+kind[i]+`"`) {
				t.Errorf("%s: %s, want %d: %s %v", path, r.Status, want[i], text, err)
			}
		}
	}
	if after := figures(t, g); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

// A verb that waits for another writer ends with the timeout.
func TestVerbTimeout(t *testing.T) {
	t.Parallel()
	g := decided(t)
	_, url := serve(t, web.Options{Token: token, Timeout: 50 * time.Millisecond}.Handler(g))
	tx, err := g.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	answer := asked(t, url, "/nodes", http.StatusGatewayTimeout, `{"nodes": [{"node": "eve"}]}`)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(answer), "took longer than 50ms, and has changed nothing") {
		t.Error(answer)
	}
}

// observations returns the number of observations of a database.
func observations(t testing.TB, g *db.DB) (n int) {
	t.Helper()
	if err := g.View(t.Context(), func(tx *db.Tx) error {
		for _, err := range tx.Observations() {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// While a verb waits for the disk, the next request in its lane is answered.
func TestVerbSyncsAside(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	syncing, synced := make(chan bool), make(chan bool)
	events := db.Events{Sync: func(time.Duration) {
		if slow.CompareAndSwap(true, false) {
			syncing <- true
			<-synced
		}
	}}
	g := dbtest.Reopen(t, filepath.Join(t.TempDir(), "g.kith"), &db.Options{Memory: 64 << 20, Events: events})
	_, url := serve(t, web.Options{Token: token, MaxRunning: 1}.Handler(g))
	asked(t, url, "/edges", 200, `{"edges": [{"source": 1, "target": 2}]}`)
	slow.Store(true)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		status, text := posted(t, url, "/nodes", `{"nodes": [{"node": 3}]}`)
		if status != http.StatusOK {
			t.Errorf("status %d: %s", status, text)
		}
	}()
	<-syncing
	asked(t, url, "/predict", 200, `{"source": 1}`)
	select {
	case <-ended:
		t.Error("the request was answered before its commit was synced")
	default:
	}
	close(synced)
	<-ended
}

// A slate is chosen, rewarded by place and predicted from.
func TestSlate(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	if _, err := query.Run(t.Context(), g, "CREATE MODEL n"); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	slate := asked(t, url, "/choose", 200, `{"source": "ann", "candidates": ["dan", 7, "7", 8, "nobody"], "except": [8], "places": 5, "model": "n", "ttl": "1h"}`)
	places := slate["places"].([]any)
	var targets []string
	for i, p := range places {
		p := p.(map[string]any)
		targets = append(targets, fmt.Sprintf("%T %[1]v", p["target"]))
		if p["place"] != float64(i+1) || p["propensity"].(float64) <= 0 || p["propensity"].(float64) > 1 {
			t.Errorf("%v", p)
		}
	}
	slices.Sort(targets)
	if got := fmt.Sprint(targets); got != "[float64 7 string 7 string dan]" || slate["missing"] != 1.0 || slate["decision"] != 1.0 || slate["policy"] != "squarecb (gamma = 10)" || slate["model"] != "n" {
		t.Errorf("%s of %v", got, slate)
	}
	second := fmt.Sprint(places[1].(map[string]any)["target"])
	for _, isNew := range []bool{true, false} {
		answer := asked(t, url, "/reward", 200, `{"decision": 1, "place": 2, "reward": 1, "examined": "above", "insert": true}`)
		rewarded := answer["places"].([]any)
		last := rewarded[len(rewarded)-1].(map[string]any)
		if answer["source"] != "ann" || answer["model"] != "n" || fmt.Sprint(last["target"]) != second || last["place"] != 2.0 || last["new"] != isNew || last["edge_added"] != isNew || isNew && len(rewarded) != 2 {
			t.Errorf("%v", answer)
		}
	}
	asked(t, url, "/reward", 409, `{"decision": 1, "place": 2, "reward": 0}`)
	asked(t, url, "/reward", 409, `{"decision": 1, "rewards": [{"place": 1, "reward": 1}]}`) // examined says that it was seen
	if n := observations(t, g); n != 2 {
		t.Errorf("%d observations", n)
	}
	answer := asked(t, url, "/predict", 200, `{"source": "ann", "model": "n", "candidates": ["dan"]}`)
	if l := answer["links"].([]any)[0].(map[string]any); l["target"] != "dan" || l["rank"] != 1.0 || l["label"] != "person" || l["because"] != "2 common neighbours: bob and cid" {
		t.Errorf("%v", answer)
	}
	why := asked(t, url, "/why", 200, `{"source": "ann", "target": "dan", "candidates": ["dan"]}`)
	if sentences := fmt.Sprint(why["sentences"]); !strings.Contains(sentences, "bob and cid") || why["link"].(map[string]any)["target"] != "dan" {
		t.Errorf("%v", why)
	}
}

// The same outcome with the same id counts once.
func TestObserveOnce(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	const body = `{"source": "ann", "target": "dan", "reward": 1, "insert": true, "id": "click 17", "candidates": ["dan", 7]}`
	for _, isNew := range []bool{true, false, false} {
		answer := asked(t, url, "/observe", 200, body)
		if answer["new"] != isNew || answer["edge_added"] != isNew || isNew && answer["model"] != "default" {
			t.Errorf("%v", answer)
		}
	}
	asked(t, url, "/observe", 200, strings.Replace(body, "click 17", "click 18", 1))
	if answer := asked(t, url, "/observe", 200, `{"source": "gone", "target": 0, "reward": 0, "id": "click 17"}`); answer["new"] != false {
		t.Errorf("of other nodes: %v", answer)
	}
	if s, err := g.Stats(); err != nil || s.Edges != 8 || observations(t, g) != 2 {
		t.Errorf("%d observations, %d edges, %v", observations(t, g), s.Edges, err)
	}
}

// Nodes and edges are put in bulk, with properties of the types that are meant.
func TestPut(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	var nodes, edges strings.Builder
	const n = 5000
	for i := range n {
		fmt.Fprintf(&nodes, `{"node": %d, "label": "item"},`, i)
		fmt.Fprintf(&edges, `{"source": %d, "target": %d, "time": "2026-11-01"},`, i, (i+1)%n)
	}
	bulk := func(path, list, elements, rest string) string {
		answer := asked(t, url, path, 200, fmt.Sprintf(`{%q: [%s]%s}`, list, strings.TrimSuffix(elements, ","), rest))
		return fmt.Sprint(answer["nodes_added"], answer["edges_added"], answer["changed"])
	}
	for _, c := range [][2]string{
		{bulk("/nodes", "nodes", nodes.String(), `, "create": true`), "5000 0 0"},
		{bulk("/nodes", "nodes", nodes.String(), ""), "0 0 5000"},
		{bulk("/edges", "edges", edges.String(), `, "create": true`), "0 5000 0"},
		{bulk("/edges", "edges", edges.String()+`{"source": "a", "target": "b"}`, ""), "2 1 5000"},
		{bulk("/nodes", "nodes", "", ""), "0 0 0"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
	const typed = `{"nodes": [
		{"node": "p", "properties": {"price": {"float": 12}, "stock": 12, "day": "2026-11-01", "text": {"string": "2026-11-01"}, "tags": ["b", "a"], "hidden": false}},
		{"node": "q", "properties": {"price": 13, "stock": {"integer": -1}, "day": {"time": "2026-11-02T10:00:00Z"}, "tags": {"list": ["c"]}, "hidden": {"bool": true}}}]}`
	asked(t, url, "/nodes", 200, typed)
	asked(t, url, "/nodes", 200, `{"nodes": [{"node": "p", "properties": {"stock": null}}]}`)
	for key, want := range map[string]string{
		"p": "map[day:2026-11-01 00:00:00 +0000 UTC hidden:false price:12 tags:[b a] text:2026-11-01]",
		"q": "map[day:2026-11-02 10:00:00 +0000 UTC hidden:true price:13 stock:-1 tags:[c]]",
	} {
		err := g.View(t.Context(), func(tx *db.Tx) error {
			p, err := tx.Node(key)
			if got := fmt.Sprint(p.Properties); got != want {
				t.Errorf("%s: %s, want %s", key, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	asked(t, url, "/edges", 200, `{"edges": [{"source": 1, "target": "p"}, {"source": 2, "target": "p"}, {"source": 2, "target": "q"}]}`)
	answer := asked(t, url, "/predict", 200, `{"source": 1, "candidates": ["p", "q", 3], "properties": ["price", "tags", "none"],
		"where": [{"of": "price", "op": "<", "value": 12.5}, {"of": "day", "op": ">=", "value": "2026-10-31"}, {"of": "tags", "op": "=", "value": "a"}]}`)
	links := answer["links"].([]any)
	if len(links) != 1 || fmt.Sprint(links[0].(map[string]any)["properties"]) != "map[price:12 tags:[b a]]" {
		t.Errorf("%v", answer)
	}
}

// With keys as text, all nodes of requests and of answers are strings.
func TestVerbsWithTextKeys(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	const big = "9007199254740993" // 2^53 + 1
	asked(t, url, "/edges", 200, `{"keys": "text", "edges": [{"source": "ann", "target": "1"}, {"source": "1", "target": "`+big+`"}, {"source": "1", "target": "'7'"}]}`)
	err := g.View(t.Context(), func(tx *db.Tx) error {
		if !tx.Has(db.Int(1<<53+1)) || !tx.Has(db.Str("7")) || tx.Has(db.Int(7)) {
			t.Error("other nodes were made")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const among = `{"keys": "text", "source": "ann", "candidates": ["` + big + `", "'7'"]`
	var predicted, chosen []string
	for _, l := range asked(t, url, "/predict", 200, among+`}`)["links"].([]any) {
		predicted = append(predicted, l.(map[string]any)["target"].(string))
	}
	for _, p := range asked(t, url, "/choose", 200, among+`, "places": 2}`)["places"].([]any) {
		chosen = append(chosen, p.(map[string]any)["target"].(string))
	}
	slices.Sort(predicted)
	slices.Sort(chosen)
	if want := "['7' " + big + "]"; fmt.Sprint(predicted) != want || fmt.Sprint(chosen) != want {
		t.Errorf("%v and %v, want %s", predicted, chosen, want)
	}
	answer := asked(t, url, "/reward", 200, `{"keys": "text", "decision": 1, "rewards": [{"place": 1, "reward": 1}, {"place": 2, "reward": 1}]}`)
	for _, p := range answer["places"].([]any) {
		if target := p.(map[string]any)["target"]; target != "'7'" && target != big {
			t.Errorf("%v", answer)
		}
	}
	why := asked(t, url, "/why", 200, `{"keys": "text", "source": "ann", "target": "`+big+`"}`)
	if why["link"].(map[string]any)["target"] != big {
		t.Errorf("%v", why)
	}
}

// A description with keys as text has one type for nodes, and says that requests ask for it.
func TestOpenAPIWithTextKeys(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Options{Token: token}.Handler(dbtest.Friends(t)))
	d := describe(t, url, "?keys=text")
	if kind := d.Components.Schemas["node"].(map[string]any)["type"]; kind != "string" {
		t.Errorf("a node has the type %v", kind)
	}
	names := map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if names[o.OperationID] || o.OperationID == "" {
				t.Errorf("%s %s: the operation is called %q", method, path, o.OperationID)
			}
			names[o.OperationID] = true
			if method != "post" {
				continue
			}
			if required := o.RequestBody.Content["application/json"].Schema["required"].([]any); !slices.Contains(required, any("keys")) {
				t.Errorf("%s: %v are required", path, required)
			}
		}
	}
	d.check(t, example{route: "POST /predict", status: 200, body: `{"keys": "text", "source": "7", "candidates": ["'7'", "8"]}`})
}

// An infinite or missing number is not a number of JSON.
func TestVerbNumbers(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	for _, model := range []string{"ppr", "katz", "jaccard", "m"} {
		answer := asked(t, url, "/predict", 200, `{"source": 8, "candidates": {"all": true}, "model": "`+model+`"}`)
		for _, l := range answer["links"].([]any) {
			if score := l.(map[string]any)["score"].(float64); math.IsNaN(score) {
				t.Errorf("%s: %v", model, l)
			}
		}
	}
}
