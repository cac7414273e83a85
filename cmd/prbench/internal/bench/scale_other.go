//go:build !linux

package bench

// forgetFiles would remove the files of a directory from the page cache.
func forgetFiles(string) error { return nil }
