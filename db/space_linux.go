package db

import "golang.org/x/sys/unix"

// freeBytes returns the space left on the disk under path.
func freeBytes(path string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(path, &s)
	return int64(s.Bavail) * s.Bsize, err
}

// usedBytes returns the space a file takes, which may have holes; 0 if it is gone.
func usedBytes(name string) int64 {
	var s unix.Stat_t
	if unix.Stat(name, &s) != nil {
		return 0
	}
	return s.Blocks * 512
}
