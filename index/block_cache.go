package index

import (
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

// read returns a decoder of the content of a block.
func (c *blockCache) read(kind byte, no uint32) (*decoder, error) {
	value, ok, err := c.source.Read(makeKey(kind, c.generation, no))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err != nil {
		return nil, c.wrong(kind, no, err)
	}
	d := verifyChecksum(value)
	if d.err != nil {
		return nil, c.wrong(kind, no, d.err)
	}
	return d, nil
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

// pin puts a block into its place for good. It takes no memory of the cache.
func (p *place[T]) pin(c *blockCache, block T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Store(&placed[T]{block: block, place: p})
}

// keep puts a block of the given size into its place and into the cache, unless another reader has put it there. It
// returns the block in its place.
func (p *place[T]) keep(c *blockCache, block T, bytes int64) *T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := p.Load(); other != nil {
		return &other.block
	}
	b := &placed[T]{block: block, bytes: bytes, place: p}
	p.Store(b)
	c.add(b)
	return &b.block
}
