package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// serve serves a handler on the loopback interface.
func serve(t testing.TB, h http.Handler) (*web.Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	c, err := web.Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		s.Close()
	})
	return c, s.URL
}

// A client gets the same answers as Run.
func TestClient(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	c, _ := serve(t, web.Handler(g))
	for _, q := range []struct {
		text string
		args []any
	}{
		{"PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(3) WITH (cache = off)", nil},
		{"HELP PREDICT", nil},
		{"SHOW POLICIES", nil},
		{"SHOW LABELS TOP ?", []any{1}},
		{"PREDICT LINKS FOR 'ann', 7 AMONG ALL USING m WHERE degree > 1 RETURN target, label, score, exact", nil},
		{"PREDICT LINKS FOR ? AMONG ? TOP ? WITH (cache = off)", []any{"ann", []any{"dan", 7, db.Str("7")}, 2}},
		{"PREDICT LINKS FOR ? AMONG ? WITH (cache = off)", []any{db.Int(7), []db.Key{db.Str("ann"), db.Str("bob")}}},
		{"PREDICT LINKS FOR $who AMONG ALL WITH (alpha = $a, cache = off)", []any{sql.Named("who", "ann"), sql.Named("a", 0.5)}},
		{"PREDICT LINKS FOR 'ann' AMONG ALL WHERE score > ?", []any{2.0}},
		{"PREDICT LINKS FOR 'ann' AMONG ALL USING katz WITH (beta = 0.5)", nil},
		{"NEIGHBORS OF ?", []any{nil}},
		{"NEIGHBORS OF ?", []any{"8"}},
		{"NEIGHBORS OF 'dan'", nil},
		{"NODES LABEL person", nil},
		{"NODES WHERE edges > 100", nil},
		{"DESCRIBE NODE 'dan'", nil},
		{"DESCRIBE NODE 7", nil},
		{"SHOW MODELS", nil},
		{"SHOW DECISIONS", nil},
		{"WHY 'ann' -> 'dan' WITH (cache = off)", nil},
		{"PATH FROM 'ann' TO 8", nil},
		{"EXPLAIN DELETE NODE 'ann'", nil},
		{"CHECK", nil},
		{"PREDICT LINKS FOR 'eve'", nil},
		{"PREDICT LINKS FOR ann", nil},
		{"PREDICT LINKS\nFOR 'ann' USING n", nil},
		{"PREDICT LINKS FOR ?", nil},
		{"NEIGHBORS OF ?", []any{3.5}},
		{"DESCRIBE DECISION 5", nil},
		{"", nil},
		{"NODES LABEL persona", nil},
	} {
		want, wantErr := query.Run(t.Context(), g, q.text, q.args...)
		got, err := c.Run(t.Context(), q.text, q.args...)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b db.Key) bool { return a == b })); diff != "" {
			t.Errorf("%s: %v; here and there:\n%s", q.text, err, diff)
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: error %v, want %v", q.text, err, wantErr)
		}
		for _, is := range []error{db.ErrNotFound, db.ErrInput, db.ErrNoModel, db.ErrNoDecision} {
			if errors.Is(err, is) != errors.Is(wantErr, is) {
				t.Errorf("%s: error %v is %v: %v", q.text, err, is, errors.Is(err, is))
			}
		}
		var here, there *query.Error
		if errors.As(wantErr, &here) && (!errors.As(err, &there) || there.Pos != here.Pos || !cmp.Equal(there.Expected, here.Expected)) {
			t.Errorf("%s: %+v, want %+v", q.text, there, here)
		}
	}
}

func TestClientRefuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "ftp://localhost", "http://", "http://a b", "http://[::1"} {
		if _, err := web.Dial(address); !errors.Is(err, db.ErrInput) {
			t.Errorf("%q: %v", address, err)
		}
	}
	c, url := serve(t, web.Handler(dbtest.Friends(t)))
	if _, err := c.Run(t.Context(), "NODES TOP ? LABEL $n", 1, sql.Named("n", 2)); !errors.Is(err, db.ErrInput) {
		t.Errorf("both kinds of parameters: %v", err)
	}
	for _, v := range []any{func() {}, "a\xff", []string{"ann", "\xff"}, []any{"ann", []any{"\xff"}}, math.NaN(), math.Inf(1), []byte("ann"), sql.Named("n", "\xff")} {
		if _, err := c.Run(t.Context(), "NODES TOP ?", v); !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), "argument") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if _, err := c.Run(t.Context(), "NEIGHBORS OF '\xff'"); !errors.Is(err, db.ErrInput) {
		t.Errorf("a statement that is not UTF-8: %v", err)
	}
	bare, err := web.Dial(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if _, err := bare.Run(t.Context(), "CHECK"); err != nil {
		t.Errorf("without a scheme: %v", err)
	}
	other, otherURL := serve(t, http.NotFoundHandler())
	if _, err := other.Run(t.Context(), "CHECK"); err == nil || !strings.Contains(err.Error(), otherURL+": status 404") {
		t.Errorf("something else: %v", err)
	}
}

// An answer that is incomplete or inconsistent is an error.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":            "",
		"no end":             `{"columns":["a"]}` + "\n" + `{"row":[1]}`,
		"half a line":        `{"columns":["a"]}` + "\n" + `{"row":[1`,
		"rows are missing":   `{"columns":["a"]}` + "\n" + `{"rows":1}`,
		"values are missing": `{"columns":["a","b"]}` + "\n" + `{"row":[1]}` + "\n" + `{"rows":1}`,
		"an object":          `{"columns":["a"]}` + "\n" + `{"row":[{}]}` + "\n" + `{"rows":1}`,
		"a large number":     `{"columns":["a"]}` + "\n" + `{"row":[99999999999999999999]}` + "\n" + `{"rows":1}`,
		"another program":    `<html>`,
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = io.WriteString(w, body)
		}))
		if rows, err := c.Run(t.Context(), "CHECK"); err == nil {
			t.Errorf("%s: %v", name, rows)
		}
	}
}

// Numbers with an exponent and nodes among other values are transmitted.
func TestNumbers(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jsonl")
		_, _ = io.WriteString(w, `{"columns":["a"]}`+"\n"+`{"row":[null]}`+"\n"+`{"row":[1e3]}`+"\n"+`{"row":[{"key":"x"}]}`+"\n"+`{"rows":3}`)
	}))
	rows, err := c.Run(t.Context(), "CHECK")
	if err != nil || len(rows.Rows) != 3 || rows.Rows[0][0] != nil || rows.Rows[1][0] != 1000.0 || rows.Rows[2][0] != db.Str("x") {
		t.Errorf("%v, %v", rows, err)
	}
}

// Statements that write, or access files, are refused and have no effect.
func TestHandlerReads(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	c, url := serve(t, web.Handler(g))
	before, err := query.Run(t.Context(), g, "SHOW STATS")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"INSERT EDGES 1 -> 2", "MERGE NODE 1", "DELETE NODE 'ann'", "ERASE NODE 'ann'", "DELETE EDGES 'ann' -> 'bob'", "OBSERVE 'ann' -> 'dan' = 1",
		"CHOOSE LINK FOR 'ann' AMONG ALL", "REWARD 1 = 1", "CREATE MODEL n USING default", "TRAIN MODEL m", "DROP MODEL m",
		"LOAD EDGES FROM '/etc/passwd'", "EVALUATE PREDICT LINKS FOR ALL ON SPLIT '/etc/passwd'",
		"EVALUATE PREDICT LINKS FOR ALL ON SPLIT '/etc/passwd'",
		"PROFILE INSERT EDGES 1 -> 2", "FREEZE MODEL m", "ROLLBACK MODEL m",
	} {
		var place *query.Error
		if _, err := c.Run(t.Context(), text); !errors.Is(err, db.ErrReadOnly) || !errors.As(err, &place) {
			t.Errorf("%s: %v, want ErrReadOnly", text, err)
		}
		if status, _ := post(t, url, `{"statement": "`+text+`"}`); status != http.StatusForbidden {
			t.Errorf("%s: status %d", text, status)
		}
	}
	after, err := query.Run(t.Context(), g, "SHOW STATS")
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("%v, before and after: %s", err, diff)
	}
}

func post(t testing.TB, url, body string) (status int, answer string) {
	t.Helper()
	r, err := http.Post(url+"/query", "application/json; charset=utf-8", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestHandlerRequests(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{MaxBody: 1000, MaxRows: 4}.Handler(g))
	for _, c := range []struct {
		body   string
		status int
		answer string
	}{
		{`{"statement": "PATH FROM ? TO ?", "parameters": ["ann", 7]}`, 200, `{"columns":["step","node","weight"],"keys":["node"]}
{"row":[0,"ann",null]}
{"row":[1,"bob",1.0]}
{"row":[2,"dan",1.0]}
{"row":[3,7,1.0]}
{"rows":4}
`},
		{`{"statement": "PATH FROM ? TO ?", "parameters": ["ann", "bob"]}`, 200, `{"columns":["step","node","weight"],"keys":["node"]}
{"row":[0,"ann",null]}
{"row":[1,"bob",1.0]}
{"rows":2}
`},
		{`{"statement": "RANK NODES FOR ($s), 7 TOP 1 WITH (epsilon = 0.1, cache = off)", "parameters": {"s": ["ann", 8]}}`, 200,
			`{"columns":["source","node","rank","score","error","exact"],"keys":["node"]}
{"row":["('ann' WEIGHT 0.5, 8 WEIGHT 0.5)",`},
		{`{"statement": "NODES TOP $n", "parameters": {"n": 1}}`, 200, `"ann"`},
		{`{"statement": "NODES TOP 1", "parameters": null}`, 200, `"ann"`},
		{`{"statement": "NODES"}`, 422, `"kind":"too_large"`},
		{`{"statement": "NODES LABEL"}`, 422, `"line":1,"column":12`},
		{`{"statement": "NODES", "parameters": 5}`, 400, `a list for ?`},
		{`{"statement": "NODES", "parameters": [{}]}`, 400, `parameters[0] must be a number, a string`},
		{`{"statement": "NODES", "parameters": [[1, {"key": 1, "also": 2}]]}`, 400, `parameters[0][1] must be`},
		{`{"statement": "NODES", "parameters": {"n": {}}}`, 400, `parameters.n must be`},
		{`{"statement": "NEIGHBORS OF ?", "parameters": ["8"]}`, 404, `"message":"no node '8'; there is a node 8, an integer"`},
		{`{"statement": "NEIGHBORS OF ?", "parameters": ["dna"]}`, 404, `no node 'dna'; did you mean 'dan'?`},
		{`{"statement": "NEIGHBORS OF ?", "parameters": [null]}`, 422, `1:14: null is no key, want an integer or a string`},
		{`{"statement": "NEIGHBORS OF ?", "parameters": ["\ud800x"]}`, 400, `request: parameters[0]: \\ud800 is half of a surrogate pair`},
		{`{"statement": "NEIGHBORS OF '\udfff'"}`, 400, `request: statement: \\udfff is half of a surrogate pair`},
		{"{\"statement\": \"NEIGHBORS OF '\xff'\"}", 400, `request: byte 30, 0xff, is not UTF-8`},
		{`{"query": "NODES"}`, 400, `request: unknown member \"query\" (accepted: keys, parameters, progress, statement)`},
		{`{"statement": "NODES", "Parameter": []}`, 400, `unknown member \"Parameter\" (accepted: keys, parameters, progress, statement); did you mean parameters?`},
		{`{"Statement": "NODES"}`, 400, `did you mean statement?`},
		{`{"statement": "NODES", "statement": "CHECK"}`, 400, `the member \"statement\" is given twice`},
		{`{"parameters": []}`, 400, `the member statement is missing`},
		{`[]`, 400, `request: it must be an object with the member statement, got a list`},
		{`{"statement": "NODES", "keys": "name"}`, 400, `keys must be \"json\" or \"text\", got 'name' (a string)`},
		{`{"statement": "NODES", "keys": "text", "parameters": [{"key": 7}]}`, 400, `parameters[0]: a node must be a string where keys is \"text\", got 7 (an integer)`},
		{`{"statement": "NODES", "keys": "text", "parameters": [{"key": "'7"}]}`, 400, `the quotes do not match`},
		{`{"statement": "NODES TOP ?", "parameters": [99999999999999999999]}`, 400, `parameters[0]: the integer 99999999999999999999 is not from`},
		{`{"statement": "NODES TOP ?", "parameters": ["` + strings.Repeat("x", 1000) + `"]}`, 413, `at most 1000 bytes`},
		{`{"statement": `, 400, `unexpected end`},
		{`{"statement": 5}`, 400, `request: statement must be a string, got 5 (an integer)`},
		{`{"statement": null}`, 400, `request: the member statement is missing`},
		{`{"statement": "NODES TOP 1"} {"statement": "CHECK"}`, 400, `after top-level value`},
		{``, 400, `request: it is empty, want JSON`},
		{`NODES`, 400, `invalid character`},
	} {
		if status, answer := post(t, url, c.body); status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s: status %d, %s", c.body, status, answer)
		}
	}
}

// Requests from another machine, to an unknown host name, or of the kind that a page of a foreign
// site can send are refused.
func TestHandlerWelcome(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	for _, c := range []struct {
		name, peer, host, method, path, kind string
		options                              web.Options
		status                               int
	}{
		{name: "this machine", status: 200},
		{name: "by IPv6", peer: "[::1]:99", host: "[::1]:80", status: 200},
		{name: "by a mapped address", peer: "[::ffff:127.0.0.1]:99", host: "localhost", status: 200},
		{name: "a socket that is a file", peer: "@", host: "LocalHost.:80", status: 200},
		{name: "another machine", peer: "192.0.2.1:99", status: 403},
		{name: "no address", peer: "nonsense", status: 403},
		{name: "another machine, welcome", peer: "192.0.2.1:99", options: web.Options{Remote: true}, status: 200},
		{name: "another name", host: "evil.example", status: 403},
		{name: "another name with a port", host: "evil.example:80", options: web.Options{Remote: true}, status: 403},
		{name: "a known name", host: "Graph.example:80", options: web.Options{Hosts: []string{"graph.example"}}, status: 200},
		{name: "any name", host: "evil.example", options: web.Options{Hosts: []string{"*"}}, status: 200},
		{name: "no name", host: "-", status: 403},
		{name: "a form", kind: "text/plain", status: 415},
		{name: "read", method: http.MethodGet, status: 405},
		{name: "elsewhere", path: "/elsewhere", status: 404},
	} {
		or := func(s, otherwise string) string {
			if s == "" {
				return otherwise
			}
			return s
		}
		r := httptest.NewRequest(or(c.method, http.MethodPost), or(c.path, "/query"), strings.NewReader(`{"statement": "CHECK"}`))
		r.RemoteAddr, r.Host = or(c.peer, "127.0.0.1:99"), or(c.host, "127.0.0.1:7331")
		if c.host == "-" {
			r.Host = ""
		}
		r.Header.Set("Content-Type", or(c.kind, "application/json"))
		w := httptest.NewRecorder()
		c.options.Handler(g).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, w.Code, c.status, w.Body)
		}
	}
}

// endless is a statement that only reads and takes longer than anyone waits.
const endless = "EVALUATE PREDICT LINKS FOR ALL USING default ON HOLDOUT 0.1 WITH (epochs = 1000000000)"

// A statement ends after the timeout. Its request is in memory, so that only the statement takes
// time.
func TestHandlerTimeout(t *testing.T) {
	t.Parallel()
	h := web.Options{Timeout: 50 * time.Millisecond}.Handler(communities(t))
	r := httptest.NewRequest(http.MethodPost, "/query", strings.NewReader(`{"statement": "`+endless+`"}`))
	r.RemoteAddr, r.Host = "127.0.0.1:99", "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusGatewayTimeout || !strings.Contains(w.Body.String(), "took longer than 50ms") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	c, _ := serve(t, http.HandlerFunc(func(there http.ResponseWriter, _ *http.Request) {
		there.Header().Set("Content-Type", w.Header().Get("Content-Type"))
		there.WriteHeader(w.Code)
		_, _ = there.Write(w.Body.Bytes())
	}))
	if _, err := c.Run(t.Context(), endless); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("the client returns %v", err)
	}
}

// await waits until a handler does what a test waits for.
func await(load func() web.Load, is func(web.Load) bool) {
	for !is(load()) {
		time.Sleep(time.Millisecond)
	}
}

// communities returns a graph that policies can be played on.
func communities(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for u := range 100 {
			for d := 1; d <= 3; d++ {
				if err := tx.PutEdge(u, (u+d*d)%100); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// occupy runs a statement that does not end. The function that it returns disconnects the client
// and returns the error that the client gets.
func occupy(t *testing.T, c *web.Client, load func() web.Load) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := c.Run(ctx, endless)
		failed <- err
	}()
	await(load, func(l web.Load) bool { return l.Running == 1 })
	return func() error {
		cancel()
		return <-failed
	}
}

// A statement ends when its client disconnects, and the next one runs.
func TestHandlerCancel(t *testing.T) {
	t.Parallel()
	h, load := web.Observed(web.Options{Timeout: time.Hour, MaxRunning: 1}, communities(t))
	c, _ := serve(t, h)
	if err := occupy(t, c, load)(); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone gets %v", err)
	}
	if _, err := c.Run(t.Context(), "CHECK"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// The page's pictures, reasons and completions do not wait for statements.
func TestLooksDoNotWait(t *testing.T) {
	t.Parallel()
	h, load := web.Observed(web.Options{Timeout: time.Hour, MaxRunning: 1}, communities(t))
	c, url := serve(t, h)
	end := occupy(t, c, load)
	for _, path := range []string{"/neighborhood?node=1", "/why?source=1&target=3", "/complete?text=NEIGHBORS+OF+1", "/chart/degrees"} {
		r, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	if l := load(); l.Running != 1 {
		t.Errorf("the statement has ended, so that the test tests nothing: %+v", l)
	}
	_ = end() // cancelled
}

func TestHandlerFigures(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Handler(g))
	get := func(path string) (kind, body string) {
		r, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", path, r.Status, err)
		}
		return r.Header.Get("Content-Type"), string(b)
	}
	var s db.Stats
	if kind, body := get("/stats"); kind != "application/json" || json.Unmarshal([]byte(body), &s) != nil || s.Nodes != 7 || s.Activity.Commits == 0 {
		t.Errorf("%s: %s", kind, body)
	}
	if kind, body := get("/metrics"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") || !strings.Contains(body, "\nkith_nodes 7\n") {
		t.Errorf("%s: %s", kind, body)
	}
}

func TestHandlerClosed(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	c, url := serve(t, web.Handler(g))
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), "CHECK"); !errors.Is(err, db.ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if status, _ := post(t, url, `{"statement": "CHECK"}`); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	for _, path := range []string{"/stats", "/metrics"} {
		r, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}
