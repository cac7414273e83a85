package db

import "golang.org/x/sys/unix"

// machineMemory returns the bytes of memory of the machine, or 0 if that is unknown.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
