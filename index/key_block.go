package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"sort"
)

// The dictionary is stored in blocks, by id, and once more by key if ids are not in key order:
//
//	crc32c of the rest    4 bytes
//	groups of 64 keys     the keys as in appendKey; in blocks by key, each is followed by its id as a uvarint
//	starts of the groups  2 bytes each, little-endian
//	number of groups      2 bytes, little-endian
//
// A group is decoded without the previous one, so a look-up decodes few keys, and a cache can hold the stored bytes.
//
// A block by id is numbered by its first id, so that it states which ids it covers without the other blocks.

// keyGroup is the number of keys that are decoded together.
const keyGroup = 64

// keyEntry is a key with its id.
type keyEntry struct {
	Key
	id ID
}

// keyPacker packs keys into blocks.
type keyPacker struct {
	withIDs bool
	emit    func(first keyEntry, block []byte) error
	first   keyEntry // of the next block
	b       []byte
	starts  []byte
	n       int
	last    int64
}

// add adds the next key.
func (p *keyPacker) add(k keyEntry) error {
	if len(p.b) >= blockSize {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if p.n == 0 {
		p.first = k
	}
	if p.n%keyGroup == 0 {
		p.starts = binary.LittleEndian.AppendUint16(p.starts, uint16(len(p.b)))
		p.last = 0
	}
	p.b = appendKey(p.b, k.Key, &p.last)
	if p.withIDs {
		p.b = binary.AppendUvarint(p.b, uint64(k.id))
	}
	p.n++
	return nil
}

// pack adds all keys of a list, and flushes.
func (p *keyPacker) pack(keys iter.Seq2[keyEntry, error]) error {
	for k, err := range keys {
		if err == nil {
			err = p.add(k)
		}
		if err != nil {
			return err
		}
	}
	return p.flush()
}

// flush emits the block of the keys added since the last one, if any.
func (p *keyPacker) flush() error {
	if p.n == 0 {
		return nil
	}
	p.b = append(p.b, p.starts...)
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(len(p.starts)/2))
	err := p.emit(p.first, withChecksum(p.b))
	p.b, p.starts, p.n = p.b[:0], p.starts[:0], 0
	return err
}

// writeDict writes the dictionary of a generation: its blocks by id, those by key if ids are not in key order, and their
// directory.
func (c *content) writeDict(w Writer, generation uint32) (*keyDirectory, error) {
	var dir keyDirectory
	var low []Key
	byID := keyPacker{emit: func(first keyEntry, block []byte) error {
		dir.first, low = append(dir.first, first.id), append(low, first.Key)
		return w.Set(makeKey(prefixDict, generation, first.id), block)
	}}
	if err := byID.pack(dir.counted(c.keys)); err != nil {
		return nil, err
	}
	if dir.order {
		low = nil
		byKey := keyPacker{withIDs: true, emit: func(first keyEntry, block []byte) error {
			low = append(low, first.Key)
			return w.Set(makeKey(prefixKeyOrder, generation, uint32(len(low)-1)), block)
		}}
		if err := byKey.pack(c.ascending); err != nil {
			return nil, err
		}
	}
	dir.low = listOf(low)
	return &dir, putSplit(w, directoryKey(prefixDict, generation), dir.encode())
}

// counted yields the keys with their ids, and counts them.
func (c *keyCounter) counted(keys iter.Seq2[Key, error]) iter.Seq2[keyEntry, error] {
	return func(yield func(keyEntry, error) bool) {
		for k, err := range keys {
			id := ID(c.keys)
			if err == nil {
				c.count(k)
			}
			if !yield(keyEntry{k, id}, err) {
				return
			}
		}
	}
}

// keyCounter counts keys that are added by id.
type keyCounter struct {
	order bool   // whether keys do not ascend by id, so that there are blocks by key
	keys  uint64 // number of keys
	strs  uint64 // number of string keys
	text  uint64 // number of their bytes
	last  Key
}

func (c *keyCounter) count(k Key) {
	c.order = c.order || c.keys > 0 && c.last.Compare(k) >= 0
	c.last = k
	c.keys++
	if k.isStr {
		c.strs++
		c.text += uint64(len(k.str))
	}
}

// keyBlock is the content of a block of keys.
type keyBlock struct {
	groups  []byte
	starts  []byte // start of each group
	withIDs bool
}

// keyBlock returns the content of a block. The keys themselves are decoded, and checked, when they are asked for.
func (d *decoder) keyBlock(withIDs bool) (keyBlock, error) {
	n := len(d.b) - 2
	if d.err == nil && n < 0 {
		d.fail("the number of groups")
	}
	if d.err != nil {
		return keyBlock{}, d.err
	}
	size := 2 * int(binary.LittleEndian.Uint16(d.b[n:]))
	if size == 0 || size > n {
		return keyBlock{}, fmt.Errorf("%w: %d groups of keys in %d bytes", ErrCorrupt, size/2, n)
	}
	b := keyBlock{groups: d.b[:n-size], starts: d.b[n-size : n], withIDs: withIDs}
	for i, last := 0, -1; i < size; i += 2 {
		start := int(binary.LittleEndian.Uint16(b.starts[i:]))
		if start <= last || start >= len(b.groups) || i == 0 && start != 0 {
			return keyBlock{}, fmt.Errorf("%w: group %d of keys starts at %d", ErrCorrupt, i/2, start)
		}
		last = start
	}
	return b, nil
}

// numGroups returns the number of groups.
func (b *keyBlock) numGroups() int { return len(b.starts) / 2 }

// group returns a decoder of group i.
func (b *keyBlock) group(i int) decoder {
	start, end := int(binary.LittleEndian.Uint16(b.starts[2*i:])), len(b.groups)
	if i+1 < b.numGroups() {
		end = int(binary.LittleEndian.Uint16(b.starts[2*i+2:]))
	}
	return decoder{b: b.groups[start:end]}
}

// at returns key i of a block without ids.
func (b *keyBlock) at(i int) (Key, error) {
	if i < 0 || i/keyGroup >= b.numGroups() {
		return Key{}, fmt.Errorf("%w: no key %d in %d groups", ErrCorrupt, i, b.numGroups())
	}
	d, last := b.group(i/keyGroup), int64(0)
	for range i % keyGroup {
		d.keyView(&last)
	}
	k := d.key(&last)
	return k, d.err
}

// find returns the index of k in the block and, in a block with ids, its id. The keys must ascend.
func (b *keyBlock) find(k Key) (i int, id ID, ok bool, err error) {
	g := sort.Search(b.numGroups(), func(i int) bool {
		d, last := b.group(i), int64(0)
		v := d.keyView(&last)
		err = cmp.Or(err, d.err)
		return v.compare(k) > 0
	})
	if g == 0 || err != nil {
		return 0, 0, false, err
	}
	d, last := b.group(g-1), int64(0)
	for i = (g - 1) * keyGroup; len(d.b) > 0; i++ {
		v := d.keyView(&last)
		if b.withIDs {
			id = d.id()
		}
		if c := v.compare(k); c >= 0 || d.err != nil {
			return i, id, c == 0 && d.err == nil, d.err
		}
	}
	return i, 0, false, d.err
}

// all yields all keys. The ids of a block without ids are those from first on.
func (b *keyBlock) all(first ID) iter.Seq2[keyEntry, error] {
	return func(yield func(keyEntry, error) bool) {
		for g := range b.numGroups() {
			d, last, n := b.group(g), int64(0), 0
			for ; len(d.b) > 0; n++ {
				k := keyEntry{d.key(&last), first}
				if b.withIDs {
					k.id = d.id()
				}
				if !yield(k, d.err) || d.err != nil {
					return
				}
				first++
			}
			if n > keyGroup || n < keyGroup && g+1 < b.numGroups() {
				yield(keyEntry{}, fmt.Errorf("%w: a group of %d keys", ErrCorrupt, n))
				return
			}
		}
	}
}

// keyView is a key whose string is part of the stored bytes.
type keyView struct {
	str   []byte
	num   int64
	isStr bool
}

// keyView decodes a key without a copy of its string, and without the check that it is valid.
func (d *decoder) keyView(lastInt *int64) keyView {
	switch d.byte() {
	case keyInt:
		*lastInt += d.varint()
		return keyView{num: *lastInt}
	case keyStr:
		return keyView{str: d.bytes(), isStr: true}
	default:
		d.fail("a key")
		return keyView{}
	}
}

// compare is Key.Compare.
func (v *keyView) compare(k Key) int {
	switch {
	case v.isStr && k.isStr && string(v.str) < k.str, v.isStr == k.isStr && !k.isStr && v.num < k.num, !v.isStr && k.isStr:
		return -1
	case v.isStr && k.isStr && string(v.str) == k.str, v.isStr == k.isStr && !k.isStr && v.num == k.num:
		return 0
	}
	return 1
}

// keyDirectory says which keys are in which block.
type keyDirectory struct {
	first []ID // first id of each block by id, ascending
	// low holds the first key of each block in key order. These are the blocks by id if keys ascend by id, and the blocks
	// by key otherwise.
	low keyList
	keyCounter
}

// bytes returns the memory of the keys once they are loaded.
func (d *keyDirectory) bytes() int64 {
	n := int64(d.text)
	if d.strs < d.keys {
		n += 8 * int64(d.keys)
	}
	if d.strs > 0 {
		n += 16 * int64(d.keys)
	}
	if d.order {
		n += 4 * int64(d.keys)
	}
	return n
}

func (d *keyDirectory) encode() []byte {
	b := []byte{0}
	if d.order {
		b[0] = 1
	}
	for _, n := range [...]uint64{d.keys, d.strs, d.text, uint64(len(d.first))} {
		b = binary.AppendUvarint(b, n)
	}
	id := ID(0)
	for _, first := range d.first {
		b = binary.AppendUvarint(b, uint64(first-id))
		id = first
	}
	last := int64(0)
	for i := range d.low.len() {
		b = appendKey(b, d.low.at(ID(i)), &last)
	}
	return b
}

func decodeKeyDirectory(b []byte) (*keyDirectory, error) {
	d := &decoder{b: b}
	dir := new(keyDirectory)
	dir.order, dir.keys, dir.strs, dir.text = d.byte() != 0, d.uvarint(), d.uvarint(), d.uvarint()
	n := d.count()
	dir.first = make([]ID, 0, n)
	for id := uint64(0); n > 0 && d.err == nil; n-- {
		if id += d.uvarint(); id > math.MaxUint32 {
			return nil, fmt.Errorf("%w: node %d", ErrCorrupt, id)
		}
		dir.first = append(dir.first, ID(id))
	}
	var low []Key
	for last := int64(0); len(d.b) > 0 && d.err == nil; {
		low = append(low, d.key(&last))
	}
	dir.low = listOf(low)
	if d.err == nil && (dir.strs > dir.keys || !dir.order && len(low) != len(dir.first)) {
		d.err = fmt.Errorf("%w: %d blocks of keys, and the first keys of %d", ErrCorrupt, len(dir.first), len(low))
	}
	return dir, d.end()
}

// readKeyDirectory reads the directory of the dictionary of a generation.
func readKeyDirectory(r Reader, generation uint32) (*keyDirectory, error) {
	return readDirectoryOf(r, prefixDict, generation, decodeKeyDirectory)
}
