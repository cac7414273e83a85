package query_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/query"
)

// TestBadValues gives statements about relations, properties and vectors arguments that they cannot
// take. Each is an error that says what is wrong, and where, and nothing changes.
func TestBadValues(t *testing.T) {
	t.Parallel()
	s := related(t)
	ctx := context.Background()
	run := func(text string, args ...any) error {
		_, err := s.Run(ctx, text, args...)
		return err
	}
	if err := run("MERGE NODE 'ann' FEATURES (1, 2) SET price = 1.5, tags = ('a'), seen = '2026-11-01'"); err != nil {
		t.Fatal(err)
	}
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprint("t", i)
	}
	const set, near = "UPDATE NODE 'ann' SET new = 1, ", "PREDICT LINKS FOR 'ann' AMONG NEAR(?, 3)"
	for _, c := range []struct {
		text string
		arg  any
		want string
	}{
		{set + "price = ?", math.NaN(), `1:32: property "price": NaN is not a finite number`},
		{set + "price = ?", math.Inf(-1), `1:32: property "price": -Inf is not a finite number`},
		{set + "price = ?", "x", `1:32: value of another type: property "price" is of type float, not string`},
		{set + "price = ?", struct{}{}, `1:32: property "price": {} (struct {}) is no value`},
		{set + "tags = ?", many, `1:32: property "tags": a list of 100000 strings; at most 1000 are accepted`},
		{set + "tags = ?", []any{"a", 1}, `1:32: property "tags": a list is no value`},
		{set + "seen = ?", "2026-02-30", `1:32: property "seen": "2026-02-30" is not a time`},
		{set + "fresh = ?", "2026-02-30", `1:32: property "fresh": "2026-02-30" is not a time`},
		{set + "seen = ?", time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), `1:32: property "seen": a time that is not in the years 0 to 9999`},
		{"NODES WHERE price < ?", math.NaN(), `1:13: property "price" is of type float, and cannot be compared with NaN (a number)`},
		{"NODES WHERE price IN ?", []any{1, "x"}, "1:22: found ?, expected"},
		{"NODES WHERE price IN (?)", []any{1, "x"}, `1:13: property "price" is of type float, and cannot be compared with 'x' (a string)`},
		{"NODES WHERE seen > ?", time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), "1:20: time 317"},
		{"NODES WHERE seen > ?", "2026-02-30", `1:20: "2026-02-30" is not a time`},
		{"INSERT EDGES 'ann' -[likes]-> 'new' WEIGHT ?", math.NaN(), "1:44: NaN (a number) is not a finite number"},
		{"INSERT EDGES 'ann' -[likes]-> 'new' AT ?", "2026-02-30", `1:40: "2026-02-30" is not a time`},
		{"RANK NODES FOR 'ann' WITH (relation_weights = (likes = ?))", math.Inf(1), "1:56: +Inf (a number) is not a finite number"},
		{"OBSERVE 'ann' -[likes]-> 'p2' = ?", math.NaN(), "1:33: NaN (a number) is not a finite number"},
		{near, []float64{1, math.NaN()}, "1:36: "},
		{near, []float64{0, 0}, "1:31: a vector without a number other than 0 is near to nothing"},
		{near, []float64{1, 2, 3}, `1:31: no node has a vector of 3 numbers: nodes without a label have 2`},
		{near, []float64{}, "1:31: a vector without a number other than 0"},
		{near, "x", "1:36: "},
		{"RANK NODES FOR NEAR(?, 3)", []float64{0, 0}, "1:16: a vector without a number other than 0 is near to nothing"},
		{"PREDICT LINKS likes FOR 'ann' AMONG ALL EXCEPT NEIGHBORS VIA shown WITHIN ?", -time.Hour, "1:75: -1h0m0s is not a duration above 0"},
	} {
		before, err := s.DB.Stats()
		if err != nil {
			t.Fatal(err)
		}
		err = run(c.text, c.arg)
		var e *query.Error
		if !errors.As(err, &e) || !errors.Is(err, db.ErrInput) && !strings.Contains(c.want, "expected") || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s with %.40v: %v, want %s", c.text, c.arg, err, c.want)
		}
		if after, err := s.DB.Stats(); err != nil || after.Version != before.Version {
			t.Errorf("%s with %.40v: version %d after %d, %v", c.text, c.arg, after.Version, before.Version, err)
		}
	}
}
