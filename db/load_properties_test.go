package db_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db/edgelist/parquet"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

// valued returns the nodes with their labels and properties, sorted.
func valued(t *testing.T, g *db.DB) string {
	t.Helper()
	var all []string
	view(t, g, func(tx *db.Tx) error {
		for n := range tx.Nodes() {
			text := n.Key.Literal() + " " + n.Label
			var values []string
			for name, v := range n.Properties {
				if at, isTime := v.(time.Time); isTime {
					v = at.Format(time.RFC3339Nano)
				}
				values = append(values, fmt.Sprintf("%s=%T:%v", name, v, v))
			}
			slices.Sort(values)
			all = append(all, text+" "+strings.Join(values, " "))
		}
		return nil
	})
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// The further columns of a list of nodes become properties of the types of their values.
func TestLoadNodesWithProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		o    edgelist.PropertyOptions
		want string
	}{
		"types": {text: "id,label,stock,price,hidden,at,name\na,post,3,1.5,true,2026-11-01,x\nb,,-4,2,FALSE,2026-11-01T10:00:00.5+02:00,\nc\n",
			want: "'a' post at=string:2026-11-01T00:00:00Z hidden=bool:true name=string:x price=float64:1.5 stock=int64:3; " +
				"'b'  at=string:2026-11-01T08:00:00.5Z hidden=bool:false price=float64:2 stock=int64:-4; 'c'  "},
		"the whole list decides": {text: "id,label,a,b,c,zip\n1,x,1,1,true,02139\n2,x,2.5,n/a,0,10001\n",
			want: "1 x a=float64:1 b=string:1 c=string:true zip=string:02139; 2 x a=float64:2.5 b=string:n/a c=string:0 zip=string:10001"},
		"types of the header": {text: "id,label,a:float,b:string,c:boolean,d:string[],e:IGNORE\n1,x,1,1,0,s|t,9\n2,x,2,\"\",1,,9\n",
			want: "1 x a=float64:1 b=string:1 c=bool:false d=[]string:[s t]; 2 x a=float64:2 b=string: c=bool:true"},
		"types of an option": {text: "id,label,a,tags\n1,x,1,s; t\n2,x,2,u\\;v\n", o: edgelist.PropertyOptions{Types: edgelist.PropertyTypes{"a": edgelist.StringType, "tags": edgelist.ListType}},
			want: "1 x a=string:1 tags=[]string:[s t]; 2 x a=string:2 tags=[]string:[u;v]"},
		"a separator makes lists": {text: "id\tlabel\ta\tb\n1\tx\ts, t\tu\n2\tx\tv\tw\n", o: edgelist.PropertyOptions{ListSeparator: ","},
			want: "1 x a=[]string:[s t] b=string:u; 2 x a=[]string:[v] b=string:w"},
		"meanings of columns": {text: "name,sku,kind,score,junk\nn,7,k,5,j\n", o: edgelist.PropertyOptions{
			NodeColumns: edgelist.NodeColumns{"sku": "node", "kind": "sort", "score": "points"}, Skip: edgelist.ColumnNames{"5"}},
			want: "7  name=string:n points=int64:5 sort=string:k"},
		"a header without usual names":  {text: "who,price,lang\nann,1,de\nbob,2,en\n", want: "'ann'  lang=string:de price=int64:1; 'bob'  lang=string:en price=int64:2"},
		"one other column is the label": {text: "id,price\n1,2\n", want: "1 2 "},
		"unless it has a type":          {text: "id,price:float\n1,2\n", want: "1  price=float64:2"},
		"a repeated node":               {text: "id,label,a,b\n1,x,1,2\n1,,3,\n", want: "1 x a=int64:3 b=int64:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := dbtest.Open(t, inMemory)
			_, err := g.LoadNodes(context.Background(), strings.NewReader(c.text), db.LoadNodesOptions{PropertyOptions: c.o})
			must(t, err)
			if got := valued(t, g); got != c.want {
				t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

// A column has the type of the property. Only integers become floats.
func TestLoadNodesWithKnownProperties(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error {
		return tx.PutNode(db.Node{Key: db.Int(0), Properties: map[string]any{"a": 1, "b": 1, "c": "x", "d": 1.5}})
	})
	_, err := g.LoadNodes(ctx, strings.NewReader("id,label,a,b,c,d\n1,x,2,2,2,2\n2,x,3,2.5,true,3\n"), db.LoadNodesOptions{})
	must(t, err)
	want := "0  a=int64:1 b=float64:1 c=string:x d=float64:1.5; 1 x a=int64:2 b=float64:2 c=string:2 d=float64:2; " +
		"2 x a=int64:3 b=float64:2.5 c=string:true d=float64:3"
	if got := valued(t, g); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = g.LoadNodes(ctx, strings.NewReader("id,label,a\n1,x,2\n2,x,many\n"), db.LoadNodesOptions{})
	if wantError(t, "a word among integers", err, db.ErrLines); !strings.Contains(fmt.Sprint(err), `column a: "many" is not an integer`) {
		t.Error(err)
	}
}

// A column that cannot be a property is refused with the option that reads the list, a value that
// does not fit is a malformed line, and nothing changes.
func TestLoadNodesWithBadProperties(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error {
		return tx.PutNode(db.Node{Key: db.Str("old"), Properties: map[string]any{"price": 1.5, "tags": []string{"a"}}})
	})
	before := valued(t, g)
	many := "id,label"
	for i := range 4095 {
		many += fmt.Sprintf(",p%d", i)
	}
	for name, c := range map[string]struct {
		text, want string
		o          edgelist.PropertyOptions
		is         error
	}{
		"reserved":             {text: "id,label,score\n1,x,2\n", want: `column "score": a property cannot have the name "score", which means something else in a condition (otherwise: columns = 'my_score=score', skip = 'score')`, is: db.ErrInput},
		"twice":                {text: "id,label,a,a\n1,x,2,3\n", want: `columns "a" and "a" are both property "a" (otherwise: columns = 'a2=4', skip = '4')`, is: db.ErrInput},
		"another type":         {text: "id,label,price:string\n1,x,2\n", want: `column "price:string" has values of type string, and property "price" is of type float already`, is: db.ErrInput},
		"another value":        {text: "id,label,price\n1,x,2\n2,x,cheap\n", want: `line 3: column price: "cheap" is not a float`, is: db.ErrLines},
		"not a number":         {text: "id,label,weight\n1,x,2\n2,x,NaN\n", want: `column weight: "NaN" is not a finite number; an empty field sets no value`, is: db.ErrLines},
		"too many names":       {text: many + "\n1,x\n", want: "at most 4096 properties", is: db.ErrInput},
		"too many columns":     {text: "id,label,a\n1,x,2,3\n", want: "columns: found 4, the header has 3", is: db.ErrLines},
		"no such column":       {text: "id,label,a\n1,x,2\n", o: edgelist.PropertyOptions{Skip: edgelist.ColumnNames{"b"}}, want: `skip: no column is called "b"; the header has id, label, a`, is: db.ErrInput},
		"no such property":     {text: "id,label,a\n1,x,2\n", o: edgelist.PropertyOptions{Types: edgelist.PropertyTypes{"b": edgelist.BoolType}}, want: `no column is property "b"`, is: db.ErrInput},
		"without a header":     {text: "1,x\n", o: edgelist.PropertyOptions{Types: edgelist.PropertyTypes{"b": edgelist.BoolType}}, want: "a list of nodes with a header (otherwise: header = 'on')", is: db.ErrInput},
		"different tags":       {text: "id,label,tags\n1,x," + manyTags(100000) + "\n", want: "a list of 100000 strings; at most 1000 are accepted", is: db.ErrLines},
		"an odd truth":         {text: "id,label,b:bool\n1,x,maybe\n", want: `column b:bool: "maybe" is not a bool, as true and false are`, is: db.ErrLines},
		"a date of no month":   {text: "id,label,day\n1,x,2026-02-01\n2,x,2026-02-30\n", want: `line 3: column day: "2026-02-30" is not a time, as 2006-01-02 or 2006-01-02T15:04:05Z are: "2,x,2026-02-30"; try types = 'day:string'`, is: db.ErrLines},
		"a clock of 25 hours":  {text: `{"id": 1, "seen": "2026-02-01 10:00"}` + "\n" + `{"id": 2, "seen": "2026-02-01 25:00"}` + "\n", want: `line 2: column seen: "2026-02-01 25:00" is not a time`, is: db.ErrLines},
		"an odd time":          {text: "id,label,b:date\n1,x,yesterday\n", want: `is not a time, as 2006-01-02`, is: db.ErrLines},
		"an integer too large": {text: "id,label,b:int\n1,x,99999999999999999999\n", want: `is not an integer`, is: db.ErrLines},
	} {
		_, err := g.LoadNodes(ctx, strings.NewReader(c.text), db.LoadNodesOptions{PropertyOptions: c.o})
		if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got := valued(t, g); got != before {
		t.Errorf("changed to %s", got)
	}
}

// The members of objects of JSON become properties of the types of their values.
func TestLoadNodesFromJSON(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<14)
	options := edgelist.PropertyOptions{
		Types:       edgelist.PropertyTypes{"a": edgelist.FloatType, "tags": edgelist.ListType, "day": edgelist.StringType},
		NodeColumns: edgelist.NodeColumns{"who": "node", "sort": "label", "on": "day"}, Skip: edgelist.ColumnNames{"junk"},
	}
	texts := edgelist.PropertyOptions{Types: edgelist.PropertyTypes{"b": edgelist.StringType}}
	for name, c := range map[string]struct {
		text   string
		o      db.LoadNodesOptions
		want   string
		unused string
	}{
		"types": {text: `{"id": "a", "label": "post", "stock": 3, "price": 1.5, "hidden": true, "at": "2026-11-01", "name": "x", "tags": ["s", "t;u"]}
{"price": 2, "id": 7, "at": "2026-11-01T10:00:00.5+02:00", "hidden": null, "tags": [], "name": "", "big": 99999999999999999999}
`, want: "'a' post at=string:2026-11-01T00:00:00Z hidden=bool:true name=string:x price=float64:1.5 stock=int64:3 tags=[]string:[s t;u]; " +
			"7  at=string:2026-11-01T08:00:00.5Z big=string:99999999999999999999 name=string: price=float64:2 tags=[]string:[]"},
		"the whole list decides": {text: `{"node": 1, "a": 1, "b": "2026-11-01", "c": true, "d": "x;y", "zip": "02139"}
{"node": 2, "a": 2.5, "b": "soon", "c": 0, "d": ["z"], "zip": "7"}
`, want: "1  a=float64:1 b=string:2026-11-01 c=string:true d=[]string:[x;y] zip=string:02139; 2  a=float64:2.5 b=string:soon c=string:0 d=[]string:[z] zip=string:7"},
		"options": {text: `{"who": 1, "sort": "x", "a": "1.5", "tags": "s; t", "junk": 9, "on": "yesterday"}` + "\n",
			o: db.LoadNodesOptions{PropertyOptions: options}, want: "1 x a=float64:1.5 day=string:yesterday tags=[]string:[s t]", unused: "[junk]"},
		"a text that looks like a time": {text: `{"node": 1, "a:string": "2026-11-01", "b": "2026-11-01"}` + "\n",
			o: db.LoadNodesOptions{PropertyOptions: texts}, want: "1  a=string:2026-11-01 b=string:2026-11-01"},
		"a separator makes lists": {text: `{"node": 1, "a": "s, t", "b": "u"}` + "\n",
			o: db.LoadNodesOptions{PropertyOptions: edgelist.PropertyOptions{ListSeparator: ","}}, want: "1  a=[]string:[s t] b=string:u"},
		"nested values are not used": {text: `{"_id": 1, "a": {"b": 2}, "c": [1, 2], "d": [null], "e": 3, "kind": ["p"]}` + "\n\n" + `{"_id": 2, "a": null}` + "\n",
			want: "1  e=int64:3 kind=[]string:[p]; 2  ", unused: "[a c d]"},
		"one other member is a property": {text: `{"id": 1, "price": 2}` + "\n", want: "1  price=int64:2"},
		"or a label by its name":         {text: `{"price": 2, "type": "x", "user_id": 1}` + "\n", want: "1 x price=int64:2"},
		"without keys":                   {text: `{"a": 5}` + "\n" + `{"a": 6}` + "\n", o: db.LoadNodesOptions{Keyless: true}, want: "0  a=int64:5; 1  a=int64:6"},
		"keys with a label":              {text: `{"id": 1, "a": 5}` + "\n", o: db.LoadNodesOptions{Label: "p"}, want: "'p:1' p a=int64:5"},
		"a long first line":              {text: `{"id": 1, "a": "` + long + `", "b": "p\nq"}` + "\r\n", want: "1  a=string:" + long + " b=string:p\nq"},
		"a repeated node":                {text: `{"id": 1, "a": 1, "b": 2}` + "\n" + `{"id": 1, "a": 3, "b": null}` + "\n", want: "1  a=int64:3 b=int64:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := dbtest.Open(t, inMemory)
			r, err := g.LoadNodes(context.Background(), strings.NewReader(c.text), c.o)
			must(t, err)
			if got := valued(t, g); got != c.want {
				t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
			}
			if got := fmt.Sprint(r.Unused); r.Format != edgelist.JSONLines || got != cmp.Or(c.unused, "[]") {
				t.Errorf("%q: format %v, unused %v, want %s", c.text, r.Format, r.Unused, c.unused)
			}
		})
	}
}

// A line of JSON whose values do not fit is malformed, and the error names the member.
func TestLoadNodesFromBadJSON(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for text, want := range map[string]string{
		`{"id": 1, "a": 1}` + "\n" + `{"id": 2, "a": {"b": 1}}`:          `line 2: column a: "{\"b\": 1}" is not an integer`,
		`{"id": 1, "a": ["x"]}` + "\n" + `{"id": 2, "a": [1]}`:           `line 2: column a: "[1]" is not a list of strings`,
		`{"id": 1, "a": "x"}` + "\n" + `{"id": 2, "a": [["x"]]}`:         `line 2: column a: "[[\"x\"]]" is not a string`,
		`{"id": 1, "a:float": "x"}`:                                      `line 1: column a:float: "x" is not a float`,
		`{"id": 1}` + "\n" + `{"a": 1}`:                                  `line 2: member id, the key, is missing`,
		`{"id": 1}` + "\n" + `{"id": [2]}`:                               `line 2: member id is neither a text nor a number`,
		`{"id": 1, "label": "x"}` + "\n" + `{"id": 2, "label": {"y":1}}`: `line 2: member label is neither a text nor a number`,
		`{"id": 1}` + "\n" + `{"id": 2`:                                  `line 2: not an object of JSON on a line`,
		`{"id": 1}` + "\n" + "{\"id\": \"\xff\"}":                        `line 2: not valid UTF-8`,
		`{"name": "x", "age": 3}`:                                        `no member is called node or id; there are name, age (otherwise: columns = 'node=name')`,
		`{"id": 1, "score": 2}`:                                          `a property cannot have the name "score"`,
		`{"id": 1, "a": 2, "a:float": 2}`:                                `columns "a" and "a:float" are both property "a"`,
	} {
		g := dbtest.Open(t, inMemory)
		_, err := g.LoadNodes(ctx, strings.NewReader(text+"\n"), db.LoadNodesOptions{Format: edgelist.JSONLines})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if got := valued(t, g); got != "" {
			t.Errorf("%s: stored %s", text, got)
		}
	}
}

// manyTags returns a list of n different tags.
func manyTags(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d;", i)
	}
	return b.String()
}

// Nodes with properties of each type come back from a list.
func TestNodesComeBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	letters := []rune("ab7.-#%,;|\\ \t\r\"'é\u2028:TZ")
	text := rapid.StringOfN(rapid.SampledFrom(letters), 0, 5, -1)
	broken := rapid.StringOfN(rapid.SampledFrom(append(letters, '\n')), 0, 5, -1) // of lines of JSON
	values := map[string]*rapid.Generator[any]{
		"hidden":  rapid.Bool().AsAny(),
		"stock":   rapid.Int64().AsAny(),
		"price":   rapid.Custom(func(t *rapid.T) float64 { return rapid.Float64().Draw(t, "x") + 0 }).AsAny(),
		"short":   rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-3, 3).Draw(t, "n")) }).AsAny(),
		"name":    text.AsAny(),
		"a, \"b:": rapid.SampledFrom([]string{"true", "7", "2026-11-01", "NaN", "", "x;y"}).AsAny(),
		"at": rapid.Custom(func(t *rapid.T) time.Time {
			return time.UnixMicro(rapid.Int64Range(-62e15, 253402300799e6).Draw(t, "time")).UTC()
		}).AsAny(),
		"tags": rapid.SliceOfNDistinct(text.Filter(func(s string) bool { return s != "" }), 0, 4, rapid.ID).AsAny(),
	}
	names := slices.Sorted(maps.Keys(values))
	rapid.Check(t, func(t *rapid.T) {
		g, h := openMemory(t, db.Directed), openMemory(t, db.Directed)
		defer g.Close()
		defer h.Close()
		o := db.ListOptions{Format: rapid.SampledFrom(formatsOfProperties()).Draw(t, "format"), Tables: parquet.Format{}}
		values := maps.Clone(values)
		if o.Format == edgelist.JSONLines {
			values["name"] = broken.AsAny()
			values["tags"] = rapid.SliceOfNDistinct(broken.Filter(func(s string) bool { return s != "" }), 0, 4, rapid.ID).AsAny()
		}
		nodes := map[db.Key]db.Node{}
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			n := db.Node{Key: db.Int(int64(i)), Label: rapid.SampledFrom([]string{"", "l", "a;b"}).Draw(t, "label"), Properties: map[string]any{}}
			if i%2 == 1 {
				n.Key = db.Str(fmt.Sprintf("k%d", i))
			}
			for _, name := range names {
				if rapid.Bool().Draw(t, "has") {
					n.Properties[name] = values[name].Draw(t, name)
				}
			}
			nodes[n.Key] = n
			if err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutNode(n) }); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		err := g.View(ctx, func(tx *db.Tx) error {
			_, err := tx.WriteNodes(ctx, &b, o)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		written := b.String()
		if _, err := h.LoadNodes(ctx, &b, db.LoadNodesOptions{Format: o.Format, Tables: o.Tables}); err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		err = h.View(ctx, func(tx *db.Tx) error {
			for k, want := range nodes {
				got, err := tx.Node(k)
				if err != nil || got.Label != want.Label || fmt.Sprintf("%#v", got.Properties) != fmt.Sprintf("%#v", want.Properties) && len(got.Properties)+len(want.Properties) > 0 {
					t.Fatalf("%v: got %#v, %v, want %#v in\n%s", k, got, err, want, written)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// formatsOfProperties returns the formats that hold properties.
func formatsOfProperties() []edgelist.Format {
	return []edgelist.Format{edgelist.CSV, edgelist.TSV, edgelist.JSONLines, edgelist.Parquet}
}
