package edgelist

import (
	"bytes"
	"slices"
	"time"
)

// civil is a time of a calendar and a clock.
type civil struct {
	year, month, day     int
	hour, minute, second int
	offset               int // seconds by which the clock is ahead of UTC
}

// unix returns the time in seconds since 1970. A leap second is the next second.
func (c civil) unix() int64 {
	return time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, 0, time.UTC).Unix() - int64(c.offset)
}

// valid reports whether the calendar has the day, the clock has the time, and the year 0 to 9999
// has it in UTC.
func (c civil) valid() bool {
	if c.month < 1 || c.month > 12 || c.day < 1 || c.hour > 23 || c.minute > 59 || c.second > 60 {
		return false
	}
	day := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC)
	at := c.unix()
	return day.Day() == c.day && at >= earliest && at <= latest
}

// civilOf parses a date with an optional clock, and returns its format, or AnyTime if it is
// neither: RFC3339, DateTime, Date, or RFC2822 for a date with the name of a month.
func civilOf(field []byte) (c civil, form TimeFormat) {
	if form = compactOf(field); form != AnyTime {
		return compact(field), form
	}
	rest := field
	if c, form, rest = isoDate(field); form == AnyTime {
		return namedMonth(field)
	}
	if len(rest) > 0 {
		if !slices.Contains([]byte("Tt "), rest[0]) {
			return c, AnyTime
		}
		form = c.clock(rest[1:])
	}
	if form == AnyTime || !c.valid() {
		return c, AnyTime
	}
	return c, form
}

// digits parses an integer of least to most digits at the start of text.
func digits(text []byte, least, most int) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && i < most && isDigit(text[i]); i++ {
		n = 10*n + int(text[i]-'0')
	}
	return n, text[i:], i >= least
}

// isoDate parses the date at the start of a field: year, month and day, between hyphens, slashes or
// dots.
func isoDate(field []byte) (c civil, form TimeFormat, rest []byte) {
	year, rest, ok := digits(field, 4, 4)
	if !ok || len(rest) == 0 || !slices.Contains([]byte("-/."), rest[0]) {
		return c, AnyTime, nil
	}
	sep := rest[0]
	month, rest, ok := digits(rest[1:], 1, 2)
	if !ok || len(rest) == 0 || rest[0] != sep {
		return c, AnyTime, nil
	}
	day, rest, ok := digits(rest[1:], 1, 2)
	if !ok {
		return c, AnyTime, nil
	}
	return civil{year: year, month: month, day: day}, Date, rest
}

// dayOrMonth reports whether a field begins with a date such as 02/01/2006, which may begin with
// the day or with the month.
func dayOrMonth(field []byte) bool {
	for range 2 {
		_, rest, ok := digits(field, 1, 2)
		if !ok || len(rest) == 0 || !slices.Contains([]byte("-/."), rest[0]) {
			return false
		}
		field = rest[1:]
	}
	_, _, ok := digits(field, 4, 4)
	return ok
}

// clock parses a clock of hours, minutes, optional seconds with an optional fraction, and an
// optional zone. It returns RFC3339 with a zone, DateTime without one, and AnyTime if it is no
// clock.
func (c *civil) clock(text []byte) TimeFormat {
	var ok bool
	if c.hour, text, ok = digits(text, 1, 2); !ok || len(text) == 0 || text[0] != ':' {
		return AnyTime
	}
	if c.minute, text, ok = digits(text[1:], 2, 2); !ok {
		return AnyTime
	}
	if len(text) > 0 && text[0] == ':' {
		if c.second, text, ok = digits(text[1:], 2, 2); !ok {
			return AnyTime
		}
		if len(text) > 1 && (text[0] == '.' || text[0] == ',') && isDigit(text[1]) {
			text = bytes.TrimLeft(text[1:], "0123456789")
		}
	}
	if len(text) == 0 {
		return DateTime
	}
	if c.offset, ok = zone(bytes.TrimPrefix(text, []byte(" "))); !ok {
		return AnyTime
	}
	return RFC3339
}

// zone parses Z, UTC, GMT, or an offset such as +02, +0200 or +02:00, and returns its seconds.
func zone(text []byte) (offset int, ok bool) {
	switch string(text) {
	case "Z", "z", "UTC", "GMT", "UT":
		return 0, true
	case "":
		return 0, false
	}
	sign := 1
	switch text[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	hours, text, ok := digits(text[1:], 2, 2)
	minutes := 0
	if ok && len(text) > 0 {
		minutes, text, ok = digits(bytes.TrimPrefix(text, []byte(":")), 2, 2)
	}
	return sign * (3600*hours + 60*minutes), ok && len(text) == 0 && hours < 24 && minutes < 60
}

// compactOf returns the format of a date or a time without separators, such as 20060102 or
// 20060102150405, in the years 1900 to 2099, otherwise AnyTime.
func compactOf(field []byte) TimeFormat {
	form := DateTime
	switch len(field) {
	case 8:
		form = Date
	case 12, 14:
	default:
		return AnyTime
	}
	if slices.ContainsFunc(field, func(c byte) bool { return !isDigit(c) }) {
		return AnyTime
	}
	if c := compact(field); c.year < 1900 || c.year > 2099 || !c.valid() {
		return AnyTime
	}
	return form
}

// compact parses a date or a time without separators.
func compact(field []byte) (c civil) {
	c.year, field, _ = digits(field, 4, 4)
	for _, to := range []*int{&c.month, &c.day, &c.hour, &c.minute, &c.second} {
		*to, field, _ = digits(field, 0, 2)
	}
	return c
}

// namedMonths returns layouts with the name of the month, as for [time.Parse]: the layouts of RFC
// 2822 with or without the day of the week, of C and of Unix, and of logs of servers.
func namedMonths() []string {
	return []string{
		"Mon, _2 Jan 2006 15:04:05 -0700", "Mon, _2 Jan 2006 15:04:05 MST", "Mon, _2 Jan 2006 15:04:05", "Mon, _2 Jan 2006",
		"_2 Jan 2006 15:04:05 -0700", "_2 Jan 2006 15:04:05", "_2 Jan 2006", "_2 January 2006", "Jan _2, 2006", "January _2, 2006",
		"Mon Jan _2 15:04:05 -0700 2006", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 15:04:05 2006", "02/Jan/2006:15:04:05 -0700", "02-Jan-2006",
	}
}

// namedMonth parses a date with the name of its month. A zone must be UTC, GMT or an offset.
func namedMonth(field []byte) (c civil, form TimeFormat) {
	const shortest, longest = len("2 Jan 2006"), 40
	if len(field) < shortest || len(field) > longest || !slices.ContainsFunc(field, isLetter) || !slices.ContainsFunc(field, isDigit) {
		return c, AnyTime
	}
	for _, layout := range namedMonths() {
		t, err := time.ParseInLocation(layout, string(field), time.UTC)
		if err != nil {
			continue
		}
		name, offset := t.Zone()
		if offset == 0 && name != "UTC" && name != "GMT" && name != "" {
			return c, AnyTime // time.Parse knows no other names
		}
		c = civil{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), offset}
		if c.valid() {
			return c, RFC2822
		}
	}
	return c, AnyTime
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
