package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// A process with a reserve allocates without a garbage collection, unless the memory is limited.
func TestReserveHeap(t *testing.T) {
	const reserve = 32 << 20
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := m.NumGC
		release := ReserveHeap(reserve)
		for range reserve >> 21 {
			runtime.KeepAlive(make([]byte, 1<<20))
		}
		release()
		runtime.ReadMemStats(&m)
		return m.NumGC - before
	}
	if n := collections(); n != 1 {
		t.Errorf("%d collections, want the one of ReserveHeap", n)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer ReserveHeap(reserve)()
	runtime.ReadMemStats(&after)
	if grown := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc); grown > 9<<20 {
		t.Errorf("the heap counts %d more bytes, with a limit of 64 MiB", grown)
	}
}
