package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// Reader reads the store at one version. Returned slices are valid until the next call.
type Reader interface {
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan yields the entries whose keys have the prefix, ascending, starting at the key from (nil: all).
	Scan(prefix, from []byte) iter.Seq2[Entry, error]
}

// Writer writes to the store, inside the caller's transaction. It may keep the slices.
type Writer interface {
	Set(key, value []byte) error
	Delete(key []byte) error
}

// Entry is a stored key and its value.
type Entry struct{ Key, Value []byte }

// maxPart is the maximum size of a stored value in bytes. It is below the size at which Badger would put the value
// into its value log.
const maxPart = 512 << 10

// putSplit stores value under key followed by a part number, in parts of at most maxPart. The first part begins
// with the length and the crc32c of the whole value. If a longer value was stored under key before, its last parts
// remain and are not read.
func putSplit(w Writer, key, value []byte) error {
	head := make([]byte, 0, 12+min(len(value), maxPart))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(value)))
	head = binary.LittleEndian.AppendUint32(head, Checksum(value))
	part := append(head, value[:min(len(value), maxPart)]...)
	for i := 0; ; i++ {
		if err := w.Set(partKey(key, i), part); err != nil {
			return err
		}
		rest := value[min(len(value), (i+1)*maxPart):]
		if len(rest) == 0 {
			return nil
		}
		part = bytes.Clone(rest[:min(len(rest), maxPart)])
	}
}

func partKey(key []byte, i int) []byte {
	return binary.BigEndian.AppendUint16(bytes.Clone(key), uint16(i))
}

// parts assembles the parts of one value.
type parts struct {
	size  uint64
	sum   uint32
	value []byte
}

func (p *parts) add(no uint16, part []byte) error {
	if no == 0 {
		if len(part) < 12 {
			return fmt.Errorf("%w: first part of %d bytes", ErrCorrupt, len(part))
		}
		*p = parts{size: binary.LittleEndian.Uint64(part), sum: binary.LittleEndian.Uint32(part[8:])}
		part = part[12:]
	}
	p.value = append(p.value, part...)
	return nil
}

// whole returns the value if all parts have been added.
func (p *parts) whole() ([]byte, error) {
	if uint64(len(p.value)) != p.size || Checksum(p.value) != p.sum {
		return nil, fmt.Errorf("%w: %d of %d bytes, or their checksum", ErrCorrupt, len(p.value), p.size)
	}
	return p.value, nil
}

// getSplit reads a value stored by putSplit.
func getSplit(r Reader, key []byte) (value []byte, ok bool, err error) {
	var p parts
	for i := 0; ; i++ {
		part, found, err := r.Get(partKey(key, i))
		if err != nil {
			return nil, false, err
		}
		if !found && i == 0 {
			return nil, false, nil
		}
		if !found {
			return nil, false, fmt.Errorf("%w: part %d is missing", ErrCorrupt, i)
		}
		if err := p.add(uint16(i), part); err != nil {
			return nil, false, err
		}
		if uint64(len(p.value)) >= p.size {
			value, err := p.whole()
			return value, err == nil, err
		}
	}
}

// scanSplit yields the values that putSplit stored under keys with the prefix, starting at the key from.
func scanSplit(r Reader, prefix, from []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var key []byte
		var p parts
		cut := func() error {
			if uint64(len(p.value)) < p.size {
				return fmt.Errorf("%w: %q has %d of %d bytes", ErrCorrupt, key, len(p.value), p.size)
			}
			return nil
		}
		for e, err := range r.Scan(prefix, from) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			k, no, ok := splitKey(e.Key)
			if !ok {
				yield(Entry{}, corruptKey(e.Key))
				return
			}
			if !bytes.Equal(k, key) {
				if err := cut(); err != nil {
					yield(Entry{}, err)
					return
				}
				key = bytes.Clone(k)
			} else if uint64(len(p.value)) >= p.size {
				continue // left over from a longer value
			}
			if err := p.add(no, e.Value); err != nil {
				yield(Entry{}, err)
				return
			}
			if uint64(len(p.value)) < p.size {
				continue
			}
			value, err := p.whole()
			if err != nil {
				err = fmt.Errorf("%q: %w", key, err)
			}
			if !yield(Entry{key, value}, err) || err != nil {
				return
			}
		}
		if err := cut(); err != nil {
			yield(Entry{}, err)
		}
	}
}

// splitValue is a value stored by putSplit, or the error of reading it.
type splitValue struct {
	Entry
	err error
}

// scanSalvage is like scanSplit, but yields a damaged value with its error and continues. A key is damaged too if it has
// no part number, or if its length without the part number is not size, unless size is 0; its Entry has the stored key.
func scanSalvage(r Reader, prefix byte, size int, from []byte) iter.Seq2[splitValue, error] {
	return func(yield func(splitValue, error) bool) {
		for e, err := range r.Scan([]byte{prefix}, from) {
			var v splitValue
			if err == nil {
				stored := bytes.Clone(e.Key)
				key, part, ok := splitKey(stored)
				switch {
				case !ok || size > 0 && len(key) != size:
					v = splitValue{Entry{Key: stored}, corruptKey(stored)}
				case part != 0:
					continue
				default:
					v.Key = key
					v.Value, _, v.err = getSplit(r, key)
				}
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// deleteRange deletes the keys with the prefix that r reads, starting at the key from, up to but not including the
// key to (nil: all).
func deleteRange(r Reader, w Writer, prefix, from, to []byte) error {
	for e, err := range r.Scan(prefix, from) {
		if err != nil {
			return err
		}
		if to != nil && bytes.Compare(e.Key, to) >= 0 {
			return nil
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	return nil
}
