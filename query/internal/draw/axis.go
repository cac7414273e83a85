package draw

import (
	"iter"
	"math"
	"strconv"
)

// axis maps values to a range of coordinates.
type axis struct {
	low, high float64 // values at the ends; powers of ten if log
	from, to  float64 // coordinates of the ends
	log       bool
}

// newAxis returns an axis for values. It ignores values that it cannot show. It begins at
// zero unless there are values below.
func newAxis(log bool, values iter.Seq[float64]) axis {
	a := axis{log: log, low: math.Inf(1), high: math.Inf(-1)}
	for v := range values {
		if a.shows(v) {
			a.low, a.high = min(a.low, v), max(a.high, v)
		}
	}
	if a.low > a.high {
		a.low, a.high = 1, 1
	}
	if log {
		a.low = math.Pow(10, math.Floor(math.Log10(a.low)+1e-9))
		a.high = max(math.Pow(10, math.Ceil(math.Log10(a.high)-1e-9)), 10*a.low)
		return a
	}
	a.low, a.high = min(a.low, 0), max(a.high, 0)
	if a.high <= a.low {
		a.high = a.low + 1
	}
	return a
}

// shows reports whether a value has a place on the axis. Values of a size that no data has are left
// out, so that sums of them are finite.
func (a *axis) shows(v float64) bool {
	const most = 1e100
	return v >= -most && v <= most && (!a.log || v >= 1/most)
}

// at returns the coordinate of a value.
func (a *axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(v)
	}
	return a.from + (a.to-a.from)*min(max((v-low)/(high-low), 0), 1)
}

// ticks returns the values to mark: four to ten multiples of 1, 2 or 5 times a power of ten or, on
// a logarithmic axis, up to eight powers of ten.
func (a *axis) ticks() (all []float64) {
	if a.log {
		first, last := math.Round(math.Log10(a.low)), math.Round(math.Log10(a.high))
		step := math.Ceil((last - first) / 8)
		for e := first; e <= last; e += max(step, 1) {
			all = append(all, math.Pow(10, e))
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10(a.high-a.low)))
	for _, part := range []float64{0.5, 0.4} { // 10 -> 5 -> 2
		if (a.high-a.low)/step < 4 {
			step *= part
		}
	}
	for i := math.Ceil(a.low/step - 1e-9); i*step <= a.high+1e-9*step; i++ {
		all = append(all, i*step+0) // not -0
	}
	return all
}

// tickLabel returns a value in at most five digits or so: 0.25, 500, 20k, 3M, 1e-6.
func tickLabel(v float64) string {
	size := math.Abs(v)
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if size >= unit.size*(1-1e-9) && size < 1e12 {
			by := unit.size
			if unit.name == "k" {
				by = 1e3
			}
			return strconv.FormatFloat(v/by, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
