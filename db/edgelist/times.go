package edgelist

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TimeFormat is how a list writes times. Those without a zone are in UTC. What is read of them is seconds since
// 1970, rounded down.
type TimeFormat int

const (
	AnyTime      TimeFormat = iota // told from the first lines: whole numbers by their size, else how they are written
	Seconds                        // since 1970
	Milliseconds                   // since 1970
	Microseconds                   // since 1970
	Nanoseconds                    // since 1970
	RFC3339                        // 2006-01-02T15:04:05Z, or with an offset such as +07:00, a blank for the T or a fraction
	DateTime                       // 2006-01-02 15:04:05, or with a T for the blank or a fraction
	Date                           // 2006-01-02
)

// timeFormats returns the names of the formats that can be given, beginning with Seconds.
func timeFormats() []string {
	return []string{"s", "ms", "us", "ns", "rfc3339", "datetime", "date"}
}

// String returns the name of the format, such as "ms".
func (f TimeFormat) String() string {
	if f < Seconds || f > Date {
		return "auto"
	}
	return timeFormats()[f-Seconds]
}

// Describe returns what times of the format look like, such as "milliseconds since 1970" or "2006-01-02".
func (f TimeFormat) Describe() string {
	switch f {
	case Seconds:
		return "seconds since 1970"
	case Milliseconds:
		return "milliseconds since 1970"
	case Microseconds:
		return "microseconds since 1970"
	case Nanoseconds:
		return "nanoseconds since 1970"
	}
	if layouts := f.layouts(); layouts != nil {
		return layouts[0]
	}
	return f.String()
}

// MarshalText implements [encoding.TextMarshaler].
func (f TimeFormat) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *TimeFormat) UnmarshalText(b []byte) (err error) {
	*f, err = ParseTimeFormat(string(b))
	return err
}

// ParseTimeFormat is the inverse of [TimeFormat.String].
func ParseTimeFormat(s string) (TimeFormat, error) {
	if i := slices.Index(timeFormats(), s); i >= 0 {
		return Seconds + TimeFormat(i), nil
	}
	if s == AnyTime.String() {
		return AnyTime, nil
	}
	return AnyTime, fmt.Errorf("edgelist: unknown times %q, expected auto, %s", s, strings.Join(timeFormats(), ", "))
}

// unit returns how many of a format's numbers make a second, 0 for a format of text.
func (f TimeFormat) unit() int64 {
	switch f {
	case Seconds:
		return 1
	case Milliseconds:
		return 1e3
	case Microseconds:
		return 1e6
	case Nanoseconds:
		return 1e9
	}
	return 0
}

// seconds turns a whole number of a format into seconds, rounded down.
func (f TimeFormat) seconds(n int64) int64 {
	unit := f.unit()
	if n < 0 && n%unit != 0 {
		return n/unit - 1
	}
	return n / unit
}

// layouts are the spellings of a format of text.
func (f TimeFormat) layouts() []string {
	switch f {
	case RFC3339:
		return []string{time.RFC3339, "2006-01-02 15:04:05Z07:00"}
	case DateTime:
		return []string{time.DateTime, "2006-01-02T15:04:05"}
	case Date:
		return []string{time.DateOnly}
	}
	return nil
}

// parse reads a time that is written in the format.
func (f TimeFormat) parse(field []byte) (int64, bool) {
	if f.unit() > 0 {
		n, ok := parseTime(field)
		return f.seconds(n), ok
	}
	for _, layout := range f.layouts() {
		if t, err := time.Parse(layout, string(field)); err == nil {
			return t.Unix(), true
		}
	}
	return 0, false
}

// timeFormatOf tells in which format a time is written; AnyTime: it is none. A whole number is one of seconds up to
// the year 5138, and else of the unit in which it is a time after 1973.
func timeFormatOf(field []byte) TimeFormat {
	if n, ok := parseTime(field); ok {
		f := Seconds
		for limit := int64(1e11); f < Nanoseconds && (n >= limit || n <= -limit); limit *= 1e3 {
			f++
		}
		return f
	}
	if len(field) == 0 || field[0] < '0' || field[0] > '9' {
		return AnyTime
	}
	for f := RFC3339; f <= Date; f++ {
		if _, ok := f.parse(field); ok {
			return f
		}
	}
	return AnyTime
}

// guessTimes decides how the times of a column are written: as most of those of the first lines that are times
// and not 0, which stands for none.
func guessTimes(lines [][]byte, l *layout, column int) TimeFormat {
	var count [Date + 1]int
	for _, line := range lines[:min(len(lines), guessLines)] {
		fields, _ := l.split(line)
		if f := timeFormatOf(fields[column]); f != AnyTime && !bytes.Equal(fields[column], []byte("0")) {
			count[f]++
		}
	}
	best := Seconds
	for f, n := range count {
		if n > count[best] {
			best = TimeFormat(f)
		}
	}
	return best
}
