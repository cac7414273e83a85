//go:build !linux

package db_test

// linuxChildren are the parts of tests that need Linux.
func linuxChildren() map[string]func(path string) error { return nil }
