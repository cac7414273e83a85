package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kith/index/internal/block"
)

// Span is the largest number of consecutive nodes that a block covers.
const Span = 4096

// Column holds the values that consecutive nodes have of a property, as a block stores them.
type Column struct {
	Property uint16
	Kind     Kind
	First    block.ID // the first node
	N        int      // number of nodes
	has      []uint64 // a bit for each node that has a value; nil: all have one

	// Of these, the column has the planes of its kind, with an entry for each node.
	num   []int64   // Int, Time
	float []float64 // Float
	code  []uint16  // Bool: 0 or 1; String: index of a word; List: indices of words, one list after the other
	end   []uint32  // List: end of the list of a node in code
	words []string  // String, List: the different strings, ascending
}

// Has reports whether node First+i has a value.
func (c *Column) Has(i int) bool { return c.has == nil || c.has[i>>6]>>(i&63)&1 != 0 }

// At returns the value of node First+i; None if it has no value.
func (c *Column) At(i int) Value {
	if !c.Has(i) {
		return Value{}
	}
	switch c.Kind {
	case Bool:
		return Value{kind: Bool, num: int64(c.code[i])}
	case Float:
		return FloatOf(c.float[i])
	case String:
		return StringOf(c.words[c.code[i]])
	case List:
		list := make([]string, 0, 4)
		for _, w := range c.listed(i) {
			list = append(list, c.words[w])
		}
		return Value{kind: List, list: list}
	}
	return Value{kind: c.Kind, num: c.num[i]}
}

// Widened returns a column of integers as one of floats.
func (c *Column) Widened() Column {
	wide := *c
	wide.Kind, wide.num, wide.float = Float, nil, make([]float64, len(c.num))
	for i, x := range c.num {
		wide.float[i] = float64(x)
	}
	return wide
}

// listed returns the words of the list of node First+i.
func (c *Column) listed(i int) []uint16 {
	begin := uint32(0)
	if i > 0 {
		begin = c.end[i-1]
	}
	return c.code[begin:c.end[i]]
}

// Bytes returns the memory of the column, in bytes.
func (c *Column) Bytes() int64 {
	n := 200 + 8*int64(len(c.has)+len(c.num)+len(c.float)) + 2*int64(len(c.code)) + 4*int64(len(c.end))
	for _, w := range c.words {
		n += 16 + int64(len(w))
	}
	return n
}

// A stored block is
//
//	property, kind, first node, number of nodes N
//	1 and a bit for each node that has a value, or 0 if all have one
//	the values in the order of the nodes:
//	  bool, integer, time  the least one, the step between values, width, and a code of width bytes each:
//	                       value = least + code*step
//	  float                width 4 or 8, and a number of width bytes each
//	  string               words, and the code of a word each
//	  list                 words, the lengths as of integers, and the codes of all words
//
// Words are their number, the strings in ascending order, and the width of their codes.

// maxBlock is the size of values, in bytes, at which a block ends.
const maxBlock = 16 << 10

// Packer writes blocks. Emit is called with each of them, in order. A block is encoded in another
// goroutine, while the values of the next one are added.
type Packer struct {
	Emit func(property uint16, first block.ID, block []byte) error

	packing
	full packing     // the values that are being encoded
	done chan []byte // receives their block; nil if there are none
}

// packing is the values of the next block.
type packing struct {
	property uint16
	ids      []block.ID
	values   []Value
	size     int
}

// Add adds the value of a node. Values must come by property and node, ascending.
func (p *Packer) Add(property uint16, id block.ID, v Value) error {
	if n := len(p.ids); n > 0 && (p.property != property || id-p.ids[0] >= Span || p.size >= maxBlock || v.kind != p.values[0].kind) {
		if err := p.emit(); err != nil {
			return err
		}
		p.begin()
	}
	p.property = property
	p.ids, p.values = append(p.ids, id), append(p.values, v)
	p.size += 2 + len(v.text) + len(v.list)
	for _, s := range v.list {
		p.size += 2 + len(s)
	}
	return nil
}

// begin begins to encode the values.
func (p *Packer) begin() {
	p.full, p.packing = p.packing, packing{ids: p.full.ids[:0], values: p.full.values[:0]}
	full, done := p.full, make(chan []byte, 1)
	p.done = done
	go func() { done <- block.WithChecksum(full.encode()) }()
}

// emit emits the block that is being encoded, if any.
func (p *Packer) emit() error {
	if p.done == nil {
		return nil
	}
	b := <-p.done
	p.done = nil
	return p.Emit(p.full.property, p.full.ids[0], b)
}

// Close writes the last blocks.
func (p *Packer) Close() error {
	if err := p.emit(); err != nil || len(p.ids) == 0 {
		return err
	}
	p.begin()
	return p.emit()
}

func (p *packing) encode() []byte {
	first, kind := p.ids[0], p.values[0].kind
	n := int(p.ids[len(p.ids)-1]-first) + 1
	b := binary.AppendUvarint(nil, uint64(p.property))
	b = append(b, byte(kind))
	b = binary.AppendUvarint(b, uint64(first))
	b = binary.AppendUvarint(b, uint64(n))
	if n == len(p.ids) {
		b = append(b, 0)
	} else {
		has := make([]byte, (n+7)/8)
		for _, id := range p.ids {
			has[(id-first)/8] |= 1 << ((id - first) % 8)
		}
		b = append(append(b, 1), has...)
	}
	switch kind {
	case Float:
		return appendFloats(b, p.values)
	case String:
		return appendWords(b, p.values, func(v *Value) []string { return []string{v.text} })
	case List:
		lengths := make([]int64, len(p.values))
		for i := range p.values {
			lengths[i] = int64(len(p.values[i].list))
		}
		return appendWords(appendNumbers(b, lengths), p.values, func(v *Value) []string { return v.list })
	}
	numbers := make([]int64, len(p.values))
	for i := range p.values {
		numbers[i] = p.values[i].num
	}
	return appendNumbers(b, numbers)
}

// appendNumbers appends numbers.
func appendNumbers(b []byte, numbers []int64) []byte {
	least, step := slices.Min(numbers), uint64(0)
	for _, x := range numbers {
		step = divisor(uint64(x)-uint64(least), step)
	}
	step = max(step, 1)
	width := widthOf((uint64(slices.Max(numbers)) - uint64(least)) / step)
	b = binary.AppendVarint(b, least)
	b = binary.AppendUvarint(b, step)
	b = append(b, byte(width))
	for _, x := range numbers {
		b = appendCode(b, (uint64(x)-uint64(least))/step, width)
	}
	return b
}

// divisor returns the greatest common divisor (Euclid).
func divisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// widthOf returns the number of bytes of codes up to most.
func widthOf(most uint64) int { return (bits.Len64(most) + 7) / 8 }

func appendCode(b []byte, code uint64, width int) []byte {
	return binary.LittleEndian.AppendUint64(b, code)[:len(b)+width]
}

func appendFloats(b []byte, values []Value) []byte {
	short := !slices.ContainsFunc(values, func(v Value) bool { return float64(float32(v.Float())) != v.Float() })
	if short {
		b = append(b, 4)
		for _, v := range values {
			b = block.AppendFloat32(b, float32(v.Float()))
		}
		return b
	}
	b = append(b, 8)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v.num))
	}
	return b
}

func appendWords(b []byte, values []Value, of func(*Value) []string) []byte {
	var all []string
	for i := range values {
		all = append(all, of(&values[i])...)
	}
	words := slices.Clone(all)
	slices.Sort(words)
	words = slices.Compact(words)
	b = binary.AppendUvarint(b, uint64(len(words)))
	code := make(map[string]uint64, len(words))
	for i, w := range words {
		b = block.AppendString(b, w)
		code[w] = uint64(i)
	}
	width := widthOf(uint64(max(len(words)-1, 0)))
	b = append(b, byte(width))
	for _, w := range all {
		b = appendCode(b, code[w], width)
	}
	return b
}

// Decode decodes a block.
func Decode(d *block.Decoder) (Column, error) {
	c := Column{Property: d.Relation(), Kind: Kind(d.Byte()), First: d.ID()}
	n := d.Uvarint()
	if d.Err == nil && (!c.Kind.Valid() || n == 0 || n > Span || uint64(c.First)+n-1 > math.MaxUint32) {
		d.Fail("a block of values")
	}
	c.N = int(min(n, Span))
	present := c.readPresence(d)
	switch c.Kind {
	case Float:
		c.readFloats(d, present)
	case String:
		codes := c.readWords(d, present)
		c.code = spread(&c, codes)
	case List:
		lengths := readNumbers(d, present)
		total := 0
		for _, l := range lengths {
			if l < 0 || l > MaxList {
				d.Fail("a list")
				break
			}
			total += int(l)
		}
		if d.Err == nil {
			c.code = c.readWords(d, total)
			c.end = make([]uint32, c.N)
			end, at := uint32(0), 0
			for i := range c.end {
				if c.Has(i) {
					end += uint32(lengths[at])
					at++
				}
				c.end[i] = end
			}
		}
	case Bool:
		numbers := readNumbers(d, present)
		codes := make([]uint16, len(numbers))
		for i, x := range numbers {
			if codes[i] = uint16(x); uint64(x) > 1 {
				d.Fail("a truth value")
				break
			}
		}
		c.code = spread(&c, codes)
	case Int, Time:
		c.num = spread(&c, readNumbers(d, present))
	}
	if err := d.End(); err != nil {
		return Column{}, err
	}
	return c, nil
}

// readPresence reads which nodes have a value, and returns their number.
func (c *Column) readPresence(d *block.Decoder) (present int) {
	if d.Byte() == 0 {
		return c.N
	}
	has := d.Take((c.N+7)/8, "a block of values")
	if d.Err != nil {
		return 0
	}
	c.has = make([]uint64, (c.N+63)/64)
	for i, x := range has {
		c.has[i/8] |= uint64(x) << (i % 8 * 8)
	}
	for _, x := range c.has {
		present += bits.OnesCount64(x)
	}
	if extra := c.N % 64; extra > 0 && c.has[len(c.has)-1]>>extra != 0 {
		d.Fail("a block of values")
	}
	return present
}

// spread returns a plane with an entry for each node from the values of the nodes that have one.
func spread[T any](c *Column, values []T) []T {
	if c.has == nil || len(values) == 0 {
		return values
	}
	all, at := make([]T, c.N), 0
	for i := range all {
		if c.Has(i) {
			all[i] = values[at]
			at++
		}
	}
	return all
}

// readNumbers reads n numbers; nil after an error.
func readNumbers(d *block.Decoder, n int) []int64 {
	least, step := uint64(d.Varint()), d.Uvarint()
	codes := readCodes(d, n)
	if d.Err != nil {
		return nil
	}
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(least + codes.at(i)*step)
	}
	return numbers
}

// codes are codes of the same width.
type codes struct {
	b     []byte
	width int
}

// readCodes reads a width and n codes.
func readCodes(d *block.Decoder, n int) codes {
	width := int(d.Byte())
	if width > 8 {
		d.Fail("a block of values")
		return codes{}
	}
	return codes{d.Take(n*width, "a block of values"), width}
}

func (c codes) at(i int) uint64 {
	switch c.width {
	case 1:
		return uint64(c.b[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(c.b[2*i:]))
	}
	var b [8]byte
	copy(b[:], c.b[i*c.width:(i+1)*c.width])
	return binary.LittleEndian.Uint64(b[:])
}

func (c *Column) readFloats(d *block.Decoder, n int) {
	width := int(d.Byte())
	if width != 4 && width != 8 {
		d.Fail("a block of values")
		return
	}
	b := d.Take(n*width, "a block of values")
	if d.Err != nil {
		return
	}
	values := make([]float64, n)
	for i := range values {
		if width == 4 {
			values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			d.Err = fmt.Errorf("%w: a number is not finite", block.ErrCorrupt)
			return
		}
	}
	c.float = spread(c, values)
}

// readWords reads words and n of their codes; nil after an error.
func (c *Column) readWords(d *block.Decoder, n int) []uint16 {
	c.words = make([]string, d.Count())
	for i := range c.words {
		c.words[i] = d.String()
	}
	all := readCodes(d, n)
	if d.Err != nil {
		return nil
	}
	list := make([]uint16, n)
	for i := range list {
		code := all.at(i)
		if list[i] = uint16(code); code >= uint64(len(c.words)) {
			d.Fail("a word")
			return nil
		}
	}
	return list
}
