package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/klauspost/compress/snappy"

	"kith/index"
)

// tableSource is the content of a table.
type tableSource struct {
	io.ReaderAt
	size        int64
	compression options.CompressionType
	packed      []byte // the last block that was read
}

// An index takes about a sixtieth of its table if every block holds one value of 4 KB. So much is
// read at first.
const (
	indexShare = 50
	leastIndex = 4 << 10
)

// readIndex returns the index of the table and the position where it begins. It returns ErrCorrupt
// if the checksum is wrong.
func (t *tableSource) readIndex() (*fb.TableIndex, int64, error) {
	for n := min(t.size, t.size/indexShare+leastIndex); ; {
		end := make([]byte, n)
		if _, err := t.ReadAt(end, t.size-n); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		index, size, err := tableEnd(end)
		if err != nil && n < size && size <= t.size {
			n = size
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		return fb.GetRootAsTableIndex(index, 0), t.size - size, nil
	}
}

// checkFile checks a table file as check does, and returns its mark, which is zero if there is no
// such file, and its newest timestamp.
func checkFile(name string, c options.CompressionType, all bool) (mark tableMark, newest uint64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return mark, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return mark, 0, err
	}
	if mark, err = markOf(f, info.Size()); err == nil {
		newest, err = (&tableSource{ReaderAt: f, size: info.Size(), compression: c}).check(all)
	}
	return mark, newest, err
}

// check verifies the checksums of the index, of the last block, which Badger reads when it opens
// the table, and of all other blocks, or, unless all is set, only of the blocks that have records
// that are not read on demand. It returns the newest timestamp, and turns a panic over a damaged
// index into an error.
func (t *tableSource) check(all bool) (newest uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its index cannot be read: %v", ErrCorrupt, r)
		}
	}()
	ti, end, err := t.readIndex()
	if err != nil {
		return 0, err
	}
	n := ti.OffsetsLength()
	skip := func(from, to int) bool {
		var a, b fb.BlockOffset
		return !all && to < n && ti.Offsets(&a, from) && ti.Offsets(&b, to) && index.OnDemand(a.KeyBytes(), b.KeyBytes())
	}
	i := 0
	if skip(0, n-1) {
		i = n - 1
	}
	for ; i < n; i++ {
		if skip(i, i+1) {
			continue
		}
		var block fb.BlockOffset
		ti.Offsets(&block, i)
		if err := t.checkBlock(int64(block.Offset()), int64(block.Len()), end); err != nil {
			return 0, err
		}
	}
	return ti.MaxVersion(), nil
}

// checkBlock verifies the checksum of the block of n bytes at an offset. The blocks end before the
// offset end.
func (t *tableSource) checkBlock(at, n, end int64) error {
	if at+n > end {
		return fmt.Errorf("%w: block at byte %d ends after the blocks", ErrCorrupt, at)
	}
	t.packed = slices.Grow(t.packed[:0], int(n))[:n]
	if _, err := t.ReadAt(t.packed, at); err != nil {
		return err
	}
	raw, err := unpack(t.packed, t.compression)
	if err != nil {
		return fmt.Errorf("%w: block at byte %d: %v", ErrCorrupt, at, err)
	}
	if _, ok := blockContent(raw); !ok {
		return fmt.Errorf("%w: the block at byte %d does not fit its checksum", ErrCorrupt, at)
	}
	return nil
}

// unpack returns the content of a block.
func unpack(b []byte, c options.CompressionType) ([]byte, error) {
	if c == options.None {
		return b, nil
	}
	return snappy.Decode(nil, b)
}
