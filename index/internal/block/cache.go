package block

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Cache holds decoded blocks of all kinds in at most Budget bytes, and evicts blocks that were
// not used for long (the clock algorithm: Corbató, A Paging Experiment with the Multics System,
// 1968). A block in use stays valid after it was evicted. It also keeps the first error of its
// blocks. It is safe for concurrent use.
type Cache struct {
	Budget  int64
	failure atomic.Pointer[error]

	mu     sync.Mutex // protects following fields
	blocks []cachedBlock
	hand   int
	bytes  int64
}

// Fail keeps the first error.
func (c *Cache) Fail(err error) { c.failure.CompareAndSwap(nil, &err) }

// Err returns the error of the first block that could not be read.
func (c *Cache) Err() error {
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Size returns the memory of the blocks in bytes.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Roomy reports whether blocks take less than half of the budget.
func (c *Cache) Roomy() bool { return c.Size() < c.Budget/2 }

// Clear forgets all blocks.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.blocks {
		b.evict()
	}
	c.blocks, c.hand, c.bytes = nil, 0, 0
}

// add adds a block, and evicts others while there are too many bytes. The caller holds mu.
func (c *Cache) add(b cachedBlock) {
	c.blocks = append(c.blocks, b)
	c.bytes += b.size()
	for c.bytes > c.Budget && len(c.blocks) > 1 {
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
	used  atomic.Bool // since the hand of the cache has passed it; beside the block's first fields
	block T
	bytes int64
	place *place[T]
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

// A Set reads the blocks of a kind on demand. It takes 8 bytes of memory for each block, and
// decoded blocks take memory of the cache. An unreadable block is the zero T, and the cache keeps
// the error. It is safe for concurrent use.
type Set[T any] struct {
	// Resident blocks stay in memory for good once they are read, and take no memory of the cache.
	// It must be set before the first block is read.
	Resident bool

	cache  *Cache
	places []place[T]
	read   func(i int, b *T) (bytes int64, err error)
	loaded atomic.Bool // whether all blocks are in memory for good
}

// NewSet returns a set of n blocks. The function read decodes block i into b and returns its size
// in memory, in bytes, 0 for a block that is not stored.
func NewSet[T any](c *Cache, n int, read func(i int, b *T) (bytes int64, err error)) *Set[T] {
	return &Set[T]{cache: c, places: make([]place[T], n), read: read}
}

// Len returns the number of blocks.
func (s *Set[T]) Len() int { return len(s.places) }

// Loaded reports whether Load has read all blocks.
func (s *Set[T]) Loaded() bool { return s.loaded.Load() }

// At returns block i, which it reads unless it is in memory.
func (s *Set[T]) At(i int) *T {
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
	if !s.Resident {
		s.cache.add(b)
	}
	return &b.block
}

// Held returns block i if it is in memory, nil otherwise.
func (s *Set[T]) Held(i int) *T {
	if b := s.places[i].Load(); b != nil {
		return &b.block
	}
	return nil
}

// Use returns block i like At if it is in memory, and nil otherwise.
func (s *Set[T]) Use(i int) *T { return s.places[i].get() }

// Put sets block i, which takes the given memory in bytes, and returns it. It is for a set without
// a function that reads blocks.
func (s *Set[T]) Put(i int, block T, bytes int64) *T {
	p := &s.places[i]
	b := &placed[T]{block: block, bytes: bytes, place: p}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	p.Store(b)
	s.cache.add(b)
	return &b.block
}

// fetch reads block i.
func (s *Set[T]) fetch(i int) (b *placed[T], err error) {
	b = &placed[T]{place: &s.places[i]}
	if b.bytes, err = s.read(i, &b.block); err != nil {
		s.cache.Fail(err)
	}
	return b, err
}

// Peek returns block i, but reads it into buffer if it is not in memory: a pass over all blocks
// must not evict what answers need.
func (s *Set[T]) Peek(i int, buffer *T) (*T, error) {
	if b := s.Held(i); b != nil {
		return b, nil
	}
	_, err := s.read(i, buffer)
	return buffer, err
}

// PeekOrKeep is Peek for blocks that further passes read: it keeps them while the cache is roomy.
func (s *Set[T]) PeekOrKeep(i int, buffer *T) (*T, error) {
	if s.cache.Roomy() {
		return s.At(i), s.cache.Err()
	}
	return s.Peek(i, buffer)
}

// PerCheck is the number of blocks that a pass reads between two checks of its context.
const PerCheck = 16

// Check reads all blocks. It returns ErrCorrupt, or the error of ctx.
func (s *Set[T]) Check(ctx context.Context) error { return s.each(ctx, func(*placed[T]) {}) }

// Load reads all blocks into memory for good. It returns ErrCorrupt, or the error of ctx.
func (s *Set[T]) Load(ctx context.Context) error {
	if s.Loaded() {
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
func (s *Set[T]) each(ctx context.Context, visit func(*placed[T])) error {
	for i := range s.places {
		if i%PerCheck == 0 && ctx.Err() != nil {
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

// Err returns the error of the first block of the cache that could not be read.
func (s *Set[T]) Err() error { return s.cache.Err() }

// Bytes returns the memory of the blocks that are in memory, in bytes.
func (s *Set[T]) Bytes() (n int64) {
	for i := range s.places {
		if b := s.places[i].Load(); b != nil {
			n += b.bytes
		}
	}
	return n
}
