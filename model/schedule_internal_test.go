package model

import (
	"slices"
	"testing"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset string
		count  int   // trainings in 10,000 rounds
		around []int // trainings from round 980 to 1220
	}{
		{"paper", 40 + 80, []int{1000, 1050, 1100, 1150, 1200}},
		{"default", 50 + 190, []int{1000, 1050, 1100, 1150, 1200}},
	} {
		p, err := preset(c.preset, 2)
		if err != nil {
			t.Fatal(c.preset, err)
		}
		count := 0
		var around []int
		for round := 1; round <= 10000; round++ {
			if p.Schedule.due(round) {
				count++
				if round >= 980 && round <= 1220 {
					around = append(around, round)
				}
			}
		}
		if count != c.count || !slices.Equal(around, c.around) {
			t.Errorf("%s: %d trainings, near round 1000 at %v; want %d, %v", c.preset, count, around, c.count, c.around)
		}
	}
}
