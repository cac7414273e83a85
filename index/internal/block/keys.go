package block

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"sort"
)

// The dictionary is stored in blocks, by id, and once more by key if ids are not in key order:
//
//	crc32c of the rest    4 bytes
//	groups of 64 keys     the keys as in AppendKey; in blocks by key, each is followed by its id as a uvarint
//	starts of the groups  2 bytes each, little-endian
//	number of groups      2 bytes, little-endian
//
// A group is decoded without the previous one, so a look-up decodes few keys, and a cache can hold
// the stored bytes.
//
// A block by id is numbered by its first id, so that it states on its own which ids it covers.

// keyGroup is the number of keys that are decoded together.
const keyGroup = 64

// A KeyEntry is a key with its id.
type KeyEntry struct {
	Key
	ID ID
}

// KeyPacker packs keys into blocks.
type KeyPacker struct {
	WithIDs bool // the blocks are by key
	Emit    func(first KeyEntry, block []byte) error
	first   KeyEntry // of the next block
	b       []byte
	starts  []byte
	n       int
	last    int64
}

// Add adds the next key.
func (p *KeyPacker) Add(k KeyEntry) error {
	if len(p.b) >= blockSize {
		if err := p.Flush(); err != nil {
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
	p.b = AppendKey(p.b, k.Key, &p.last)
	if p.WithIDs {
		p.b = binary.AppendUvarint(p.b, uint64(k.ID))
	}
	p.n++
	return nil
}

// Pack adds all keys of a list, and flushes.
func (p *KeyPacker) Pack(keys iter.Seq2[KeyEntry, error]) error {
	for k, err := range keys {
		if err == nil {
			err = p.Add(k)
		}
		if err != nil {
			return err
		}
	}
	return p.Flush()
}

// Flush emits the block of the keys added since the last one, if any.
func (p *KeyPacker) Flush() error {
	if p.n == 0 {
		return nil
	}
	p.b = append(p.b, p.starts...)
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(len(p.starts)/2))
	err := p.Emit(p.first, WithChecksum(p.b))
	p.b, p.starts, p.n = p.b[:0], p.starts[:0], 0
	return err
}

// KeyCounter counts keys that are added by id.
type KeyCounter struct {
	Order bool   // whether keys do not ascend by id, so that there are blocks by key
	Keys  uint64 // number of keys
	Strs  uint64 // number of string keys
	Text  uint64 // number of their bytes
	last  Key
}

// Count adds a key.
func (c *KeyCounter) Count(k Key) {
	c.Order = c.Order || c.Keys > 0 && c.last.Compare(k) >= 0
	c.last = k
	c.Keys++
	if k.isStr {
		c.Strs++
		c.Text += uint64(len(k.str))
	}
}

// KeyBlock is the content of a block of keys.
type KeyBlock struct {
	groups  []byte
	starts  []byte // start of each group
	withIDs bool
}

// KeyBlock returns the content of a block. The keys themselves are decoded, and checked, when they
// are asked for.
func (d *Decoder) KeyBlock(withIDs bool) (KeyBlock, error) {
	n := len(d.B) - 2
	if d.Err == nil && n < 0 {
		d.Fail("the number of groups")
	}
	if d.Err != nil {
		return KeyBlock{}, d.Err
	}
	size := 2 * int(binary.LittleEndian.Uint16(d.B[n:]))
	if size == 0 || size > n {
		return KeyBlock{}, fmt.Errorf("%w: %d groups of keys in %d bytes", ErrCorrupt, size/2, n)
	}
	b := KeyBlock{groups: d.B[:n-size], starts: d.B[n-size : n], withIDs: withIDs}
	for i, last := 0, -1; i < size; i += 2 {
		start := int(binary.LittleEndian.Uint16(b.starts[i:]))
		if start <= last || start >= len(b.groups) || i == 0 && start != 0 {
			return KeyBlock{}, fmt.Errorf("%w: group %d of keys starts at %d", ErrCorrupt, i/2, start)
		}
		last = start
	}
	return b, nil
}

// Bytes returns the memory of the block in bytes.
func (b *KeyBlock) Bytes() int64 { return int64(cap(b.groups) + 160) }

// numGroups returns the number of groups.
func (b *KeyBlock) numGroups() int { return len(b.starts) / 2 }

// group returns a decoder of group i.
func (b *KeyBlock) group(i int) Decoder {
	start, end := int(binary.LittleEndian.Uint16(b.starts[2*i:])), len(b.groups)
	if i+1 < b.numGroups() {
		end = int(binary.LittleEndian.Uint16(b.starts[2*i+2:]))
	}
	return Decoder{B: b.groups[start:end]}
}

// At returns key i of a block without ids.
func (b *KeyBlock) At(i int) (Key, error) {
	if i < 0 || i/keyGroup >= b.numGroups() {
		return Key{}, fmt.Errorf("%w: no key %d in %d groups", ErrCorrupt, i, b.numGroups())
	}
	d, last := b.group(i/keyGroup), int64(0)
	for range i % keyGroup {
		d.keyView(&last)
	}
	k := d.Key(&last)
	return k, d.Err
}

// Find returns the index of k in the block and, in a block with ids, its id. The keys must ascend.
func (b *KeyBlock) Find(k Key) (i int, id ID, ok bool, err error) {
	g := sort.Search(b.numGroups(), func(i int) bool {
		d, last := b.group(i), int64(0)
		v := d.keyView(&last)
		err = cmp.Or(err, d.Err)
		return v.compare(k) > 0
	})
	if g == 0 || err != nil {
		return 0, 0, false, err
	}
	d, last := b.group(g-1), int64(0)
	for i = (g - 1) * keyGroup; len(d.B) > 0; i++ {
		v := d.keyView(&last)
		if b.withIDs {
			id = d.ID()
		}
		if c := v.compare(k); c >= 0 || d.Err != nil {
			return i, id, c == 0 && d.Err == nil, d.Err
		}
	}
	return i, 0, false, d.Err
}

// All yields all keys. The ids of a block without ids are those from first on.
func (b *KeyBlock) All(first ID) iter.Seq2[KeyEntry, error] {
	return func(yield func(KeyEntry, error) bool) {
		for g := range b.numGroups() {
			d, last, n := b.group(g), int64(0), 0
			for ; len(d.B) > 0 && n < keyGroup; n++ {
				k := KeyEntry{d.Key(&last), first}
				if b.withIDs {
					k.ID = d.ID()
				}
				if !yield(k, d.Err) || d.Err != nil {
					return
				}
				first++
			}
			if len(d.B) > 0 {
				yield(KeyEntry{}, fmt.Errorf("%w: a group of more than %d keys", ErrCorrupt, keyGroup))
				return
			}
			if n < keyGroup && g+1 < b.numGroups() {
				yield(KeyEntry{}, fmt.Errorf("%w: a group of %d keys before the last one", ErrCorrupt, n))
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
func (d *Decoder) keyView(lastInt *int64) keyView {
	switch d.Byte() {
	case keyInt:
		*lastInt += d.Varint()
		return keyView{num: *lastInt}
	case keyStr:
		return keyView{str: d.bytes(), isStr: true}
	default:
		d.Fail("a key")
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

// A KeyList holds the keys of consecutive ids.
type KeyList struct {
	num  []int64  // nil if no key is an integer
	str  []string // nil if no key is a string; "" means an integer key
	text int64    // number of bytes of the strings
}

// Len returns the number of keys.
func (l *KeyList) Len() int { return max(len(l.num), len(l.str)) }

// At returns key i.
func (l *KeyList) At(i ID) Key {
	if l.str != nil && l.str[i] != "" {
		return Str(l.str[i])
	}
	return Int(l.num[i])
}

// Set sets key i of n, once.
func (l *KeyList) Set(i ID, k Key, n int) {
	if k.isStr {
		if l.str == nil {
			l.str = make([]string, n)
		}
		l.str[i] = k.str
		l.text += int64(len(k.str))
		return
	}
	if l.num == nil {
		l.num = make([]int64, n)
	}
	l.num[i] = k.num
}

// Bytes returns the memory of the list in bytes.
func (l *KeyList) Bytes() int64 { return 8*int64(len(l.num)) + 16*int64(len(l.str)) + l.text }

// ListOf returns a list of keys.
func ListOf(keys []Key) (l KeyList) {
	for i, k := range keys {
		l.Set(ID(i), k, len(keys))
	}
	return l
}

// KeyDirectory says which keys are in which block.
type KeyDirectory struct {
	First []ID // first id of each block by id, ascending
	// Low holds the first key of each block in key order. These are the blocks by id if keys ascend
	// by id, and the blocks by key otherwise.
	Low KeyList
	KeyCounter
}

// Bytes returns the memory of the keys once they are loaded.
func (d *KeyDirectory) Bytes() int64 {
	n := int64(d.Text)
	if d.Strs < d.Keys {
		n += 8 * int64(d.Keys)
	}
	if d.Strs > 0 {
		n += 16 * int64(d.Keys)
	}
	if d.Order {
		n += 4 * int64(d.Keys)
	}
	return n
}

// Encode returns the stored form.
func (d *KeyDirectory) Encode() []byte {
	b := []byte{0}
	if d.Order {
		b[0] = 1
	}
	for _, n := range [...]uint64{d.Keys, d.Strs, d.Text} {
		b = binary.AppendUvarint(b, n)
	}
	b = AppendIDs(b, d.First)
	last := int64(0)
	for i := range d.Low.Len() {
		b = AppendKey(b, d.Low.At(ID(i)), &last)
	}
	return b
}

// DecodeKeyDirectory is the inverse of Encode.
func DecodeKeyDirectory(b []byte) (*KeyDirectory, error) {
	d := &Decoder{B: b}
	dir := new(KeyDirectory)
	dir.Order, dir.Keys, dir.Strs, dir.Text = d.Byte() != 0, d.Uvarint(), d.Uvarint(), d.Uvarint()
	dir.First = d.IDs()
	var low []Key
	for last := int64(0); len(d.B) > 0 && d.Err == nil; {
		low = append(low, d.Key(&last))
	}
	dir.Low = ListOf(low)
	if d.Err == nil && (dir.Strs > dir.Keys || !dir.Order && len(low) != len(dir.First)) {
		d.Err = fmt.Errorf("%w: %d blocks of keys, and the first keys of %d", ErrCorrupt, len(dir.First), len(low))
	}
	return dir, d.End()
}
