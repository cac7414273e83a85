package rules

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Marshal encodes a set of Mine. Numbers are varints; the profile is in units of 1/65535.
func (s *Set) Marshal() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.heads)))
	for i := range s.heads {
		h := &s.heads[i]
		b = binary.AppendUvarint(b, uint64(h.counts.Edges))
		b = binary.AppendUvarint(b, uint64(h.counts.Sources))
		b = binary.AppendUvarint(b, uint64(len(h.frequent)))
		for _, u := range h.frequent {
			b = binary.AppendUvarint(b, uint64(u))
		}
		b = binary.AppendUvarint(b, uint64(len(h.profile)))
		for _, p := range h.profile {
			b = binary.LittleEndian.AppendUint16(b, packShare(p))
		}
		b = appendRules(appendRules(b, h.rules), h.against)
	}
	return b
}

func appendRules(b []byte, all []Rule) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, r := range all {
		b = append(b, byte(r.Len))
		for _, d := range r.path() {
			b = binary.AppendUvarint(b, uint64(d))
		}
		for k := range bins {
			b = binary.AppendUvarint(b, uint64(r.Hits[k]))
			b = binary.AppendUvarint(b, uint64(r.Tries[k]))
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(r.Chance))
	}
	return b
}

// Unmarshal decodes the result of Marshal. The memory that it takes is a small multiple of len(b).
func Unmarshal(b []byte) (*Set, error) {
	d := decoder{rest: b}
	s := &Set{heads: make([]head, d.len(4))}
	for i := range s.heads {
		h := &s.heads[i]
		h.counts = counts{float64(d.uint(math.MaxInt64)), float64(d.uint(math.MaxInt64))}
		h.frequent = made[ID](d.len(1))
		for k := range h.frequent {
			h.frequent[k] = ID(d.uint(math.MaxUint32))
		}
		h.profile = made[float32](d.len(2))
		for k := range h.profile {
			h.profile[k] = unpackShare(d.uint16())
		}
		h.rules, h.against = d.rules(len(s.heads)), d.rules(len(s.heads))
	}
	if !d.broken && len(d.rest) > 0 {
		d.broken = true
	}
	if d.broken {
		return nil, errors.New("the rules are malformed")
	}
	return s, nil
}

// packShare returns a number from 0 to 1 in units of 1/65535. A profile has such numbers from the
// beginning, so that a stored one answers the same.
func packShare(p float32) uint16 { return uint16(math.Round(float64(p) * math.MaxUint16)) }

func unpackShare(n uint16) float32 { return float32(n) / math.MaxUint16 }

// made returns a list of n values, nil for none, as Mine does.
func made[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

// rules decodes rules over directions below a number.
func (d *decoder) rules(directions int) []Rule {
	all := made[Rule](d.len(2 + 2*bins + 4))
	for k := range all {
		d.rule(&all[k], directions)
	}
	return all
}

// rule decodes a rule over directions below a number.
func (d *decoder) rule(r *Rule, directions int) {
	r.Len = int8(d.uint(MaxLen))
	if r.Len == 0 {
		d.broken = true
	}
	for k := range r.Len {
		r.Body[k] = Direction(d.uint(uint64(directions) - 1))
	}
	for k := range bins {
		r.Hits[k], r.Tries[k] = uint32(d.uint(math.MaxUint32)), uint32(d.uint(math.MaxUint32))
	}
	r.Chance = d.float32()
}

// decoder reads numbers. After a mistake it reads zeros.
type decoder struct {
	rest   []byte
	broken bool
}

// uint reads a number up to most.
func (d *decoder) uint(most uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if d.broken || n <= 0 || v > most {
		d.broken = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// len reads the number of values that follow, of at least the given number of bytes each.
func (d *decoder) len(bytes int) int { return int(d.uint(uint64(len(d.rest) / bytes))) }

// float32 reads a finite number that is not negative.
func (d *decoder) float32() float32 {
	if len(d.rest) < 4 {
		d.broken = true
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(d.rest))
	d.rest = d.rest[4:]
	d.broken = d.broken || !(v >= 0 && v <= math.MaxFloat32)
	return v
}

func (d *decoder) uint16() uint16 {
	if len(d.rest) < 2 {
		d.broken = true
		return 0
	}
	v := binary.LittleEndian.Uint16(d.rest)
	d.rest = d.rest[2:]
	return v
}

// Bytes returns the memory that the set takes.
func (s *Set) Bytes() (n int) {
	for i := range s.heads {
		h := &s.heads[i]
		n += 128 + 64*(len(h.rules)+len(h.against)) + 4*(len(h.frequent)+len(h.profile))
	}
	return n
}

// Nodes calls f for the nodes that the set names.
func (s *Set) Nodes(f func(ID)) {
	for _, h := range s.heads {
		for _, u := range h.frequent {
			f(u)
		}
	}
}

// Renamed returns the set for a graph of the given number of relations in which nodes and
// directions have other numbers. What has no number there is dropped.
func (s *Set) Renamed(relations int, node func(ID) (ID, bool), direction func(Direction) (Direction, bool)) *Set {
	out := &Set{heads: make([]head, 2*relations)}
	for i, h := range s.heads {
		d, ok := direction(Direction(i))
		if !ok {
			continue
		}
		to := &out.heads[d]
		to.counts, to.profile = h.counts, make([]float32, len(out.heads))
		for k, p := range h.profile {
			if d, ok := direction(Direction(k)); ok {
				to.profile[d] = p
			}
		}
		for _, u := range h.frequent {
			if v, ok := node(u); ok {
				to.frequent = append(to.frequent, v)
			}
		}
		to.rules, to.against = renamed(h.rules, direction), renamed(h.against, direction)
	}
	return out
}

// renamed returns the rules all of whose directions have numbers, under these.
func renamed(all []Rule, direction func(Direction) (Direction, bool)) (out []Rule) {
	for _, r := range all {
		if r.rename(direction) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, compareBodies)
	return out
}

// rename changes the directions of a rule. It reports whether all have numbers.
func (r *Rule) rename(direction func(Direction) (Direction, bool)) (ok bool) {
	for k := range r.path() {
		if r.Body[k], ok = direction(r.Body[k]); !ok {
			return false
		}
	}
	return true
}
