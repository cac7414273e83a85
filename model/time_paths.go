package model

import (
	"math"
	"slices"
)

// keepRows makes the history keep rows until the end of a replay.
func (h *history) keepRows() {
	h.keptOut.rows, h.keptIn.rows = make(map[ID]keptRow), make(map[ID]keptRow)
}

// walk follows recent paths from the source to the targets.
func (h *history) walk() {
	for i, p := range h.contacts[:min(len(h.contacts), hopPartners)] {
		h.twoHops(&h.keptOut, p.node, outRow(h.g, p.node), i+1)
		if h.g.Directed() {
			h.twoHops(&h.keptIn, p.node, inRow(h.g, p.node), i+1)
		}
	}
	for i, p := range h.out[:min(len(h.out), hopPartners)] {
		h.threeHops(p.node, i+1)
	}
}

// twoHops counts the newest entries of the row of a contact, weighted by 1/rank.
func (h *history) twoHops(kept *keptRows, contact ID, r timedRow, rank int) {
	h.near = kept.newest(h.near[:0], contact, r, h.now)
	for _, v := range h.near {
		if k := h.slot[v]; k > 0 {
			h.hop[k-1][0] += 1 / float64(rank)
		}
	}
}

// threeHops counts the newest partners of the nodes that share partner p with the source.
func (h *history) threeHops(p ID, rank int) {
	h.near = h.keptIn.newest(h.near[:0], p, inRow(h.g, p), h.now)
	for _, e := range h.near {
		r := outRow(h.g, e)
		if d := len(r.to); e == h.source || d < 2 || d > hopDegree {
			continue
		}
		h.far = h.keptOut.newest(h.far[:0], e, r, h.now)
		by := 1 / math.Log1p(float64(len(r.to)))
		for _, v := range h.far {
			k := h.slot[v]
			if k == 0 {
				continue
			}
			h.hop[k-1][1] += by / float64(rank)
			if rank == 1 {
				h.hop[k-1][2] += 1 / float64(len(r.to))
			}
		}
	}
}

// keptRows keeps the newest entries of rows during a replay, which reads most rows many times
// before they change. In a replay now never decreases.
type keptRows struct {
	rows    map[ID]keptRow // nil: keep nothing
	indices []int          // scratch
}

// keptRow is a row that has no entries later than now, and the nodes of its newest entries.
type keptRow struct {
	row    timedRow
	newest []ID
}

// maxKept is the maximum number of rows that are kept.
const maxKept = 1 << 16

// newest appends the nodes of the newest entries of the row of node u, newest first.
func (k *keptRows) newest(dst []ID, u ID, r timedRow, now int64) []ID {
	if of := k.rows[u]; of.newest != nil && len(of.row.time) == len(r.time) && &of.row.time[0] == &r.time[0] {
		return append(dst, of.newest...)
	}
	k.indices = newest(k.indices[:0], r, now)
	for _, i := range k.indices {
		dst = append(dst, r.to[i])
	}
	if k.rows != nil && len(k.indices) > 0 && slices.Max(r.time) <= now {
		if len(k.rows) >= maxKept {
			clear(k.rows)
		}
		k.rows[u] = keptRow{r, slices.Clone(dst)}
	}
	return dst
}

// newest appends the indices of the newest entries of a row with times, newest first. It appends at
// most hopRow entries and none later than now.
func newest(dst []int, r timedRow, now int64) []int {
	var times [hopRow]int64 // of dst
	for i, t := range r.time {
		if t > now || len(dst) == hopRow && times[hopRow-1] >= t {
			continue
		}
		if len(dst) < hopRow {
			dst = append(dst, 0)
		}
		at := len(dst) - 1
		for at > 0 && times[at-1] < t {
			dst[at], times[at] = dst[at-1], times[at-1]
			at--
		}
		dst[at], times[at] = i, t
	}
	return dst
}

// hops fills the columns of paths to the target of row i.
func (h *history) hops(i int, x []float32) {
	common, shared, now := h.hop[i][0], h.hop[i][1], h.hop[i][2]
	x[colTwoHops], x[colThreeHops] = log1p(common), log1p(shared)
	x[colThreePer] = float32(shared / math.Exp(float64(x[colToDegree])/2))
	x[colThreeNow] = log1p(now)
}
