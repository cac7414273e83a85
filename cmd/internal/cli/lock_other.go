//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cli

import "os"

// TryLock does nothing: these systems have no lock that ends with the process.
func TryLock(*os.File) (bool, error) { return true, nil }
