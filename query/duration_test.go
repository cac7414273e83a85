package query

import (
	"errors"
	"testing"
	"time"

	"kith/db"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "24h": day, "0": 0,
		"7d": 7 * day, "1w": 7 * day, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, ".5w": 84 * time.Hour, "2w1d": 15 * day,
		"-1d": -day, "+1d": day, "100w": 700 * day, "1.d": day,
	} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "d", "7 d", "7days", "7D", "1d1", "1e3d", "99999999999d", ".d", "1mo"} {
		if got, err := ParseDuration(text); !errors.Is(err, db.ErrInput) {
			t.Errorf("%q: got %v, %v, want an error", text, got, err)
		}
	}
}
