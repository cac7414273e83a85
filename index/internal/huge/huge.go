// Package huge makes long slices whose memory the system may give in huge pages.
//
// Memory is given page by page, as it is first touched. On a virtual machine a page of 4 KiB costs
// up to 50 microseconds, many times as much as filling it, and a huge page of 2 MiB little more.
// Linux gives huge pages to those who ask (transparent_hugepage/enabled is madvise), and the Go
// runtime does not ask. On other systems, and if elements have pointers, the slices are ordinary
// ones.
package huge

import (
	"reflect"
	"strings"
	"unsafe"
)

// pageSize is the size of a huge page in bytes. Shorter slices have none.
const pageSize = 2 << 20

// Make returns a slice of n elements, as make does.
func Make[T any](n int) []T {
	s := Dirty[T](n)
	clear(s)
	return s
}

// Dirty returns a slice of n elements with any content. It does not touch the memory: make would
// clear it before there is a way to ask for huge pages.
func Dirty[T any](n int) []T {
	element := reflect.TypeFor[T]()
	size := n * int(element.Size())
	if size < pageSize || hasPointers(element) {
		return make([]T, n)
	}
	var b strings.Builder // the only type of the standard library with memory that is not cleared
	b.Grow(size)
	_ = b.WriteByte(0)
	start := unsafe.StringData(b.String())
	advise(unsafe.Slice(start, size))
	return unsafe.Slice((*T)(unsafe.Pointer(start)), n)
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
	return append(Dirty[T](n)[:0], s...)
}

// hasPointers reports whether a type is not a number or a struct of numbers.
func hasPointers(t reflect.Type) bool {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() < reflect.Bool || t.Kind() > reflect.Complex128 || t.Kind() == reflect.Uintptr
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
