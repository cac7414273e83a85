package query

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"kith/db"
	"kith/query/internal/parse"
)

// longPart matches a number of days or weeks.
var longPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([0-9]*\.?[0-9]+|[0-9]+\.)([dw])`)
})

// ParseDuration parses a duration as [time.ParseDuration] does, and with days (d) and weeks (w) of
// 24 hours a day: "7d", "1d12h", "1.5w". It returns [db.ErrInput] for other text.
func ParseDuration(text string) (time.Duration, error) {
	hours := longPart().ReplaceAllStringFunc(text, func(part string) string {
		m := longPart().FindStringSubmatch(part)
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return part
		}
		if m[2] == "w" {
			n *= 7
		}
		return strconv.FormatFloat(24*n, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is not a duration (accepted: a number with a unit, such as 500ms, 90s, 24h, 7d or 1d12h)", db.ErrInput, text)
	}
	return d, nil
}

// duration returns a duration above 0, given as a number of seconds, a string or a time.Duration.
// It returns 0 if v is nil.
func (r *run) duration(v parse.Value) (d time.Duration) {
	if v == nil {
		return 0
	}
	const most = int64(200 * 365 * 24 * time.Hour / time.Second)
	var err error
	x := r.value(v)
	switch x := x.(type) {
	case time.Duration:
		d = x
	case string:
		d, err = ParseDuration(x)
	default:
		d = time.Duration(min(r.integer(v, 1, 0), most)) * time.Second
	}
	if err != nil || d <= 0 {
		r.refuse(v, "%v is not a duration above 0 (accepted: seconds, or a string like '90s', '24h' or '7d')", x)
	}
	return d
}
