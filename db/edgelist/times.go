package edgelist

import (
	"bytes"
	"time"
)

// TimeFormat is a format of times in a list. Times without a zone are in UTC. They are read as seconds since 1970,
// rounded down.
type TimeFormat int

const (
	AnyTime      TimeFormat = iota // detected from the first lines: integers by their size, otherwise by their form
	Seconds                        // since 1970
	Milliseconds                   // since 1970
	Microseconds                   // since 1970
	Nanoseconds                    // since 1970
	RFC3339                        // 2006-01-02T15:04:05Z, or with an offset such as +07:00, a blank instead of the T, or a fraction
	DateTime                       // 2006-01-02 15:04:05, or with a T instead of the blank, or a fraction
	Date                           // 2006-01-02
)

// timeFormats returns the names of the values of TimeFormat.
func timeFormats() []string {
	return []string{"auto", "s", "ms", "us", "ns", "rfc3339", "datetime", "date"}
}

// String returns the name of the format, such as "ms".
func (f TimeFormat) String() string { return enumName(f, timeFormats()) }

// Describe returns a description of the format, such as "milliseconds since 1970" or "2006-01-02".
func (f TimeFormat) Describe() string {
	if f >= Seconds && f <= Nanoseconds {
		return []string{"seconds", "milliseconds", "microseconds", "nanoseconds"}[f-Seconds] + " since 1970"
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

// seconds converts an integer in the format's unit to seconds, rounded down.
func (f TimeFormat) seconds(n int64) int64 {
	unit := f.unit()
	if n < 0 && n%unit != 0 {
		return n/unit - 1
	}
	return n / unit
}

// layouts returns the layouts of a text format, as for [time.Parse].
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

// parse parses a time in the format.
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

// timeFormatOf returns the format of a time, or AnyTime if the field is not a time. An integer is in seconds if that
// gives a year up to 5138, otherwise in the unit in which it is a time after 1973.
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

// guessTimes guesses the format of the times of a list: the most frequent format among the first lines, without 0,
// which means no time.
func guessTimes(lines [][]byte, l *layout) TimeFormat {
	var count [Date + 1]int
	for _, line := range lines[:min(len(lines), guessLines)] {
		fields, _ := l.split(line)
		if f := timeFormatOf(fields[roleTime]); f != AnyTime && !bytes.Equal(fields[roleTime], []byte("0")) {
			count[f]++
		}
	}
	return mostFrequent(count)
}

// mostFrequent returns the most frequent format, without counting AnyTime.
func mostFrequent(count [Date + 1]int) TimeFormat {
	best := Seconds
	for f := Seconds; f <= Date; f++ {
		if count[f] > count[best] {
			best = f
		}
	}
	return best
}
