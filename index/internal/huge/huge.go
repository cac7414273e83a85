// Package huge makes long slices whose memory the system may give in huge pages.
//
// Memory is given page by page, as it is first touched. On a virtual machine a page of 4 KiB costs
// up to 50 microseconds, many times as much as filling it, and a huge page of 2 MiB little more.
// Linux gives huge pages to those who ask (transparent_hugepage/enabled is madvise), and the Go
// runtime does not ask. On other systems the slices are ordinary ones.
package huge

import "unsafe"

// pageSize is the size of a huge page in bytes. Shorter slices have none.
const pageSize = 2 << 20

// Make returns a slice of n elements, as make does.
func Make[T any](n int) []T {
	s := make([]T, n)
	advise(memory(s))
	return s
}

// Grow returns s with room for at least one more element. It grows a short slice to twice its
// length, and a long one by a quarter.
func Grow[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	const least, short = 64, 1 << 20
	n := max(2*len(s), least)
	if len(s) > short {
		n = len(s) + len(s)/4
	}
	return append(Make[T](n)[:0], s...)
}

// memory returns the bytes of a slice of elements.
func memory[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(s[0]))
}

// aligned returns the part of b that consists of whole huge pages.
func aligned(b []byte) []byte {
	if len(b) < pageSize {
		return nil
	}
	before := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageSize
	if before >= uintptr(len(b)) {
		return nil
	}
	b = b[before:]
	return b[:len(b)/pageSize*pageSize]
}
