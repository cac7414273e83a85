package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"kith/db/edgelist"
)

// errPage is the error for a page that is damaged.
var errPage = errors.New("the page is damaged")

// values are decoded values of a column. Only the slice for the column's type is used, and Null if
// there are nulls.
type values edgelist.Vector

// kind is how the values of a column are stored and what they mean.
type kind struct {
	physical format.Type
	unsigned bool
	scale    int64 // integers are multiplied by it; 0 means 1
}

// decode appends n values, which are encoded in b and take at most most bytes, to v. A text that
// occurs twice in a row is shared.
func (v *values) decode(k kind, encoding format.Encoding, b []byte, n int, most int64) error {
	switch {
	case k.physical == format.Boolean:
		return v.bools(encoding, b, n)
	case encoding == format.Plain:
		return v.plain(k, b, n)
	case encoding == format.DeltaBinaryPacked && (k.physical == format.Int32 || k.physical == format.Int64):
		_, err := v.deltas(k, b, n)
		return err
	case encoding == format.DeltaLengthByteArray && k.physical == format.ByteArray:
		return v.deltaLengths(b, n)
	case encoding == format.DeltaByteArray && k.physical == format.ByteArray:
		return v.deltaTexts(b, n, most)
	case encoding == format.ByteStreamSplit && (k.physical == format.Float || k.physical == format.Double):
		return v.split(k, b, n)
	}
	return fmt.Errorf("encoding %v is not read (accepted: PLAIN, dictionary, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, and BYTE_STREAM_SPLIT of floating point)", encoding)
}

// width is the number of bytes of a value in the encoding PLAIN.
func (k kind) width() int {
	switch k.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int96:
		return 12
	}
	return 8
}

// decodedBytes returns the memory of n decoded values. texts is the number of bytes of the values
// if they are texts.
func (k kind) decodedBytes(n, texts int) int64 {
	if k.physical == format.ByteArray {
		return 16*int64(n) + int64(texts)
	}
	return 8 * int64(n)
}

func (v *values) plain(k kind, b []byte, n int) error {
	if k.physical == format.ByteArray {
		return v.plainTexts(b, n)
	}
	size := k.width()
	if n > len(b)/size {
		return errPage
	}
	for at := 0; at < n*size; at += size {
		switch k.physical {
		case format.Int32:
			v.int(k, int64(int32(binary.LittleEndian.Uint32(b[at:]))))
		case format.Int64:
			v.int(k, int64(binary.LittleEndian.Uint64(b[at:])))
		case format.Int96: // nanoseconds of a Julian day; 2440588 is 1970-01-01
			day := int64(int32(binary.LittleEndian.Uint32(b[at+8:]))) - 2440588
			v.Ints = append(v.Ints, day*86400+int64(binary.LittleEndian.Uint64(b[at:]))/1e9)
		case format.Float:
			v.Numbers = append(v.Numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))))
		case format.Double:
			v.Numbers = append(v.Numbers, math.Float64frombits(binary.LittleEndian.Uint64(b[at:])))
		}
	}
	return nil
}

// bools appends bools, a bit each, or in runs after their length.
func (v *values) bools(encoding format.Encoding, b []byte, n int) error {
	const length = 4
	switch {
	case encoding == format.RLE && len(b) >= length:
		return hybrid(b[length:], 1, n, func(bit uint32, times int) error {
			for range times {
				v.Ints = append(v.Ints, int64(bit&1))
			}
			return nil
		})
	case encoding != format.Plain || n > 8*len(b):
		return errPage
	}
	for i := range n {
		v.Ints = append(v.Ints, int64(b[i/8]>>(i%8)&1))
	}
	return nil
}

// int appends an integer.
func (v *values) int(k kind, n int64) {
	if k.unsigned && k.physical == format.Int32 {
		n = int64(uint32(n))
	}
	if k.scale > 0 {
		n *= k.scale
	}
	v.Ints = append(v.Ints, n)
}

func (v *values) plainTexts(b []byte, n int) error {
	for range n {
		if len(b) < 4 {
			return errPage
		}
		length := int64(binary.LittleEndian.Uint32(b))
		if b = b[4:]; length > int64(len(b)) {
			return errPage
		}
		v.text(b[:length])
		b = b[length:]
	}
	return nil
}

// text appends a text. A text that is repeated is not copied again.
func (v *values) text(b []byte) {
	if last := len(v.Strings) - 1; last >= 0 && v.Strings[last] == string(b) {
		v.Strings = append(v.Strings, v.Strings[last])
		return
	}
	v.Strings = append(v.Strings, string(b))
}

// split appends numbers whose bytes are apart: all first bytes, then all second bytes, and so on.
func (v *values) split(k kind, b []byte, n int) error {
	size := k.width()
	if n > len(b)/size {
		return errPage
	}
	var one [8]byte
	for i := range n {
		for j := range size {
			one[j] = b[j*n+i]
		}
		if err := v.plain(k, one[:size], 1); err != nil {
			return err
		}
	}
	return nil
}

// deltaLengths appends texts whose lengths are stored before them.
func (v *values) deltaLengths(b []byte, n int) error {
	var lengths values
	b, err := lengths.deltas(kind{physical: format.Int64}, b, n)
	if err != nil {
		return err
	}
	for _, length := range lengths.Ints {
		if length < 0 || length > int64(len(b)) {
			return errPage
		}
		v.text(b[:length])
		b = b[length:]
	}
	return nil
}

// deltaTexts appends texts that are stored as the length of the prefix that each shares with the
// text before, and the rest. In contrast to other encodings, the texts may take more bytes than the
// page, but not more than most.
func (v *values) deltaTexts(b []byte, n int, most int64) error {
	var common, ends values
	b, err := common.deltas(kind{physical: format.Int64}, b, n)
	if err == nil {
		err = ends.deltaLengths(b, n)
	}
	if err != nil {
		return err
	}
	var last []byte
	for i, length := range common.Ints {
		if length < 0 || length > int64(len(last)) {
			return errPage
		}
		if repeats := length == int64(len(last)) && ends.Strings[i] == ""; !repeats {
			most -= length + int64(len(ends.Strings[i]))
		}
		if most < 0 {
			return errors.New("the texts of a page take more bytes than may be in memory")
		}
		last = append(last[:length], ends.Strings[i]...)
		v.text(last)
	}
	return nil
}

// deltas appends integers that are stored as differences, and returns the bytes after them.
func (v *values) deltas(k kind, b []byte, n int) (rest []byte, err error) {
	const longest = 1 << 16 // of a block
	in := walker{rest: b}
	block, parts, count, first := in.varint(), in.varint(), in.varint(), in.zigzag()
	if in.bad || block == 0 || block > longest || parts == 0 || block%parts != 0 || block/parts%8 != 0 || count != uint64(n) {
		return nil, errPage
	}
	if n == 0 {
		return in.rest, nil
	}
	at := first
	v.int(k, narrow(k, at))
	for n--; n > 0; {
		least := in.zigzag()
		if in.bad || parts > uint64(len(in.rest)) {
			return nil, errPage
		}
		widths := in.rest[:parts]
		in.rest = in.rest[parts:]
		for _, width := range widths {
			if n == 0 {
				break // the rest of the block is not stored
			}
			some := min(n, int(block/parts))
			size := int(block/parts) / 8 * int(width)
			if some == n && (n*int(width)+7)/8 <= len(in.rest) {
				// Some writers end the last part early.
				size = min(size, len(in.rest))
			}
			if width > 64 || size > len(in.rest) {
				return nil, errPage
			}
			u := unpacker{in.rest[:size], uint(width), 0}
			in.rest = in.rest[size:]
			for range some {
				at += least + int64(u.next())
				v.int(k, narrow(k, at))
				n--
			}
		}
	}
	return in.rest, nil
}

// narrow lets a sum of differences of 32 bits overflow as it did when they were computed.
func narrow(k kind, n int64) int64 {
	if k.physical == format.Int32 {
		return int64(int32(n))
	}
	return n
}

func (w *walker) zigzag() int64 {
	n := w.varint()
	return int64(n>>1) ^ -int64(n&1)
}

// unpacker unpacks integers of width bits, the lowest bits first.
type unpacker struct {
	b     []byte
	width uint
	at    uint // in bits
}

// next returns the next integer. Bits after the end are 0.
func (u *unpacker) next() (n uint64) {
	for done := uint(0); done < u.width; {
		from := u.at + done
		if from/8 >= uint(len(u.b)) {
			break
		}
		n |= uint64(u.b[from/8]>>(from%8)) << done
		done += 8 - from%8
	}
	u.at += u.width
	if u.width < 64 {
		n &= 1<<u.width - 1
	}
	return n
}

// hybrid decodes n integers of width bits from runs that are either repeated or packed, and calls
// use with each repeated integer and how often it occurs. It returns an error if there are fewer.
func hybrid(b []byte, width uint, n int, use func(value uint32, times int) error) error {
	size := int(width+7) / 8
	for n > 0 {
		head, length := binary.Uvarint(b)
		if length <= 0 || head>>1 > math.MaxInt32 {
			return errPage
		}
		b = b[length:]
		if head&1 == 0 {
			if len(b) < size || head>>1 == 0 {
				return errPage
			}
			u := unpacker{b[:size], width, 0}
			b = b[size:]
			times := min(n, int(head>>1))
			if err := use(uint32(u.next()), times); err != nil {
				return err
			}
			n -= times
			continue
		}
		packed := min(int(head>>1)*int(width), len(b))
		u := unpacker{b[:packed], width, 0}
		b = b[packed:]
		for range min(n, int(head>>1)*8) {
			if width > 0 && u.at+width > uint(packed)*8 {
				return errPage
			}
			if err := use(uint32(u.next()), 1); err != nil {
				return err
			}
			n--
		}
		if head>>1 == 0 {
			return errPage
		}
	}
	return nil
}

// levels decodes n repetition or definition levels up to highest.
func levels(to []uint8, b []byte, highest, n int) ([]uint8, error) {
	err := hybrid(b, uint(bits.Len(uint(highest))), n, func(level uint32, times int) error {
		if level > uint32(highest) {
			return errPage
		}
		for range times {
			to = append(to, uint8(level))
		}
		return nil
	})
	return to, err
}
