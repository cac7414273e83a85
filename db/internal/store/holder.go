package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockFile is the file that names the process that has a store open for writing.
const lockFile = "LOCK"

// holder is a process that has a store open for writing.
type holder struct {
	id      int
	program string
	host    string
}

// thisProcess returns the holder for this process.
func thisProcess() holder {
	h := holder{id: os.Getpid()}
	if len(os.Args) > 0 {
		h.program = filepath.Base(os.Args[0])
	}
	h.host, _ = os.Hostname() // "" if it has no name
	return h
}

// marshal returns the content of a lock file: the id, the program and the machine, a line each.
func (h holder) marshal() []byte {
	line := strings.NewReplacer("\n", " ", "\r", " ").Replace
	return fmt.Appendf(nil, "%d\n%s\n%s\n", h.id, line(h.program), line(h.host))
}

// holderOf returns the process that a lock file names. It returns false if the content is not
// whole, or if there is no such process, so that the file is left over from one that was killed.
func holderOf(content []byte) (h holder, ok bool) {
	lines := strings.Split(string(content), "\n")
	if len(lines) != 4 {
		return h, false
	}
	id, err := strconv.Atoi(lines[0])
	h = holder{id, lines[1], lines[2]}
	return h, err == nil && id > 0 && (h.host != thisProcess().host || isAlive(id))
}

// String names the process.
func (h holder) String() string {
	this := thisProcess()
	if h == this {
		return "this process"
	}
	text := fmt.Sprintf("process %d", h.id)
	if h.program != "" {
		text += fmt.Sprintf(" (%s)", h.program)
	}
	if h.host != this.host {
		text += " of machine " + h.host
	}
	return text
}

// advice says what to do about a database that a different process has open.
const advice = "end it first, or if it serves query/web.Handler, ask it with kith shell --attach URL"

// readersError returns ErrLocked, with the processes that have the database at path open for
// reading if they are known.
func readersError(path string) error {
	const most = 3
	var names []string
	for _, h := range holders(path) {
		names = append(names, h.String())
	}
	switch n := len(names); {
	case n == 0:
		return fmt.Errorf("%w: %s: other processes read it, and none may write meanwhile", ErrLocked, path)
	case n == 1:
		return fmt.Errorf("%w: %s: %s reads it, and none may write meanwhile; %s", ErrLocked, path, names[0], advice)
	case n > most:
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return fmt.Errorf("%w: %s: %s read it, and none may write meanwhile", ErrLocked, path, strings.Join(names, ", "))
}

// lockedError returns ErrLocked, with the process that has the database at path open for writing if
// that is known.
func lockedError(path string) error {
	process := "another process"
	if content, err := os.ReadFile(filepath.Join(path, lockFile)); err == nil {
		if h, ok := holderOf(content); ok {
			process = h.String()
		}
	}
	return fmt.Errorf("%w: %s: %s has it open; %s", ErrLocked, path, process, advice)
}
