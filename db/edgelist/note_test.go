package edgelist

import (
	"encoding/json"
	"testing"
)

func TestNoteText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		note Note
		want string
	}{
		{Note{Msg: "a"}, "a"},
		{Note{"a", []Setting{{"header", "off"}}}, "a (otherwise: header = 'off')"},
		{Note{"a", []Setting{{"source_label", "it's"}, {"target_label", "b"}}}, "a (otherwise: source_label = 'it''s', target_label = 'b')"},
	} {
		if got := c.note.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.note, got, c.want)
		}
		var got string
		if b, err := json.Marshal(c.note); err != nil || json.Unmarshal(b, &got) != nil || got != c.want {
			t.Errorf("%+v: JSON %s, %v", c.note, b, err)
		}
	}
}
