package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFitMenu(t *testing.T) {
	t.Parallel()
	values := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("v%03d", i))
		}
		return all
	}
	for _, c := range []struct {
		values     []string
		cols, rows int
		want       string
	}{
		{nil, 80, 5, ""},
		{[]string{"b", "a"}, 80, 5, "a b"},
		{values(12), 21, 4, "v000 v001 v002 v003 v004 v005 v006 v007 v008 v009 v010 v011"},
		{values(13), 21, 4, "v000 v001 v002 v003 v004 v005 v006 v007 v008 v009 v010 v012"},
		{values(200), 21, 1, "v000 v001 v199"},
		{values(200), 3, 2, "v000 v199"},
	} {
		if got := strings.Join(fitMenu(c.values, c.cols, c.rows), " "); got != c.want {
			t.Errorf("%d values on %d x %d: got %s, want %s", len(c.values), c.cols, c.rows, got, c.want)
		}
	}
}

// memoryHistory is an in-memory history.
type memoryHistory []string

func (m memoryHistory) Write(string) (int, error)     { return len(m), nil }
func (m memoryHistory) GetLine(i int) (string, error) { return m[i], nil }
func (m memoryHistory) Len() int                      { return len(m) }
func (m memoryHistory) Dump() any                     { return m }

func TestSearchable(t *testing.T) {
	t.Parallel()
	var current search
	on := false
	h := &searchable{
		History: memoryHistory{"CHECK;", "show stats;", "NODES;", "SHOW STATS;", "NODES;", "SHOW MODELS;", "SHOW CACHE;"},
		current: func() (search, bool) { return current, on },
	}
	all := func() (shown []string) {
		for i := range h.Len() {
			if line, err := h.GetLine(i); err == nil && line != "" {
				shown = append(shown, line)
			}
		}
		return shown
	}
	if got := all(); len(got) != h.Len() {
		t.Errorf("without a search the history is %q", got)
	}
	on = true
	for _, c := range []struct {
		search search
		want   []string
	}{
		{search{pattern: "", room: 3}, []string{"NODES;", "SHOW MODELS;", "SHOW CACHE;"}},
		{search{pattern: "stats", room: 3}, []string{"show stats;", "SHOW STATS;"}},
		{search{pattern: "STATS", room: 3}, []string{"SHOW STATS;"}},
		{search{pattern: "NODES", room: 3}, []string{"NODES;"}},
		{search{pattern: "S", room: 2}, []string{"SHOW MODELS;", "SHOW CACHE;"}},
		{search{pattern: "(", room: 2}, nil},
	} {
		current = c.search
		if got := all(); !slices.Equal(got, c.want) {
			t.Errorf("search %q: got %q, want %q", c.search.pattern, got, c.want)
		}
	}
}
