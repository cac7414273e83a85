package edgelist

import "math"

// overlap counts the integers that are both sources and targets. It keeps a sample of them: those
// whose hash is below a limit, which falls as the sample grows.
type overlap struct {
	ends  map[int64]uint8 // bit 0: source, bit 1: target
	limit uint64          // of the hashes of the keys in ends
}

// maxOverlap is the maximal number of keys in the sample.
const maxOverlap = 1 << 16

func newOverlap() *overlap { return &overlap{ends: map[int64]uint8{}, limit: math.MaxUint64} }

// spread mixes the bits of a key (the finalizer of SplitMix64).
func spread(key int64) uint64 {
	x := uint64(key) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (o *overlap) add(key Token, end uint8) {
	if !key.IsInt || spread(key.Int) > o.limit {
		return
	}
	o.ends[key.Int] |= end
	for len(o.ends) > maxOverlap {
		o.limit /= 2
		for k := range o.ends {
			if spread(k) > o.limit {
				delete(o.ends, k)
			}
		}
	}
}

func (o *overlap) edge(e *Edge) {
	o.add(e.Src, 1)
	o.add(e.Dst, 2)
}

// shared returns the number of integers that are both sources and targets, and whether it is exact.
func (o *overlap) shared() (n float64, exact bool) {
	for _, ends := range o.ends {
		if ends == 1|2 {
			n++
		}
	}
	if o.limit == math.MaxUint64 {
		return n, true
	}
	return math.Round(n * (math.MaxUint64 / float64(o.limit))), false
}

// report adds a note about integers that are both.
func (o *overlap) report(d *Detected) {
	n, exact := o.shared()
	if n == 0 {
		return
	}
	about, src, dst := "", "source", "target"
	if !exact {
		about = "about "
	}
	if d.Names != (Names{}) {
		src, dst = kindOf(d.Names.Src), kindOf(d.Names.Dst)
	}
	numbers := "of the numbers are both sources and targets, and each of them became one node"
	if n == 1 {
		numbers = "of the numbers is both a source and a target, and became one node"
	}
	d.Notes = append(d.Notes, Note{Msg: about + formatCount(n) + " " + numbers, Try: []Setting{{"source_label", src}, {"target_label", dst}}})
}
