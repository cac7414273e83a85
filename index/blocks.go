package index

import (
	"fmt"

	"kith/index/block"
)

// Source reads values of the store at the version of a base, as long as a reader of a version with that base is open. It
// is safe for concurrent use, and the caller may keep the value.
type Source interface {
	Read(key []byte) (value []byte, ok bool, err error)
}

// Stored is where the blocks of a generation come from.
type Stored struct {
	Source Source
	Cache  int64 // memory for decoded blocks, in bytes
}

// cache returns an empty cache of the blocks of a generation.
func (s *Stored) cache(generation uint32) *blockCache {
	return &blockCache{Cache: block.Cache{Budget: s.Cache}, source: s.Source, generation: generation}
}

// blockCache reads the blocks of a generation, and holds decoded ones.
type blockCache struct {
	block.Cache
	source     Source
	generation uint32
}

// decode reads a block and passes its content to decode.
func (c *blockCache) decode(kind byte, no uint32, decode func(*block.Decoder) error) error {
	value, ok, err := c.source.Read(makeKey(kind, c.generation, no))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err == nil {
		d := block.VerifyChecksum(value)
		if err = d.Err; err == nil {
			err = decode(d)
		}
	}
	if err != nil {
		return c.wrong(kind, no, err)
	}
	return nil
}

// wrong says which block an error is about.
func (c *blockCache) wrong(kind byte, no uint32, err error) error {
	return fmt.Errorf("block %c %d of generation %d: %w", kind, no, c.generation, err)
}

// readDirectory reads the directory of the blocks of a kind.
func readDirectory[T any](r Reader, kind byte, generation uint32, decode func([]byte) (*T, error)) (*T, error) {
	b, ok, err := getSplit(r, directoryKey(kind, generation))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	var dir *T
	if err == nil {
		dir, err = decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the blocks %c of generation %d: %w", kind, generation, err)
	}
	return dir, nil
}
