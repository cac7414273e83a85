package index

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
	return &blockCache{source: s.Source, generation: generation, budget: s.Cache}
}

// blockCache holds the decoded blocks of a generation, of all kinds, in at most budget bytes, and evicts those that were
// not used for long (the clock algorithm: Corbató, A Paging Experiment with the Multics System, 1968). A block in use
// stays valid after it was evicted.
type blockCache struct {
	source     Source
	generation uint32
	budget     int64
	failure    atomic.Pointer[error]

	mu     sync.Mutex // protects following fields
	blocks []cachedBlock
	hand   int
	bytes  int64
}

// decode reads a block and passes its content to decode.
func (c *blockCache) decode(kind byte, no uint32, decode func(*decoder) error) error {
	value, ok, err := c.source.Read(makeKey(kind, c.generation, no))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err == nil {
		d := verifyChecksum(value)
		if err = d.err; err == nil {
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

// fail keeps the first error.
func (c *blockCache) fail(err error) { c.failure.CompareAndSwap(nil, &err) }

// err returns the error of the first block that could not be read.
func (c *blockCache) err() error {
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// size returns the memory of the blocks in bytes.
func (c *blockCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// clear forgets all blocks.
func (c *blockCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.blocks {
		b.evict()
	}
	c.blocks, c.hand, c.bytes = nil, 0, 0
}

// add adds a block, and evicts others while there are too many bytes. The caller holds mu.
func (c *blockCache) add(b cachedBlock) {
	c.blocks = append(c.blocks, b)
	c.bytes += b.size()
	for c.bytes > c.budget && len(c.blocks) > 1 {
		c.hand %= len(c.blocks)
		old := c.blocks[c.hand]
		if old == b || old.recent() {
			c.hand++
			continue
		}
		old.evict()
		c.bytes -= old.size()
		last := len(c.blocks) - 1
		c.blocks[c.hand], c.blocks[last] = c.blocks[last], nil
		c.blocks = c.blocks[:last]
	}
}

// cachedBlock is a block in a cache.
type cachedBlock interface {
	size() int64
	recent() bool // whether it was used since the last call
	evict()
}

// place is where a block is while it is in memory.
type place[T any] struct{ atomic.Pointer[placed[T]] }

// placed is a decoded block in its place.
type placed[T any] struct {
	block T
	bytes int64
	place *place[T]
	used  atomic.Bool // since the hand of the cache has passed it
}

func (b *placed[T]) size() int64  { return b.bytes }
func (b *placed[T]) recent() bool { return b.used.Swap(false) }
func (b *placed[T]) evict()       { b.place.CompareAndSwap(b, nil) }

// get returns the block, or nil if it is not in memory.
func (p *place[T]) get() *T {
	b := p.Load()
	if b == nil {
		return nil
	}
	if !b.used.Load() {
		b.used.Store(true)
	}
	return &b.block
}

// blockSet reads the blocks of one kind when they are asked for. It takes 8 bytes of memory for each block, and what the
// cache allows for decoded blocks. An unreadable block is the zero T, and the cache keeps the error.
type blockSet[T any] struct {
	cache  *blockCache
	places []place[T]
	// read decodes block i into b and returns its size in memory, 0 for a block that is not stored.
	read func(i int, b *T) (bytes int64, err error)
	// resident blocks stay in memory for good once they are read, and take no memory of the cache.
	resident bool
	loaded   atomic.Bool // whether all blocks are in memory for good
}

// newBlockSet returns a set of n blocks. See the fields of blockSet.
func newBlockSet[T any](c *blockCache, n int, read func(i int, b *T) (bytes int64, err error)) *blockSet[T] {
	return &blockSet[T]{cache: c, places: make([]place[T], n), read: read}
}

// at returns block i, which it reads unless it is in memory.
func (s *blockSet[T]) at(i int) *T {
	p := &s.places[i]
	if b := p.get(); b != nil {
		return b
	}
	b, err := s.fetch(i)
	if err != nil {
		return new(T)
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if other := p.Load(); other != nil { // another reader has put it there
		return &other.block
	}
	p.Store(b)
	if !s.resident {
		s.cache.add(b)
	}
	return &b.block
}

// fetch reads block i.
func (s *blockSet[T]) fetch(i int) (b *placed[T], err error) {
	b = &placed[T]{place: &s.places[i]}
	if b.bytes, err = s.read(i, &b.block); err != nil {
		s.cache.fail(err)
	}
	return b, err
}

// peek returns block i, but reads it into buffer if it is not in memory: a pass over all blocks must not evict what answers
// need.
func (s *blockSet[T]) peek(i int, buffer *T) (*T, error) {
	if b := s.places[i].Load(); b != nil {
		return &b.block, nil
	}
	_, err := s.read(i, buffer)
	return buffer, err
}

// blocksPerCheck is the number of blocks read between two checks of a context.
const blocksPerCheck = 16

// check reads all blocks. It returns ErrCorrupt, or the error of ctx.
func (s *blockSet[T]) check(ctx context.Context) error { return s.each(ctx, func(*placed[T]) {}) }

// load reads all blocks into memory for good. It returns ErrCorrupt, or the error of ctx.
func (s *blockSet[T]) load(ctx context.Context) error {
	if s.loaded.Load() {
		return nil
	}
	err := s.each(ctx, func(b *placed[T]) {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		if b.bytes > 0 {
			b.place.Store(b)
		}
	})
	if err == nil {
		s.loaded.Store(true)
	}
	return err
}

// each reads all blocks and passes them to visit.
func (s *blockSet[T]) each(ctx context.Context, visit func(*placed[T])) error {
	for i := range s.places {
		if i%blocksPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := s.fetch(i)
		if err != nil {
			return err
		}
		visit(b)
	}
	return nil
}

// bytes returns the memory of the blocks that are in memory, in bytes.
func (s *blockSet[T]) bytes() (n int64) {
	for i := range s.places {
		if b := s.places[i].Load(); b != nil {
			n += b.bytes
		}
	}
	return n
}
