//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package score

import (
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes from writing a partial file until it is closed.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s: another run writes it: %w", f.Name(), err)
	}
	return nil
}
