package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/reeflective/readline"
)

// menuRows returns how many rows a menu below the input may take on a terminal of so many rows. Readline
// would let it take all of them, and the input scroll away.
func menuRows(rows int) int { return max(rows/2-1, 1) }

// fitMenu drops values that have no room in a menu. The last of all stays, so that all that are left have no
// longer prefix in common than all that were there.
func fitMenu(values []string, cols, rows int) []string {
	slices.Sort(values)
	longest := 1
	for _, v := range values {
		longest = max(longest, text.StringWidth(v)+3) // a space follows a whole word, and two a column
	}
	room := max(cols/longest, 1) * rows
	if len(values) <= room {
		return values
	}
	return append(values[:room-1:room-1], values[len(values)-1])
}

// offer offers what a word may become. A space follows a whole word, and goes again when punctuation
// is typed.
func offer(word string, values []string) readline.Completions {
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

// searchable is a history that shows a search with Ctrl-R no more entries than its menu has room for:
// the latest that match. Of the others readline sees blank entries, which it leaves out.
type searchable struct {
	readline.History
	current func() (search, bool) // the search that goes on, if one does
	last    search
	shown   map[int]bool // entries that match last
}

// search is a search in the history.
type search struct {
	pattern string // a regular expression
	entries int    // in the history
	room    int    // how many entries the menu may show
}

// GetLine returns an entry.
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

// matches finds the latest entries that match, each text once. As for readline, a pattern without capital
// letters matches both cases.
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
