package rules

// numbering numbers nodes in the order in which they are first seen.
type numbering struct {
	nodes []ID
	dense []uint32 // by node: its number + 1; nil for a large graph
	keys  []uint32 // a hash table of these numbers with linear probing, for a large graph
}

// mostDense is the number of nodes of the largest graph whose numbers stand in a list.
const mostDense = 1 << 20

// open prepares a numbering for a graph of n nodes. It keeps no node.
func (s *numbering) open(n int) {
	s.clear()
	switch {
	case n > mostDense:
		s.dense = nil
		if s.keys == nil {
			s.keys = make([]uint32, 1<<10)
		}
	case len(s.dense) < n:
		s.dense = make([]uint32, n)
	}
}

// clear forgets all nodes.
func (s *numbering) clear() {
	if s.dense == nil {
		clear(s.keys)
	} else {
		for _, u := range s.nodes {
			s.dense[u] = 0
		}
	}
	s.nodes = s.nodes[:0]
}

// find returns the number of u, or -1.
func (s *numbering) find(u ID) int {
	if s.dense != nil {
		return int(s.dense[u]) - 1
	}
	return int(s.keys[s.place(u)]) - 1
}

// number returns the number of u, which is the next one if u is new.
func (s *numbering) number(u ID) int {
	at := &s.keys
	i := int(u)
	if s.dense != nil {
		at = &s.dense
	} else {
		i = s.place(u)
	}
	if n := (*at)[i]; n != 0 {
		return int(n) - 1
	}
	s.nodes = append(s.nodes, u)
	(*at)[i] = uint32(len(s.nodes))
	if s.dense == nil && 2*len(s.nodes) > len(s.keys) {
		s.grow()
	}
	return len(s.nodes) - 1
}

// place returns the place of u in the hash table.
func (s *numbering) place(u ID) int {
	mask := len(s.keys) - 1
	i := int(uint64(u)*0x9e3779b97f4a7c15>>32) & mask
	for s.keys[i] != 0 && s.nodes[s.keys[i]-1] != u {
		i = (i + 1) & mask
	}
	return i
}

// grow doubles the hash table.
func (s *numbering) grow() {
	s.keys = make([]uint32, 2*len(s.keys))
	for i, u := range s.nodes {
		s.keys[s.place(u)] = uint32(i) + 1
	}
}
