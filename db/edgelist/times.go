package edgelist

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TimeFormat is a format of times in a list. Times without a zone are in UTC. They are read as
// seconds since 1970, rounded down. Units may have fractions. A time that is empty, 0 or null is no
// time. A time must be in the years 0 to 9999.
type TimeFormat int

const (
	// AnyTime is detected from the first lines: numbers by their size, anything else by its form.
	AnyTime      TimeFormat = iota
	Seconds                 // since 1970
	Milliseconds            // since 1970
	Microseconds            // since 1970
	Nanoseconds             // since 1970
	RFC3339                 // 2006-01-02T15:04:05Z, with a zone as of ISO 8601
	// DateTime is 2006-01-02 15:04:05, RFC3339 without a zone, a date, or 20060102150405.
	DateTime
	Date // 2006-01-02, 2006/01/02, 2006.01.02 or 20060102
	Year // 2006, which is its first second
	// RFC2822 is Mon, 02 Jan 2006 15:04:05 -0700, or another form with the name of the month.
	RFC2822
)

// timeFormats returns the names of the values of TimeFormat.
func timeFormats() []string {
	return []string{"auto", "s", "ms", "us", "ns", "rfc3339", "datetime", "date", "year", "rfc2822"}
}

// TimeFormats returns the names of the formats of times that a user can choose.
func TimeFormats() []string { return timeFormats()[1:] }

// String returns the name of the format, such as "ms".
func (f TimeFormat) String() string { return enumName(f, timeFormats()) }

// Describe returns a description of the format, such as "milliseconds since 1970" or "2006-01-02".
func (f TimeFormat) Describe() string {
	return enumName(f, []string{
		"auto", "seconds since 1970", "milliseconds since 1970", "microseconds since 1970", "nanoseconds since 1970",
		"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02", "years", "Mon, 02 Jan 2006 15:04:05 -0700",
	})
}

// MarshalText implements [encoding.TextMarshaler].
func (f TimeFormat) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *TimeFormat) UnmarshalText(b []byte) (err error) {
	*f, err = parseEnum[TimeFormat]("times", string(b), timeFormats(), ", ")
	return err
}

// unit returns the number of the format's units in a second, or 0 for a text format.
func (f TimeFormat) unit() int64 {
	if f < Seconds || f > Nanoseconds {
		return 0
	}
	return [...]int64{1, 1e3, 1e6, 1e9}[f-Seconds]
}

// numeric reports whether times in the format are numbers.
func (f TimeFormat) numeric() bool { return f.unit() > 0 || f == Year }

// The first and the last second that a time may have, in the years 0 and 9999.
const (
	earliest = -62167219200
	latest   = 253402300799
)

// seconds converts an integer in the format's unit to seconds, rounded down. It returns false for a
// time that is out of range.
func (f TimeFormat) seconds(n int64) (int64, bool) {
	if f == Year {
		if n == 0 {
			return 0, true
		}
		at := civil{year: int(min(max(n, -1), 10000)), month: 1, day: 1}
		return at.unix(), n > 0 && n < 10000
	}
	unit := f.unit()
	s := n / unit
	if n < 0 && n%unit != 0 {
		s--
	}
	return s, s >= earliest && s <= latest
}

// real converts a number in the format's unit to seconds, rounded down. NaN is no time.
func (f TimeFormat) real(x float64) (int64, bool) {
	switch {
	case math.IsNaN(x):
		return 0, true
	case math.Abs(x) >= 1<<63:
		return 0, false
	}
	return f.seconds(int64(math.Floor(x)))
}

// ofNumber converts an element of an array.
func (f TimeFormat) ofNumber(n number) (int64, bool) {
	switch {
	case !f.numeric():
		return f.parse([]byte(n.String()))
	case n.isInt:
		return f.seconds(n.whole)
	}
	return f.real(n.real)
}

// parse parses a time in the format.
func (f TimeFormat) parse(field []byte) (int64, bool) {
	if f.numeric() {
		if n, ok := parseInt(field); ok {
			return f.seconds(n)
		}
		if n, ok := parseFloor(field); ok {
			return f.seconds(n)
		}
		return 0, isMissing(field)
	}
	if isMissing(field) || len(field) == 1 && field[0] == '0' {
		return 0, true
	}
	at, form := civilOf(field)
	return at.unix(), form == f || form == Date && f == DateTime
}

// isMissing reports whether a field says that there is no value.
func isMissing(field []byte) bool {
	switch string(field) {
	case "", "NaN", "nan", "NaT", "NA", "None", "null", "NULL", `\N`:
		return true
	}
	return false
}

// parseFloor parses a decimal number and rounds it down. The fraction has any number of digits.
func parseFloor(field []byte) (int64, bool) {
	if !isNumber(field) {
		return 0, false
	}
	whole, fraction, _ := bytes.Cut(field, []byte("."))
	if !slices.ContainsFunc(fraction, func(c byte) bool { return !isDigit(c) }) {
		if len(whole) == 0 {
			return 0, true
		}
		n, err := strconv.ParseInt(string(whole), 10, 64)
		if whole[0] == '-' && len(bytes.Trim(fraction, "0")) > 0 {
			n--
		}
		if err == nil {
			return n, true
		}
	}
	x, err := strconv.ParseFloat(string(field), 64)
	if err != nil || math.Abs(x) >= 1<<63 {
		return 0, false
	}
	return int64(math.Floor(x)), true
}

// timeFormatOf returns the format of a time, or AnyTime if the field is not a time. A number is in
// seconds if that gives a year up to 5138, otherwise in the unit in which it is a time after 1973.
func timeFormatOf(field []byte) TimeFormat {
	if n, ok := parseFloor(field); ok {
		return unitOf(n)
	}
	_, form := civilOf(field)
	return form
}

// unitOf returns the unit of a time that is a number.
func unitOf(n int64) TimeFormat {
	f := Seconds
	for limit := int64(1e11); f < Nanoseconds && (n >= limit || n <= -limit); limit *= 1e3 {
		f++
	}
	return f
}

// timeForms counts the formats of some times, to choose one for a list.
type timeForms struct {
	count   [RFC2822 + 1]int
	compact [RFC2822 + 1]int // dates and times without separators, which are integers too
	years   int              // integers that may be years
	total   int
}

// add counts a time. Missing times and 0 do not count.
func (t *timeForms) add(field []byte) {
	f := timeFormatOf(field)
	if n, numeric := parseFloor(field); f == AnyTime || isMissing(field) || numeric && n == 0 {
		return
	}
	t.total++
	t.count[f]++
	if form := compactOf(field); form != AnyTime {
		t.compact[form]++
	}
	if len(field) == 4 {
		t.years++
	}
}

// best returns the format of a column with a name: dates without separators if all times are, years
// if all times are and the name says so, otherwise the most frequent format.
func (t *timeForms) best(name string) TimeFormat {
	for _, f := range []TimeFormat{DateTime, Date} {
		if t.total > 0 && t.compact[f] == t.total {
			return f
		}
	}
	if t.total > 0 && t.years == t.total && strings.Contains(strings.ToLower(name), "year") {
		return Year
	}
	best := Seconds
	for f := range t.count {
		if TimeFormat(f) > AnyTime && t.count[f] > t.count[best] {
			best = TimeFormat(f)
		}
	}
	return best
}

// guessTimes guesses the format of the times of a list from the first lines.
func guessTimes(lines [][]byte, l *layout) TimeFormat {
	var forms timeForms
	for _, line := range lines[:min(len(lines), guessLines)] {
		fields, _ := l.split(line)
		forms.add(fields[roleTime])
	}
	name := ""
	if at := l.at[roleTime]; at < len(l.names) {
		name = l.names[at]
	}
	return forms.best(name)
}

// wrongTime returns the fault of a time that does not have the format f, and the format that would
// help, or AnyTime.
func (f TimeFormat) wrongTime(field []byte) (msg string, help TimeFormat) {
	n, isNumber := parseFloor(field)
	form := timeFormatOf(field)
	switch {
	case isNumber && f.unit() > 0:
		msg = fmt.Sprintf("time is after the year 9999 in %s", f.Describe())
		if n < 0 {
			msg = fmt.Sprintf("time is before the year 0 in %s", f.Describe())
		}
		if form <= f {
			form = AnyTime
		}
	case dayOrMonth(field):
		msg = "time may begin with the day or with the month; 2006-01-02 begins with the year"
	case f.unit() > 0 && form == AnyTime:
		msg = "time is neither a number nor a date in a form that is read, such as 2006-01-02"
	case f.unit() > 0:
		msg = "time is not a number"
	default:
		msg = fmt.Sprintf("time is not of the form %s (%v)", f.Describe(), f)
	}
	return msg, form
}

// ParseTime parses a date or a time in one of the text formats of lists, such as 2006-01-02 or
// 2006-01-02T15:04:05.25+02:00.
func ParseTime(text string) (time.Time, error) {
	at, form := civilOf([]byte(text))
	if form == AnyTime && IsTime(text) {
		return time.Time{}, fmt.Errorf("edgelist: %q is not a time: there is no such day, or no such time of the day", text)
	}
	if form == AnyTime {
		return time.Time{}, fmt.Errorf("edgelist: %q is not a time (accepted: a date such as 2006-01-02, a time such as 2006-01-02 15:04:05 in UTC or 2006-01-02T15:04:05+02:00)", text)
	}
	return at.time(), nil
}

// IsTime reports whether a text has the form of a time of ISO 8601, so that it makes a property
// without a type one of times: a date with hyphens, alone or before a time of day. The date need
// not exist, so that 2026-02-30 is refused and not kept as a string.
func IsTime(text string) bool { return isTime([]byte(text)) }

func isTime(field []byte) bool {
	if len(field) < len(time.DateOnly) || !isDigit(field[0]) {
		return false
	}
	for i, c := range field[:len(time.DateOnly)] {
		if hyphen := i == 4 || i == 7; hyphen != (c == '-') || !hyphen && !isDigit(c) {
			return false
		}
	}
	if field = field[len(time.DateOnly):]; len(field) == 0 {
		return true
	}
	clock := len(field) >= len("T15:04") && (field[0] == 'T' || field[0] == ' ') && isDigit(field[1]) && field[3] == ':'
	return clock && len(bytes.Trim(field[1:], "0123456789:.,+-Z ")) == 0
}

// CheckTime returns an error for a time in seconds since 1970 that is not in the years 0 to 9999.
// The error says so if the time may be in a smaller unit.
func CheckTime(seconds int64) error {
	switch unit := unitOf(seconds); {
	case seconds >= earliest && seconds <= latest:
		return nil
	case unit > Seconds:
		s, _ := unit.seconds(seconds)
		return fmt.Errorf("edgelist: time %d in seconds since 1970 is not in the years 0 to 9999; in %s it is %d", seconds, unit.Describe(), s)
	}
	return fmt.Errorf("edgelist: time %d in seconds since 1970 is not in the years 0 to 9999", seconds)
}

// civil is a time of a calendar and a clock.
type civil struct {
	year, month, day     int
	hour, minute, second int
	nano                 int // of the second
	offset               int // seconds by which the clock is ahead of UTC
}

// time returns the time in UTC. A leap second is the next second.
func (c civil) time() time.Time {
	return time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second-c.offset, c.nano, time.UTC)
}

// unix returns the time in seconds since 1970, rounded down.
func (c civil) unix() int64 { return c.time().Unix() }

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
			c.nano, text = fraction(text[1:])
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

// fraction parses the digits of a fraction of a second at the start of text.
func fraction(text []byte) (nano int, rest []byte) {
	nano, rest, _ = digits(text, 0, 9)
	for i := len(text) - len(rest); i < 9; i++ {
		nano *= 10
	}
	return nano, bytes.TrimLeft(rest, "0123456789")
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
		c = civil{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, offset}
		if c.valid() {
			return c, RFC2822
		}
	}
	return c, AnyTime
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
