package cli

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// ReserveHeap prepares the heap of a process that answers one question and ends. On a virtual
// machine such a process spends more time on its first touches of memory, 17 us for each 4 KiB,
// than on the answer. So the next n bytes that the process allocates are huge pages of 2 MiB, where
// the system has them, and take memory when they are touched. Until release is called, the heap
// counts n bytes that are never touched, so the next garbage collection begins near 2n. Of a
// process with a memory limit, n is at most an eighth of the limit.
func ReserveHeap(n int) (release func()) {
	n = int(min(int64(n), debug.SetMemoryLimit(-1)/8))
	percent := debug.SetGCPercent(-1) // one collection is enough
	untouched, next := make([]byte, n), make([]byte, n)
	const page = 2 << 20
	if begin := int(-uintptr(unsafe.Pointer(unsafe.SliceData(next))) % page); begin+page <= n {
		_ = syscall.Madvise(next[begin:begin+(n-begin)/page*page], syscall.MADV_HUGEPAGE) // fails where there are none
	}
	next = nil
	runtime.GC()
	debug.SetGCPercent(percent)
	return func() { runtime.KeepAlive(untouched) }
}
