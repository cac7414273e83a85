// Package gorse reads the users, items and feedback that the recommender system Gorse exports
// (github.com/gorse-io/gorse, master/rest.go), as lines of JSON that package edgelist reads.
//
// Versions up to 0.4 export CSV with the columns user_id, labels; item_id, is_hidden, categories,
// time_stamp, labels, description; and feedback_type, user_id, item_id, time_stamp. Bars separate
// labels and categories. Later versions export lines of JSON with the members UserId, Labels,
// Comment; ItemId, IsHidden, Categories, Timestamp, Labels, Comment; and FeedbackType, UserId,
// ItemId, Value, Timestamp. An array of such objects, as its REST interface takes, and CSV whose
// lists are JSON, as its database stores them, are read too.
package gorse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kind is what an export has.
type Kind string

// The kinds of exports.
const (
	Users    Kind = "users"
	Items    Kind = "items"
	Feedback Kind = "feedback"
)

// Labels of the nodes.
const (
	User = "user"
	Item = "item"
)

// ErrExport is the error for a file that is no export.
var ErrExport = errors.New("not an export of Gorse: no member or column is called user_id or item_id")

// record is one user, item or feedback.
type record struct {
	line    int64 // from 1
	members map[string]json.RawMessage
	raw     []byte // a line that is no record, as it is; nil otherwise
}

// kind returns what a record is, or "".
func (r *record) kind() Kind {
	_, user := r.members["userid"]
	_, item := r.members["itemid"]
	switch {
	case user && item:
		return Feedback
	case user:
		return Users
	case item:
		return Items
	}
	return ""
}

// Reader reads an export as lines of JSON. A line that is no record is returned as it is, so that
// the reader of the lines reports it. All lines keep their numbers.
type Reader struct {
	Kind Kind

	next   func() (record, error) // io.EOF after the last one
	ahead  *record                // read to find the kind
	out    bytes.Buffer
	line   int64               // number of lines written to out
	unread map[string]struct{} // names of the members that are not read
	odd    int64               // number of labels that are no texts
	zeros  int64               // number of feedback with the value 0
	err    error               // of next
}

// New returns a reader of an export, of which it reads the first record.
func New(in *bufio.Reader) (*Reader, error) {
	next, err := records(in)
	if err != nil {
		return nil, err
	}
	first, err := next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	r := &Reader{Kind: first.kind(), next: next, ahead: &first, unread: map[string]struct{}{}}
	if r.Kind == "" {
		return nil, ErrExport
	}
	return r, nil
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 && r.err == nil {
		var rec record
		if r.ahead != nil {
			rec, r.ahead = *r.ahead, nil
		} else if rec, r.err = r.next(); r.err != nil {
			break
		}
		r.write(rec)
	}
	if r.out.Len() > 0 {
		return r.out.Read(p)
	}
	return 0, r.err
}

// write writes a record as the line of its number.
func (r *Reader) write(rec record) {
	for r.line++; r.line < rec.line; r.line++ {
		r.out.WriteByte('\n')
	}
	line := rec.raw
	if line == nil {
		line = r.convert(rec.members)
	}
	r.out.Write(line)
	r.out.WriteByte('\n')
}

// edge is a feedback as a member of a list of edges.
type edge struct {
	Source   json.RawMessage `json:"source"`
	Relation json.RawMessage `json:"relation"`
	Target   json.RawMessage `json:"target"`
	Weight   json.RawMessage `json:"weight"`
	Time     json.RawMessage `json:"time"`
}

// node is a user or an item as a member of a list of nodes.
type node struct {
	ID        json.RawMessage `json:"id"`
	Label     string          `json:"label"`
	Tags      []string        `json:"tags:list,omitempty"`
	Hidden    json.RawMessage `json:"hidden:bool,omitempty"`
	Timestamp json.RawMessage `json:"timestamp:time,omitempty"`
	Comment   json.RawMessage `json:"comment:string,omitempty"`
}

// convert returns a record as a line for edgelist.
func (r *Reader) convert(members map[string]json.RawMessage) []byte {
	take := func(name string) json.RawMessage {
		defer delete(members, name)
		return members[name]
	}
	var line any
	switch r.Kind {
	case Feedback:
		line = edge{take("userid"), take("feedbacktype"), take("itemid"), r.weight(take("value")), moment(take("timestamp"))}
	case Users:
		line = node{ID: prefixed(User, take("userid")), Label: User, Tags: r.tags(take("labels")), Comment: text(take("comment"))}
	case Items:
		tags := append(r.tags(take("categories")), r.tags(take("labels"))...)
		slices.Sort(tags)
		line = node{
			ID: prefixed(Item, take("itemid")), Label: Item, Tags: slices.Compact(tags), Hidden: text(take("ishidden")),
			Timestamp: moment(take("timestamp")), Comment: text(take("comment")),
		}
	}
	for name := range members {
		if len(r.unread) < maxUnread {
			r.unread[name] = struct{}{}
		}
	}
	b, err := json.Marshal(line)
	if err != nil { // a member is not valid JSON, which only a hand-made record can be
		return []byte(err.Error())
	}
	return b
}

// maxUnread is the maximal number of names in a note.
const maxUnread = 20

// prefixed returns a key that begins with the label of its node. Another value than a text is
// returned as it is.
func prefixed(label string, id json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(id, &s) != nil || s == "" {
		return id
	}
	return quoted(label + ":" + s)
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // cannot fail for a string
	return b
}

// text returns a text that is not empty, or nil.
func text(v json.RawMessage) json.RawMessage {
	if string(v) == `""` {
		return nil
	}
	return v
}

// weight returns the weight of a feedback: its value, or 1 without one. Gorse stores 0 where none
// was given.
func (r *Reader) weight(value json.RawMessage) json.RawMessage {
	switch trimmed := strings.Trim(string(value), `"`); trimmed {
	case "0", "0.0":
		r.zeros++
		fallthrough
	case "", "null":
		return json.RawMessage("1")
	default:
		return json.RawMessage(value)
	}
}

// layouts returns the layouts of times that need another spelling: the text form of a Go time, and
// times of a database, which are in UTC.
func layouts() []string {
	return []string{"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999 -0700", time.RFC3339Nano, time.DateTime, time.DateOnly}
}

// moment returns a time as RFC 3339, or nil for none, which Gorse writes as the year 1. A text that
// is no time is returned as it is.
func moment(v json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(v, &s) != nil || s == "" {
		return text(v)
	}
	for _, layout := range layouts() {
		if t, err := time.Parse(layout, s); err == nil {
			if t.IsZero() {
				return nil
			}
			return quoted(t.UTC().Format(time.RFC3339Nano))
		}
	}
	return v
}

// tags returns the texts in labels or categories: texts separated by bars, lists of texts, and
// objects, whose names come before their texts, as in genre.drama.
func (r *Reader) tags(v json.RawMessage) (all []string) {
	var s string
	if json.Unmarshal(v, &s) == nil {
		if nested := json.RawMessage(s); len(s) > 0 && (s[0] == '[' || s[0] == '{') && json.Valid(nested) {
			return r.tags(nested)
		}
		return strings.FieldsFunc(s, func(c rune) bool { return c == '|' })
	}
	var value any
	if json.Unmarshal(v, &value) == nil {
		all = r.flatten(nil, "", value)
	}
	return all
}

// flatten appends the texts in a value to all, behind a prefix.
func (r *Reader) flatten(all []string, prefix string, value any) []string {
	switch v := value.(type) {
	case nil:
	case string:
		if v != "" {
			all = append(all, prefix+v)
		}
	case []any:
		for _, element := range v {
			all = r.flatten(all, prefix, element)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = r.flatten(all, prefix+name+".", v[name])
		}
	default:
		r.odd++
	}
	return all
}

// Notes returns what was not read so far, or read as something else.
func (r *Reader) Notes() (notes []string) {
	if len(r.unread) > 0 {
		notes = append(notes, "not read: "+strings.Join(slices.Sorted(maps.Keys(r.unread)), ", "))
	}
	if r.odd > 0 {
		notes = append(notes, fmt.Sprintf("%d numbers and truth values among the labels were left out: tags are texts", r.odd))
	}
	if r.zeros > 0 {
		notes = append(notes, fmt.Sprintf("%d feedback without a value (0) got the weight 1", r.zeros))
	}
	return notes
}
