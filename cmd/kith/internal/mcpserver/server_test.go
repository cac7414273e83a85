package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// With -update, the expected list of tools is replaced by the actual one.
var update = flag.Bool("update", false, "rewrite testdata/tools*.json")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect serves a database in memory and returns a client.
func connect(t *testing.T, s Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, here) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		cancel()
	})
	return client
}

// textOf returns the text of an answer.
func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d contents", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// TestList compares the tools with testdata, so that a change of a name, a description or a schema
// is seen.
func TestList(t *testing.T) {
	t.Parallel()
	for _, write := range []bool{false, true} {
		client := connect(t, Server{DB: dbtest.Friends(t), Write: write})
		list, err := client.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.MarshalIndent(struct {
			Instructions []string
			Tools        []*mcp.Tool
		}{strings.Split(client.InitializeResult().Instructions, "\n"), list.Tools}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		name := filepath.Join("testdata", fmt.Sprintf("tools_write_%t.json", write))
		if *update {
			if err := os.WriteFile(name, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCalls calls tools through a client. Each answer has the schema that its tool promises.
func TestCalls(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/calls", func(t *testing.T, path string) {
		client := connect(t, Server{DB: dbtest.Friends(t), Write: strings.HasSuffix(path, "write")})
		promised := schemas(t, client)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: d.Cmd, Arguments: json.RawMessage(d.Input)})
			if err != nil {
				return "protocol error: " + err.Error()
			}
			if r.IsError {
				return "error: " + textOf(t, r)
			}
			if err := promised[d.Cmd].Validate(r.StructuredContent); err != nil {
				t.Errorf("%s: %v", d.Pos, err)
			}
			return textOf(t, r)
		})
	})
}

// TestOptionsOfLanguage checks that each clause and option about relations and properties that a
// statement has is an argument of the tool that runs the statement.
func TestOptionsOfLanguage(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	arguments := map[string][]string{ // of a word of the grammar or a name of an option
		"relation FOR": {"relation"}, "-[relation]->": {"relation"}, "INVERSE": {"inverse"}, "VIA": {"via"}, "WITHIN": {"within"},
		"sets": {"candidates"}, "WHERE": {"where"}, "relation_weights": {"relation_weights"}, "RETURN": {"properties"},
	}
	sets := []string{"depth", "label", "candidates", "via", "near", "except_via", "except_within"}
	for name, statement := range map[string]string{
		"predict_links": "PREDICT LINKS", "why": "WHY", "neighbors": "NEIGHBORS", "rank_nodes": "RANK NODES", "observe": "OBSERVE",
		"evaluate": "EVALUATE HOLDOUT",
	} {
		help, err := query.Run(t.Context(), g, "HELP "+statement)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, row := range help.Rows[:slices.IndexFunc(help.Rows, func(row []any) bool { return row[0] == "columns" })] {
			fmt.Fprintln(&text, row...) // without the rules of the terms
		}
		i := slices.IndexFunc(tools(), func(listed tool) bool { return listed.name == name })
		has := names(tools()[i].arguments)
		for word, needs := range arguments {
			if !strings.Contains(text.String(), word) {
				continue
			}
			if word == "sets" && name != "observe" { // which lists what was shown
				needs = sets
			}
			for _, argument := range needs {
				if !slices.Contains(has, argument) {
					t.Errorf("%s lacks %s: %s has %s", name, argument, statement, word)
				}
			}
		}
	}
}

// The tool rules lists what a training has learned, and why says which rules lead to a link.
func TestRules(t *testing.T) {
	t.Parallel()
	s := Server{DB: dbtest.Camps(t), Write: true}
	if _, err := s.DB.Model("default").Train(t.Context(), db.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	const rule = "likes(X, Y) <- follows(X, Z), likes(Z, Y)"
	for i, answer := range exchange(t, s,
		`{"name":"rules","arguments":{"relation":"likes"}}`,
		`{"name":"rules","arguments":{"relation":"likes","inverse":true,"model":"default","top":1}}`,
		`{"name":"predict_links","arguments":{"node":5,"relation":"likes","top":1}}`,
		`{"name":"rules","arguments":{"relation":"like"}}`,
	) {
		if want := []string{rule, `likes(X, Y) <- `, `post 1`, `likes`}[i]; !strings.Contains(answer, jsonText(want)) {
			t.Errorf("%s\nlacks %s", answer, want)
		}
	}
	target := exchange(t, s, `{"name":"predict_links","arguments":{"node":5,"relation":"likes","top":1}}`)[0]
	target = target[strings.Index(target, `"target":"`):]
	target = strings.Split(target, `"`)[3]
	why := exchange(t, s, fmt.Sprintf(`{"name":"why","arguments":{"source":5,"relation":"likes","detail":true,"target":%q}}`, target))[0]
	for _, want := range []string{`"part":"rule"`, `"part":"because"`, jsonText("5 -[")} {
		if !strings.Contains(why, want) {
			t.Errorf("%s\nlacks %s", why, want)
		}
	}
}

// jsonText returns a text as JSON has it within a string.
func jsonText(s string) string {
	b, _ := json.Marshal(s) // of a string never fails
	return string(b[1 : len(b)-1])
}

// schemas returns the schema of the answers of each tool.
func schemas(t *testing.T, client *mcp.ClientSession) map[string]*jsonschema.Resolved {
	t.Helper()
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		var s jsonschema.Schema
		text, err := json.Marshal(tool.OutputSchema)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err == nil {
			all[tool.Name], err = s.Resolve(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// exchange sends requests of tools to a server, ends the input and returns the answers by the
// number of the request.
func exchange(t *testing.T, s Server, calls ...string) (answers []string) {
	t.Helper()
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for i, c := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i+1, c)
	}
	var out bytes.Buffer
	if err := s.Serve(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	answers = make([]string, len(calls)+1)
	for line := range strings.Lines(out.String()) {
		var m struct{ ID int }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		answers[m.ID] = line
	}
	return answers[1:]
}

// TestLargeKeys checks that keys above 2^53, which differ only beyond the precision of a float64,
// stay apart in both directions: answers have them as text, and arguments accept it.
func TestLargeKeys(t *testing.T) {
	t.Parallel()
	s := Server{DB: dbtest.Friends(t), Write: true}
	for _, c := range []string{
		`{"name":"insert","arguments":{"links":[{"source":9007199254740992,"target":"even"},{"source":9007199254740993,"target":"odd"}]}}`,
		`{"name":"insert","arguments":{"links":[{"source":"odd","target":9223372036854775807}]}}`,
	} {
		exchange(t, s, c)
	}
	for i, answer := range exchange(t, s,
		`{"name":"neighbors","arguments":{"node":9007199254740993}}`,
		`{"name":"run_statement","arguments":{"statement":"NEIGHBORS OF ?","parameters":[9007199254740993]}}`,
		`{"name":"neighbors","arguments":{"node":"odd"}}`,
		`{"name":"predict_links","arguments":{"node":9007199254740993,"candidates":[9223372036854775807]}}`,
		`{"name":"rank_nodes","arguments":{"nodes":["9007199254740993", "9223372036854775807"]}}`,
		`{"name":"describe","arguments":{}}`,
		`{"name":"run_statement","arguments":{"statement":"DESCRIBE NODE 9007199254740993"}}`,
	) {
		for _, want := range [][]string{{`"target":"odd"`}, {`"source":"9007199254740993","target":"odd"`}, {`"target":"9007199254740993"`, `"target":"9223372036854775807"`},
			{`"target":"9223372036854775807"`}, {`"node":"9007199254740993"`, `"node":"9223372036854775807"`}, {`"node":"7"`, `"node":"ann"`}, {`"value":"9007199254740993"`}}[i] {
			if !strings.Contains(answer, want) {
				t.Errorf("%s\nlacks %s", answer, want)
			}
		}
	}
}

// TestMessagesWithoutGo checks that no message speaks of types of Go, and that nothing of an
// argument is changed without a word.
func TestMessagesWithoutGo(t *testing.T) {
	t.Parallel()
	s := Server{DB: dbtest.Friends(t), Write: true}
	goWords := regexp.MustCompile(`<nil>|float64|int64|map\[|interface|unmarshal|strconv|json:|\(string\)|reflect|exact\.|db:|index:`)
	var calls []string
	for _, tool := range tools() {
		for _, v := range []string{`null`, `true`, `1.5`, `7`, `"x"`, `""`, `[]`, `[null]`, `{}`, `[{"a":null}]`, `1e999`, `99999999999999999999`, `"\ud800x"`, `["\udc00"]`, `"'x"`} {
			for _, f := range tool.arguments {
				given := []string{fmt.Sprintf("%q:%s", f.name, v)}
				for _, other := range tool.arguments {
					if other.required && other.name != f.name {
						given = append(given, fmt.Sprintf("%q:%s", other.name, map[bool]string{true: `["ann"]`, false: `"ann"`}[other.is.isList()]))
					}
				}
				calls = append(calls, fmt.Sprintf(`{"name":%q,"arguments":{%s}}`, tool.name, strings.Join(given, ",")))
			}
		}
	}
	for i, answer := range exchange(t, s, calls...) {
		var m struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(answer), &m); err != nil || len(m.Result.Content) == 0 {
			t.Errorf("%s: %s, %v", calls[i], answer, err)
			continue
		}
		text := m.Result.Content[0].Text
		if m.Result.IsError && goWords.MatchString(text) {
			t.Errorf("%s: %s", calls[i], text)
		}
		if strings.Contains(calls[i], `\u`) && (!m.Result.IsError || !strings.Contains(text, "is half of a surrogate pair")) {
			t.Errorf("%s: %s", calls[i], text)
		}
	}
	if s, err := s.DB.Stats(); err != nil || s.Nodes > 20 {
		t.Errorf("%d nodes, %v", s.Nodes, err)
	}
}

// endless is a call that takes forever.
const endless = `{"name":"run_statement","arguments":{"statement":"EVALUATE PREDICT LINKS FOR ALL USING default ON HOLDOUT 0.1 WITH (epochs = 1000000000)"}}`

// community returns a database with enough edges for an evaluation.
func community(t *testing.T, people int) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i := range people {
			for _, step := range []int{1, 2, 5, 9} {
				if err := tx.PutEdge(i, (i+step)%people); err != nil {
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

// TestCancel checks that a client that cancels a call ends its statement, and that the server goes
// on.
func TestCancel(t *testing.T) {
	t.Parallel()
	here, there := mcp.NewInMemoryTransports()
	h := &handler{Server: Server{DB: community(t, 100), Timeout: time.Hour}, ctx: t.Context(), slots: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() { ended <- h.protocol().Run(t.Context(), here) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	var params mcp.CallToolParams
	if err := json.Unmarshal([]byte(endless), &params); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(h.slots) == 0 { // until the statement runs
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if r, err := client.CallTool(ctx, &params); err == nil {
		t.Errorf("%s", textOf(t, r))
	}
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "neighbors", Arguments: map[string]any{"node": 0}}) // waits for the only slot
	if err != nil || r.IsError {
		t.Errorf("%v, %v", r, err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}

// TestBounds checks that a statement ends after the timeout, and at the end of the server, and what
// the answer says.
func TestBounds(t *testing.T) {
	t.Parallel()
	g := community(t, 100)
	answer := exchange(t, Server{DB: g, Timeout: 50 * time.Millisecond}, endless)[0]
	if want := "the call took longer than 50ms"; !strings.Contains(answer, want) || !strings.Contains(answer, `"isError":true`) {
		t.Errorf("%s\nlacks %s", answer, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := &handler{Server: Server{DB: g, Timeout: time.Hour}, ctx: ctx, slots: make(chan struct{}, 1)}
	cancel()
	var params mcp.CallToolParamsRaw
	if err := json.Unmarshal([]byte(endless), &params); err != nil {
		t.Fatal(err)
	}
	statement := slices.IndexFunc(tools(), func(t tool) bool { return t.name == runStatement })
	if text := textOf(t, h.handle(t.Context(), &tools()[statement], params.Arguments, nil)); text != "the call was cancelled" {
		t.Errorf("%q", text)
	}
}

// TestEnd checks that the end of the context ends the server although its input is open.
func TestEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Server{DB: dbtest.Friends(t)}.Serve(ctx, in, io.Discard) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	feed.Close()
}

// TestReadOnly checks that nothing changes the database or the disk without Write.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	g := dbtest.Friends(t)
	state := func() string {
		var all strings.Builder
		for _, statement := range []string{"SHOW STATS", "SHOW MODELS", "SHOW VERSIONS OF m", "SHOW DECISIONS", "SHOW LABELS", "NODES"} {
			r, err := query.Run(t.Context(), g, statement)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&all, r.Rows)
		}
		return all.String()
	}
	before := state()
	client := connect(t, Server{DB: g})
	refused := 0
	call := func(name string, arguments any) {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil || r.IsError {
			refused++
		}
	}
	hostile := []string{
		"INSERT EDGES 1 -> 2", "insert edges 1 -> 2;", " /* */ INSERT NODE 1", "MERGE NODE 1 LABEL x", "DELETE NODE 'ann'", "ERASE NODE 'ann'", "DELETE EDGES 'ann' -> 'bob'",
		"OBSERVE 'ann' -> 'dan' = 1 USING m AND INSERT", "CHOOSE LINK FOR 'ann' AMONG ALL USING m", "REWARD 1 = 1", "CREATE MODEL x", "TRAIN MODEL m",
		"DEPLOY MODEL m VERSION 1", "ROLLBACK MODEL m", "FREEZE MODEL m", "DROP MODEL m", "LOAD EDGES FROM 'x.csv'", "EXPORT EDGES TO 'x.csv'",
		"EXPORT LOG TO 'x.csv'", "EXPORT MODEL m TO 'x'", "IMPORT MODEL y FROM 'x'", "BACKUP TO 'x'", "PROFILE INSERT EDGES 1 -> 2", "PROFILE BACKUP TO 'x'",
		"INSERT EDGES 1 -> 2; INSERT EDGES 3 -> 4", "SHOW STATS; INSERT EDGES 1 -> 2",
		"EVALUATE PREDICT LINKS FOR ALL ON SPLIT '/etc/passwd'", "COMMIT", "BEGIN",
	}
	for _, statement := range hostile {
		call(runStatement, map[string]any{"statement": statement})
	}
	call(runStatement, map[string]any{"statement": "INSERT EDGES ? -> ?", "parameters": []any{1, 2}})
	for _, tool := range writingTools() {
		call(tool.name, map[string]any{"source": "ann", "target": "dan", "reward": 1, "insert": true, "model": "m"})
	}
	call("insert", map[string]any{"links": []any{map[string]any{"source": 1, "target": 2}}})
	call("predict_links", map[string]any{"node": "ann", "model": `m"; DROP MODEL m; --`})
	call("predict_links", map[string]any{"node": "ann", "label": "x' UNION ALL"})
	if want := len(hostile) + 6; refused != want {
		t.Errorf("%d calls were refused, want %d", refused, want)
	}
	for _, tool := range readingTools() {
		call(tool.name, map[string]any{})
		call(tool.name, map[string]any{"node": "ann", "source": "ann", "target": "dan", "nodes": []any{"ann"}})
	}
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}
}
