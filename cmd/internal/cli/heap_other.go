//go:build !linux

package cli

// ReserveHeap does nothing: only Linux gives huge pages to those who ask.
func ReserveHeap(int) (release func()) { return func() {} }
