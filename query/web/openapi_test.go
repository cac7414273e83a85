package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// described is a part of the description of the interface.
type described struct {
	Paths map[string]map[string]struct { // by path and method
		OperationID string
		RequestBody struct{ Content contents }
		Security    []map[string][]string
		Parameters  []struct {
			Name     string
			Required bool
		}
		Responses map[string]struct{ Content contents } // by status
	}
	Components struct{ Schemas map[string]any }
}

// contents are schemas by media type.
type contents map[string]struct{ Schema map[string]any }

// example is a request whose answer has a status that the description names.
type example struct {
	route   string // method and path
	status  int
	url     string // ?parameters
	body    string
	options web.Options
	open    func(testing.TB) *db.DB                       // returns the database; otherwise it is that of friends
	with    func(t *testing.T, g *db.DB, r *http.Request) // changes the request or the database
}

// token is the token of handlers in tests.
const token = "0123456789abcdef0123456789abcdef"

// examples has at least one request for each status of each route, other than 401 and 403, which
// every route has.
func examples() []example {
	trusted := func(_ *testing.T, _ *db.DB, r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	closed := func(t *testing.T, g *db.DB, _ *http.Request) {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const check = `{"statement": "CHECK"}`
	return []example{
		{route: "POST /query", status: 200, body: `{"statement": "PREDICT LINKS FOR ? AMONG ALL TOP 3 RETURN source, target, label, score", "parameters": ["ann"]}`},
		{route: "POST /query", status: 200, body: `{"statement": "WHY $a -> 'dan'", "parameters": {"a": "ann"}}`},
		{route: "POST /query", status: 200, body: `{"statement": "DESCRIBE NODE 'dan'"}`},
		{route: "POST /query", status: 200, body: `{"statement": "NODES LABEL person TOP 1"}`},
		{route: "POST /query", status: 200, body: `{"statement": "NEIGHBORS OF ?", "parameters": [{"key": "8"}], "keys": "text"}`},
		{route: "POST /query", status: 200, body: `{"statement": "DESCRIBE NODE ?", "parameters": [{"key": 8}], "keys": null}`},
		{route: "POST /query", status: 400, body: `{"statement": "NODES", "more": 1}`},
		{route: "POST /query", status: 422, body: `{"statement": "NODES LABEL"}`},
		{route: "POST /query", status: 404, body: `{"statement": "DESCRIBE NODE 'eve'"}`},
		{route: "POST /query", status: 404, body: `{"statement": "PREDICT LINKS FOR 'ann' USING nope"}`},
		{route: "POST /query", status: 404, body: `{"statement": "DESCRIBE DECISION 5"}`},
		{route: "POST /query", status: 409, body: `{"statement": "INSERT NODE 'ann'"}`, with: trusted},
		{route: "POST /query", status: 410, body: `{"statement": "REWARD 1 = 1"}`, open: expired, with: trusted},
		{route: "POST /query", status: 400, body: `{"statement": 5}`},
		{route: "POST /query", status: 200, body: `{"statement": "INSERT NODE 1"}`, with: trusted},
		{route: "POST /query", status: 401, body: `{"statement": "INSERT NODE 1"}`},
		{route: "POST /query", status: 403, body: `{"statement": "LOAD EDGES FROM 'x'"}`, with: trusted},
		{route: "POST /query", status: 408, options: web.Options{BodyTimeout: 50 * time.Millisecond}, with: func(_ *testing.T, _ *db.DB, r *http.Request) {
			never, _ := io.Pipe()
			r.Body, r.ContentLength = never, -1
		}},
		{route: "POST /query", status: 413, body: check, options: web.Options{MaxBody: 1}},
		{route: "POST /query", status: 415, body: check, with: func(_ *testing.T, _ *db.DB, r *http.Request) {
			r.Header.Set("Content-Type", "text/plain")
		}},
		{route: "POST /query", status: 503, body: check, with: closed},
		{
			route: "POST /query", status: 504, body: `{"statement": "` + endless + `"}`,
			options: web.Options{Timeout: 300 * time.Millisecond},
		},
		{route: "GET /changes", status: 200, url: "?until=8", open: fed},
		{route: "GET /changes", status: 200, url: "?since=3&until=3", open: fed},
		{route: "GET /changes", status: 200, url: "?since=3&until=8&keys=text", open: fed},
		{route: "GET /changes", status: 400, url: "?keys=names", open: fed},
		{route: "GET /changes", status: 400, url: "?since=now", open: fed},
		{route: "GET /changes", status: 400, url: "?until=-1", open: fed},
		{route: "GET /changes", status: 400, url: "?since=2&until=1", open: fed},
		{route: "GET /changes", status: 422},
		{route: "GET /changes", status: 409, url: "?since=9", open: fed},
		{route: "GET /changes", status: 410, url: "?since=0", open: fed},
		{route: "GET /changes", status: 503, open: fed, with: closed},
		{route: "GET /stats", status: 200},
		{route: "GET /stats", status: 503, with: closed},
		{route: "GET /metrics", status: 200},
		{route: "GET /metrics", status: 503, with: closed},
		{route: "GET /openapi.json", status: 200},
		{route: "GET /openapi.json", status: 400, url: "?keys=names"},
		{route: "GET /complete", status: 200, url: "?text=PREDICT+"},
		{route: "GET /complete", status: 400, url: "?text=" + strings.Repeat("x", 1<<15)},
		{route: "GET /why", status: 200, url: "?source='ann'&target='dan'"},
		{route: "GET /why", status: 400, url: "?source='ann&target='dan'"},
		{route: "GET /why", status: 404, url: "?source='ann'&target='dan'&model=nope"},
		{route: "GET /why", status: 503, url: "?source='ann'&target='dan'", with: closed},
		{route: "GET /neighborhood", status: 200, url: "?node='ann'"},
		{route: "GET /neighborhood", status: 200, url: "?node='ann'&bare=true&where=degree+>+1"},
		{route: "GET /neighborhood", status: 400, url: "?node='ann'&width=wide"},
		{route: "GET /neighborhood", status: 422, url: "?node='ann'&where=degree+>"},
		{route: "GET /neighborhood", status: 404, url: "?node='nobody'"},
		{route: "GET /neighborhood", status: 503, url: "?node='ann'", with: closed},
		{route: "GET /chart/degrees", status: 200},
		{route: "GET /chart/degrees", status: 400, url: "?width=1e6"},
		{route: "GET /chart/degrees", status: 503, with: closed},
		{route: "GET /chart/rewards", status: 200, url: "?model=m"},
		{route: "GET /chart/rewards", status: 400, url: "?model=m&width=0"},
		{route: "GET /chart/rewards", status: 404, url: "?model=nope"},
		{route: "GET /chart/rewards", status: 503, url: "?model=m", with: closed},
		{route: "GET /chart/calibration", status: 200, url: "?model=m"},
		{route: "GET /chart/calibration", status: 400, url: "?model=m&width=0"},
		{route: "GET /chart/calibration", status: 404, url: "?model=nope"},
		{route: "GET /chart/calibration", status: 503, url: "?model=m", with: closed},
	}
}

// The handler answers what its description promises: each route, with each status.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Options{Token: token}.Handler(dbtest.Friends(t)))
	d := describe(t, url, "")
	all := append(examples(), verbExamples()...)
	for path, methods := range d.Paths {
		for method, operation := range methods {
			name := strings.ToUpper(method) + " " + path
			all = append(all, refused(name, operation.Security != nil)...)
			for status := range operation.Responses {
				if status != "default" && !slices.ContainsFunc(all, func(e example) bool { return e.route == name && fmt.Sprint(e.status) == status }) {
					t.Errorf("%s: no example has status %s", name, status)
				}
			}
		}
	}
	for i, e := range all {
		t.Run(fmt.Sprint(i, " ", e.route, " ", e.status), func(t *testing.T) {
			t.Parallel()
			d.check(t, e)
		})
	}
}

// refused returns requests to a route that are refused.
func refused(route string, secured bool) []example {
	all := []example{
		{route: route, status: 403, with: func(_ *testing.T, _ *db.DB, r *http.Request) { r.Host = "evil.example" }},
		{route: route, status: 403, with: func(_ *testing.T, _ *db.DB, r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
	}
	if secured {
		all = append(all, example{route: route, status: 401, with: func(_ *testing.T, _ *db.DB, r *http.Request) {
			r.Header.Set("Authorization", "Bearer wrong")
		}})
	}
	return all
}

func describe(t *testing.T, url, parameters string) (d described) {
	t.Helper()
	r, err := http.Get(url + "/openapi.json" + parameters)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check sends the request of an example to a handler and compares both bodies with their schemas.
func (d *described) check(t *testing.T, e example) {
	if e.open == nil {
		e.open = dbtest.Friends
	}
	g := e.open(t)
	e.options.Token = token
	_, url := serve(t, e.options.Handler(g))
	method, path, _ := strings.Cut(e.route, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, url+path+e.url, strings.NewReader(e.body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.with != nil {
		e.with(t, g, r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != e.status {
		t.Fatalf("status %s, want %d: %s, %v", answer.Status, e.status, body, err)
	}
	operation := d.Paths[path][strings.ToLower(method)]
	if e.status == http.StatusOK && e.body != "" {
		d.matches(t, "request", operation.RequestBody.Content["application/json"].Schema, []byte(e.body))
	}
	kind := answer.Header.Get("Content-Type")
	content, ok := operation.Responses[fmt.Sprint(e.status)].Content[kind]
	switch bare, _, _ := mime.ParseMediaType(kind); {
	case !ok:
		t.Errorf("Content-Type %s is not described", kind)
	case bare == "application/jsonl":
		for line := range bytes.Lines(bytes.TrimLeft(body, "\n")) {
			d.matches(t, "answer", content.Schema, line)
		}
	case bare == "application/json":
		d.matches(t, "answer", content.Schema, body)
	}
}

func (d *described) matches(t *testing.T, what string, s map[string]any, text []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s %s: %v", what, text, err)
	}
	if err := d.fault(s, v); err != nil {
		t.Errorf("%s %s: %v", what, text, err)
	}
}

// fault returns an error unless a value has a schema. It knows the keywords that the description
// uses.
func (d *described) fault(s map[string]any, v any) error {
	for keyword, operand := range s {
		var err error
		switch keyword {
		case "$ref":
			name := strings.TrimPrefix(operand.(string), "#/components/schemas/")
			err = d.fault(d.Components.Schemas[name].(map[string]any), v)
		case "type":
			if kinds, ok := operand.([]any); !hasType(v, operand) && (!ok || !slices.ContainsFunc(kinds, func(k any) bool { return hasType(v, k) })) {
				err = fmt.Errorf("%v is not of type %v", v, operand)
			}
		case "required":
			for _, name := range operand.([]any) {
				if members, _ := v.(map[string]any); !has(members, name.(string)) {
					err = fmt.Errorf("%v lacks %v", v, name)
				}
			}
		case "properties":
			err = d.membersFault(s, v)
		case "items":
			list, _ := v.([]any)
			for _, x := range list {
				if err == nil {
					err = d.fault(operand.(map[string]any), x)
				}
			}
		case "enum":
			if !slices.Contains(operand.([]any), v) {
				err = fmt.Errorf("%v is none of %v", v, operand)
			}
		case "anyOf":
			for _, choice := range operand.([]any) {
				if err = d.fault(choice.(map[string]any), v); err == nil {
					break
				}
			}
		case "additionalProperties":
			of, _ := operand.(map[string]any) // of a map
			members, _ := v.(map[string]any)
			for _, x := range members {
				if of != nil && err == nil {
					err = d.fault(of, x)
				}
			}
		case "description", "format", "default":
		default:
			err = fmt.Errorf("the keyword %s is not known", keyword)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func has(m map[string]any, name string) bool {
	_, ok := m[name]
	return ok
}

// membersFault returns an error unless the members of an object have the schemas of the properties.
func (d *described) membersFault(s map[string]any, v any) error {
	properties := s["properties"].(map[string]any)
	members, _ := v.(map[string]any)
	for name, x := range members {
		switch p, known := properties[name]; {
		case known:
			if err := d.fault(p.(map[string]any), x); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		case s["additionalProperties"] == false:
			return fmt.Errorf("%s is not described", name)
		}
	}
	return nil
}

// hasType reports whether a JSON value has a type of JSON schema.
func hasType(v, kind any) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	}
	return false
}

// A path or a method without a route is an error in JSON like every other.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Handler(dbtest.Friends(t)))
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/nothing", 404, "openapi.json"},
		{"GET", "//stats", 404, "openapi.json"},
		{"GET", "/x/../stats", 404, "openapi.json"},
		{"GET", "/stats/", 404, "openapi.json"},
		{"GET", "/%2e%2e/stats", 404, "openapi.json"},
		{"GET", "/query", 405, "must be POST"},
		{"DELETE", "/stats", 405, "must be GET, HEAD"},
		{"OPTIONS", "/query", 405, "must be POST"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var line struct{ Error struct{ Message string } }
		if err := json.NewDecoder(answer.Body).Decode(&line); err != nil || answer.StatusCode != c.status || !strings.Contains(line.Error.Message, c.want) {
			t.Errorf("%s %s: %s, %v, %v", c.method, c.path, answer.Status, line, err)
		}
	}
}
