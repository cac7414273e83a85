package gorse

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns the lines that stand for an export, and the notes.
func read(t *testing.T, export string) (Kind, string) {
	t.Helper()
	r, err := New(bufio.NewReader(strings.NewReader(export)))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return r.Kind, string(lines) + strings.Join(r.Notes(), "\n")
}

func TestExports(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, export string
		kind         Kind
		want         string
	}{
		{"users of version 0.4", "user_id,labels\nann,\"a|b,c\"\n7,\n", Users, `
{"id":"user:ann","label":"user","tags:list":["a","b,c"]}
{"id":"user:7","label":"user"}
`},
		{"items of version 0.4", "item_id,is_hidden,categories,time_stamp,labels,description\n" +
			"x,True,b|a,2024-03-01 12:00:00.5 +0200 CEST,a,\"two\nlines\"\ny,,,0001-01-01 00:00:00 +0000 UTC,,\nz\n", Items, `
{"id":"item:x","label":"item","tags:list":["a","b"],"hidden:bool":true,"timestamp:time":"2024-03-01T10:00:00.5Z","comment:string":"two\nlines"}

{"id":"item:y","label":"item"}
z
`},
		{"items of a database", "item_id,labels,time_stamp\nx,\"{\"\"genre\"\":[\"\"drama\"\"]}\",2024-03-01 10:00:00\n", Items, `
{"id":"item:x","label":"item","tags:list":["genre.drama"],"timestamp:time":"2024-03-01T10:00:00Z"}
`},
		{"feedback of version 0.4", "feedback_type,user_id,item_id,time_stamp\nlike,1,2,today\n", Feedback, `
{"source":"1","relation":"like","target":"2","weight":1,"time":"today"}
`},
		{"an export without rows", "feedback_type,user_id,item_id,time_stamp\n", Feedback, "\n"},
		{"feedback of version 0.5", `{"FeedbackType":"rate","UserId":"1","ItemId":"2","Value":-0.5,"Timestamp":"2024-03-01T10:00:00Z","Updated":"x"}
no
{"FeedbackType":"read","UserId":"1","ItemId":"3","Value":0}`, Feedback, `{"source":"1","relation":"rate","target":"2","weight":-0.5,"time":"2024-03-01T10:00:00Z"}
no
{"source":"1","relation":"read","target":"3","weight":1,"time":null}
not read: updated
1 feedback without a value (0) got the weight 1`},
		{"an array of users", `[{"UserId":"1","Labels":{"a":{"b":["c",1,true]},"d":"e"},"Comment":"f"},
 {"UserId":2}, 3]`, Users, `{"id":"user:1","label":"user","tags:list":["a.b.c","d.e"],"comment:string":"f"}
{"id":2,"label":"user"}
3
2 numbers and truth values among the labels were left out: tags are texts`},
	} {
		kind, got := read(t, test.export)
		if diff := cmp.Diff(test.want, got); kind != test.kind || diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", test.name, kind, diff)
		}
	}
}

func TestNoExport(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a,b\n1,2\n", `{"a":1}`, "{", "[]", "[1]"} {
		if _, err := New(bufio.NewReader(strings.NewReader(text))); !errors.Is(err, ErrExport) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	r, err := New(bufio.NewReader(strings.NewReader(`[{"UserId":"1"},{"UserId"`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut array: error %v", err)
	}
}
