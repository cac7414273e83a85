package store

import "testing"

// The memtables and the cache of blocks stay within the memory, and the largest value fits into a
// transaction.
func TestMemoryIsDivided(t *testing.T) {
	t.Parallel()
	for _, mb := range []int64{64, 96, 100, 128, 255, 256, 512, 1 << 10, 1 << 14} {
		o := badgerOptions("", Options{InMemory: true, Memory: mb << 20 / 5})
		memtables := int64(o.NumMemtables+1) * o.MemTableSize
		if total := memtables + o.BlockCacheSize; total > mb<<20/5 || o.BlockCacheSize < 1<<20 {
			t.Errorf("%d MB: %d for memtables and %d for blocks, of %d", mb, memtables, o.BlockCacheSize, mb<<20/5)
		}
		if o.MemTableSize*15/100 <= o.ValueThreshold {
			t.Errorf("%d MB: a transaction takes %d bytes, a value %d", mb, o.MemTableSize*15/100, o.ValueThreshold)
		}
	}
}
