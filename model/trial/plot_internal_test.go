package trial

import (
	"fmt"
	"testing"
)

func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 2000, "0 500 1000 1500 2000"},
		{0, 1800, "0 200 400 600 800 1000 1200 1400 1600 1800"},
		{0, 10000, "0 2000 4000 6000 8000 10000"},
		{3, 48, "10 20 30 40"},
		{0, 0, "0"},
	} {
		got := ""
		for i, tick := range roundTicks(c.low, c.high) {
			if i > 0 {
				got += " "
			}
			got += tick.Label
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", fmt.Sprint(c.low, " to ", c.high), got, c.want)
		}
	}
}
