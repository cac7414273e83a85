package ogb

import "kith/model"

// Measures says how well the links of a part rank above its other pairs.
type Measures struct {
	Hits map[int]float64 // Hits@K by K
	MRR  float64
	AUC  float64
}

// HitsAt returns the values of K for which Measure computes Hits@K.
func HitsAt() []int { return []int{10, 20, 50, 100} }

// Measure computes the measures of the scores of a part: the scores of Links, then the scores of
// Others. If each link has Others of its own, the measures are means over the links of its rank
// among its Others, in which pairs of equal score count half.
func (p Part) Measure(scores []float64) Measures {
	links, others := scores[:len(p.Links)], scores[len(p.Links):]
	m := Measures{Hits: make(map[int]float64)}
	if p.Each == 0 {
		m.MRR, m.AUC = model.MRR(links, others), model.AUC(links, others)
		for _, k := range HitsAt() {
			m.Hits[k] = model.HitsAt(k, links, others)
		}
		return m
	}
	n := float64(len(links))
	for i := range links {
		link, own := links[i:i+1], others[i*p.Each:(i+1)*p.Each]
		reciprocal := model.MRR(link, own)
		m.MRR += reciprocal / n
		m.AUC += model.AUC(link, own) / n
		for _, k := range HitsAt() {
			if reciprocal*float64(k) >= 1 {
				m.Hits[k] += 1 / n
			}
		}
	}
	return m
}
