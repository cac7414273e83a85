package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/reeflective/readline"
)

// menuRows returns the maximum number of rows of a menu below the input, on a terminal with the
// given number of rows. Readline would let the menu use all rows, and the input scroll away.
func menuRows(rows int) int { return max(rows/2-1, 1) }

// fitMenu drops values that do not fit in a menu. It keeps the last value, so that the remaining
// values have the same common prefix as all.
func fitMenu(values []string, cols, rows int) []string {
	slices.Sort(values)
	longest := 1
	for _, v := range values {
		// A whole word is followed by a space, a column by two.
		longest = max(longest, text.StringWidth(v)+3)
	}
	room := max(cols/longest, 1) * rows
	if len(values) <= room {
		return values
	}
	return append(values[:room-1:room-1], values[len(values)-1])
}

// completions returns the completions of a word. A space follows a whole word, and is removed when
// punctuation is typed.
func completions(word string, values []string) readline.Completions {
	all := make([]readline.Completion, len(values))
	for i, v := range values {
		all[i] = readline.Completion{Value: v, Display: v}
		if !strings.HasSuffix(v, "(") && !strings.HasSuffix(v, "/") {
			all[i].Value += " "
		}
	}
	c := readline.CompleteRaw(all).NoSpace(' ', ';', ',', ')')
	c.PREFIX = word
	return c
}

// searchable is a history that limits a search with Ctrl-R to the latest matching entries that its
// menu has room for. Readline sees all other entries as blank and leaves them out.
type searchable struct {
	readline.History
	current func() (search, bool) // the search in progress, if any
	last    search
	shown   map[int]bool // entries to show for last
}

// search is a search in the history.
type search struct {
	pattern string // a regular expression
	entries int    // number of entries in the history
	room    int    // number of entries that the menu may show
}

// GetLine returns an entry, or "" for one that the current search does not show.
func (h *searchable) GetLine(i int) (string, error) {
	line, err := h.History.GetLine(i)
	s, on := h.current()
	if !on || err != nil {
		return line, err
	}
	if s.entries = h.Len(); s != h.last {
		h.last, h.shown = s, h.matches(s)
	}
	if !h.shown[i] {
		return "", nil
	}
	return line, nil
}

// matches returns the latest entries that match, each text once. As in readline, a pattern without
// capital letters ignores case.
func (h *searchable) matches(s search) map[int]bool {
	pattern := s.pattern
	if pattern == strings.ToLower(pattern) {
		pattern = "(?i)" + pattern
	}
	shown := map[int]bool{}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return shown // readline reports the error
	}
	texts := map[string]bool{}
	for i := s.entries - 1; i >= 0 && len(shown) < s.room; i-- {
		line, err := h.History.GetLine(i)
		if err == nil && !texts[line] && re.MatchString(line) {
			texts[line], shown[i] = true, true
		}
	}
	return shown
}
