package store

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// freeBytes returns the free space of the disk under path, in bytes.
func freeBytes(path string) (int64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(path, &s)
	return int64(s.Bavail) * s.Bsize, err
}

// usedBytes returns the space that a file takes, without holes, or 0 if it does not exist.
func usedBytes(name string) int64 {
	var s unix.Stat_t
	if unix.Stat(name, &s) != nil {
		return 0
	}
	return s.Blocks * 512
}

// syncData makes the content of a file durable, including writes through a memory mapping. It
// returns os.ErrClosed if the file is closed.
func syncData(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if c.Control(func(fd uintptr) { failed = unix.Fdatasync(int(fd)) }) != nil {
		return os.ErrClosed
	}
	if failed != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: failed}
	}
	return nil
}

// bootID returns the identity of the system's present run, or "" if it is unknown.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// MachineMemory returns the bytes of memory of the machine, or 0 if that is unknown.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// allocate gives the first size bytes of a file blocks on the disk. It does not change the size of
// the file. It returns errors.ErrUnsupported if the file system has no such operation.
func allocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
		if err != unix.EINTR {
			return err
		}
	}
}
