package draw

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 2000, false, "0 500 1000 1500 2000"},
		{0, 1800, false, "0 200 400 600 800 1000 1200 1400 1600 1800"},
		{0, 10000, false, "0 2000 4000 6000 8000 10k"},
		{0, 48, false, "0 10 20 30 40"},
		{0, 0, false, "0 0.2 0.4 0.6 0.8 1"},
		{0, 0.07, false, "0 0.01 0.02 0.03 0.04 0.05 0.06 0.07"},
		{-3, 4, false, "-3 -2 -1 0 1 2 3 4"},
		{1, 1e6, true, "1 10 100 1000 10k 100k 1M"},
		{7, 7, true, "1 10"},
		{1e-12, 1e12, true, "1e-12 1e-09 1e-06 0.001 1 1000 1M 1G 1e+12"},
	} {
		a := newAxis(c.log, func(yield func(float64) bool) { _ = yield(c.low) && yield(c.high) })
		got := ""
		for _, v := range a.ticks() {
			got += " " + tickLabel(v)
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%v to %v: got %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// charts returns functions that draw charts of some numbers.
func charts(numbers []float64, name string) map[string]func(Options) *Picture {
	var points []Point
	var bins []Bin
	for i, y := range numbers {
		points = append(points, Point{float64(i), y})
		bins = append(bins, Bin{y, float64(i) / 10, i})
	}
	return map[string]func(Options) *Picture{
		"loglog":      func(o Options) *Picture { return LogLog(points, name, "nodes", o) },
		"calibration": func(o Options) *Picture { return Calibration(bins, o) },
		"curve":       func(o Options) *Picture { return Curve(points, "round", name, o) },
	}
}

// Charts of any numbers are XML that a page may contain, lie in their box, and say so if there are
// no data.
func TestCharts(t *testing.T) {
	t.Parallel()
	for name, numbers := range map[string][]float64{
		"nothing": nil, "one": {3}, "zero": {0, 0}, "some": {1, 5, 2, 100, 1e6}, "negative": {-1, -5, 3}, "constant": {2, 2, 2},
		"bad":  {math.NaN(), math.Inf(1), math.Inf(-1), 4, math.NaN(), math.MaxFloat64, 5, 6, math.SmallestNonzeroFloat64},
		"tiny": {1e-90, 2e-90, 3e-90}, "huge": {1e99, 5e99},
	} {
		for kind, draw := range charts(numbers, `<"&'`+strings.Repeat("長", 99)) {
			for _, o := range []Options{{}, {Standalone: true}, {Width: 1, Height: 1}} {
				picture := draw(o)
				svg := drawn(t, picture)
				elements := wellFormed(t, svg)
				if !o.Standalone {
					safeInline(t, elements)
				}
				if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
					t.Errorf("%s of %s has a number that is none:\n%s", kind, name, svg)
				}
				if empty := strings.Contains(svg, "no data yet"); empty && name == "some" || !empty && name == "nothing" {
					t.Errorf("%s of %s:\n%s", kind, name, svg)
				}
				if err := inBox(picture); err != nil && o.Width != 1 {
					t.Errorf("%s of %s: %v", kind, name, err)
				}
			}
		}
	}
}

// TestChartGoldens compares charts with those in testdata.
func TestChartGoldens(t *testing.T) {
	t.Parallel()
	degrees := []Point{{1, 2000}, {2, 900}, {3, 500}, {5, 150}, {10, 40}, {30, 4}, {120, 1}}
	golden(t, "testdata/loglog.svg", LogLog(degrees, "degree", "nodes", Options{}))
	bins := []Bin{{0.05, 0.04, 900}, {0.2, 0.25, 300}, {0.5, 0.41, 80}, {0.9, 0.97, 10}}
	golden(t, "testdata/calibration.svg", Calibration(bins, Options{Standalone: true}))
	rewards := []Point{{1, 0.1}, {2, 0.4}, {3, math.NaN()}, {4, 0.5}, {5, math.NaN()}, {6, 0.45}, {7, 0.6}}
	golden(t, "testdata/curve.svg", Curve(rewards, "outcomes", "mean reward", Options{Standalone: true}))
}
