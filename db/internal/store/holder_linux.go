package store

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// locksFile lists the locks of the machine. A line is "1: FLOCK ADVISORY READ 4242 08:01:131099 0
// EOF": the id of the process, and then the device and the inode of the file.
const locksFile = "/proc/locks"

// holders returns the processes that have a lock of a directory, as far as they are visible.
func holders(path string) (all []holder) {
	var s unix.Stat_t
	list, err := os.Open(locksFile)
	if err != nil || unix.Stat(path, &s) != nil {
		return nil
	}
	defer list.Close()
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(s.Dev), unix.Minor(s.Dev), s.Ino)
	for lines := bufio.NewScanner(list); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" || fields[5] != file {
			continue
		}
		if id, err := strconv.Atoi(fields[4]); err == nil && id > 0 {
			all = append(all, holder{id, programOf(id), thisProcess().host})
		}
	}
	slices.SortFunc(all, func(a, b holder) int { return a.id - b.id })
	return slices.Compact(all)
}

// programOf returns the name of the program of a process, or "".
func programOf(id int) string {
	if this := thisProcess(); id == this.id {
		return this.program
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", id))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
