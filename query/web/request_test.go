package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// A program whose numbers are those of JavaScript gets all digits of a node as text, and sends them
// back.
func TestKeysAsText(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	const big = 1<<53 + 1
	if err := g.Update(t.Context(), func(tx *db.Tx) error {
		for _, dst := range []any{big, big - 1, fmt.Sprint(big), "ann", "'quoted'", -7} {
			if err := tx.PutEdge("hub", dst); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, web.Handler(g))
	column := func(i int, request map[string]any) (nodes []any) {
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := post(t, url, string(body))
		if status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", body, status, answer)
		}
		for line := range strings.Lines(answer) {
			var l struct{ Row []any }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l.Row != nil {
				nodes = append(nodes, l.Row[i])
			}
		}
		return nodes
	}
	nodes := column(1, map[string]any{"keys": "text", "statement": "NEIGHBORS OF 'hub'"})
	if got, want := fmt.Sprint(nodes), "[9007199254740993 9007199254740992 '9007199254740993' ann '''quoted''' -7]"; got != want {
		t.Errorf("nodes %v, want %v", got, want)
	}
	for _, node := range nodes {
		path := column(1, map[string]any{"statement": "PATH FROM ? TO 'hub'", "keys": "text", "parameters": []any{map[string]any{"key": node}}})
		if len(path) != 2 || path[0] != node {
			t.Errorf("%v: the path begins with %v", node, path)
		}
	}
	for body, want := range map[string]string{
		`{"statement": "DESCRIBE NODE 9007199254740993", "keys": "text"}`:                                     `{"key":"9007199254740993"}`,
		`{"statement": "DESCRIBE NODE ?", "parameters": [{"key": 9007199254740993}], "keys": "json"}`:         `{"key":9007199254740993}`,
		`{"statement": "DESCRIBE NODE $n", "parameters": {"n": {"key": "9007199254740993"}}, "keys": "text"}`: `{"key":"9007199254740993"}`,
		`{"statement": "DESCRIBE NODE ?", "parameters": ["9007199254740993"], "keys": "text"}`:                `{"key":"'9007199254740993'"}`,
	} {
		if status, answer := post(t, url, body); status != http.StatusOK || !strings.Contains(answer, want) {
			t.Errorf("%s: status %d, %s, want %s", body, status, answer, want)
		}
	}
}

// goWords are what a message has if Go made it and not kith.
var goWords = regexp.MustCompile(`<nil>|float64|int64|map\[|interface|unmarshal|strconv|json:|\(string\)|\[\]|main\.|reflect|db:|index:`)

// No message speaks of types of Go, whatever a client sends.
func TestMessagesWithoutGo(t *testing.T) {
	t.Parallel()
	_, address := serve(t, web.Options{Token: token}.Handler(dbtest.Friends(t)))
	values := []string{`null`, `true`, `1.5`, `7`, `"x"`, `""`, `[]`, `[null]`, `[[1]]`, `{}`, `{"key": null}`, `{"key": [1]}`, `1e999`, `99999999999999999999`, `"\u0000"`}
	statements := []string{
		"NEIGHBORS OF ?", "NODES TOP ?", "PREDICT LINKS FOR 'ann' AMONG ?", "PREDICT LINKS FOR 'ann' AMONG (?)", "RANK NODES FOR ?", "RANK NODES FOR (?)", "PATH FROM ? TO 7",
		"PREDICT LINKS FOR 'ann' AMONG ALL WHERE score > ?", "PREDICT LINKS FOR 'ann' AMONG ALL WHERE label = ?", "PREDICT LINKS FOR 'ann' AMONG ALL WHERE target IN (?)",
		"INSERT EDGES 'ann' -> ?", "INSERT EDGES 'ann' -> 'bob' WEIGHT ?", "INSERT EDGES 'ann' -> 'bob' AT ?", "INSERT NODE 'n' FEATURES [?]", "OBSERVE 'ann' -> 'dan' = ?",
		"UPDATE NODE 'ann' SET price = ?", "UPDATE NODE ? SET price = 1", "NODES WHERE price < ?", "NODES WHERE price IN (?)", "NODES WHERE ? IN tags",
		"PREDICT LINKS FOR 'ann' AMONG NEAR(?, 3)", "PREDICT LINKS FOR 'ann' AMONG ALL EXCEPT NEIGHBORS WITHIN ?", "RANK NODES FOR NEAR(?, ?)",
		"REWARD ? = 1", "PREDICT LINKS FOR 'ann' WITH (alpha = ?)", "CHOOSE LINK FOR 'ann' AMONG ALL TTL ?", "DESCRIBE DECISION ?",
	}
	var bodies []string
	for _, v := range values {
		bodies = append(bodies, v, `{"statement": `+v+`}`, `{"statement": "NODES", "parameters": `+v+`}`, `{"statement": "NODES", "keys": `+v+`}`, `{"statement": "NODES", "x": `+v+`}`)
		for _, s := range statements {
			bodies = append(bodies, fmt.Sprintf(`{"statement": %q, "parameters": [%s]}`, s, v))
		}
	}
	check := func(what string, status int, text string) {
		var l struct {
			Error struct{ Text, Message string }
		}
		if status >= 400 && (json.Unmarshal([]byte(text), &l) != nil || goWords.MatchString(l.Error.Text+l.Error.Message)) {
			t.Errorf("%s: status %d: %s", what, status, text)
		}
		if status >= 500 {
			t.Errorf("%s: status %d: %s", what, status, text)
		}
	}
	for _, body := range bodies {
		status, _, text := send(t, address, "Bearer "+token, body)
		check(body, status, text)
	}
	for path, bodies := range map[string][]string{
		"/predict": {
			`{"source": %s}`, `{"source": "ann", "candidates": %s}`, `{"source": "ann", "candidates": [%s]}`, `{"source": "ann", "candidates": {"label": %s}}`,
			`{"source": "ann", "candidates": {"neighbors": %s}}`, `{"source": "ann", "candidates": {"near": {"vector": [%s], "nodes": 3}}}`,
			`{"source": "ann", "except": {"all": %s}}`, `{"source": "ann", "where": %s}`, `{"source": "ann", "where": [{"of": "degree", "op": "<", "value": %s}]}`,
			`{"source": "ann", "where": [{"of": %s, "op": "=", "value": 1}]}`, `{"source": "ann", "where": [{"of": "node", "op": %s}]}`,
			`{"source": "ann", "model": %s}`, `{"source": "ann", "relation": %s}`, `{"source": "ann", "time": %s}`, `{"source": "ann", "properties": %s}`,
			`{"source": "ann", "keys": %s}`,
		},
		"/choose":  {`{"source": "ann", "places": %s}`, `{"source": "ann", "explore": %s}`, `{"source": "ann", "gamma": %s}`, `{"source": "ann", "explore": "epsilon_greedy", "epsilon": %s}`, `{"source": "ann", "ttl": %s}`},
		"/reward":  {`{"decision": %s, "reward": 1}`, `{"decision": 1, "reward": %s}`, `{"decision": 1, "rewards": %s}`, `{"decision": 1, "reward": 1, "examined": %s}`},
		"/observe": {`{"source": "ann", "target": %s, "reward": 1}`, `{"source": "ann", "target": "bob", "reward": %s}`, `{"source": "ann", "target": "bob", "reward": 1, "id": %s}`},
		"/why":     {`{"source": "ann", "target": %s}`},
		"/nodes": {
			`{"nodes": %s}`, `{"nodes": [%s]}`, `{"nodes": [{"node": %s}]}`, `{"nodes": [{"node": 1, "features": %s}]}`, `{"nodes": [{"node": 1, "properties": {"p": %s}}]}`,
			`{"nodes": [{"node": 1, "properties": {"q": {"time": %s}}}]}`, `{"nodes": [{"node": 1, "label": %s}]}`,
		},
		"/edges": {`{"edges": [{"source": %s, "target": 1}]}`, `{"edges": [{"source": 1, "target": 2, "weight": %s}]}`, `{"edges": [{"source": 1, "target": 2, "relation": %s}]}`},
	} {
		for _, body := range bodies {
			for _, v := range values {
				status, text := posted(t, address, path, fmt.Sprintf(body, v))
				check(path+" "+fmt.Sprintf(body, v), status, string(text))
			}
		}
	}
	for _, v := range []string{"", "'", "'x", "1.5", "99999999999999999999", "\x00", "\xff", "null", "-1"} {
		v = url.QueryEscape(v)
		for _, path := range []string{
			"/why?source=%s&target='dan'", "/why?source='ann'&target=%s", "/why?source='ann'&target='dan'&model=%s", "/neighborhood?node=%s",
			"/neighborhood?node='ann'&width=%s", "/chart/degrees?width=%s", "/chart/rewards?model=%s", "/chart/calibration?model=m&width=%s", "/complete?text=%s",
			"/changes?since=%s&until=0", "/changes?until=%s",
		} {
			status, text := fetch(t, address+fmt.Sprintf(path, v))
			check(path+" "+v, status, text)
		}
	}
}

// A time that is not in the years of a database is refused, and the answer says what it may have
// meant.
func TestTimesOfRequests(t *testing.T) {
	t.Parallel()
	_, address := serve(t, web.Options{Token: token}.Handler(dbtest.Friends(t)))
	for at, status := range map[string]int{"1700000000": 200, `"2026-11-27"`: 200, "1700000000123": 422, "1e300": 422, `"12026-11-27"`: 422} {
		body := `{"statement": "MERGE EDGES ? -> ? AT ?", "parameters": ["ann", "bob", ` + at + `]}`
		got, _, answer := send(t, address, "Bearer "+token, body)
		if got != status || status != 200 && !strings.Contains(answer, "1:23: ") || at == "1700000000123" && !strings.Contains(answer, "in milliseconds since 1970 it is 1700000000") {
			t.Errorf("%s: status %d, want %d: %s", body, got, status, answer)
		}
	}
}
