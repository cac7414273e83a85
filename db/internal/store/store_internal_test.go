package store

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// A system error is not reported as damage of the files.
func TestOpenError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"While opening directory: g. err: open g: " + syscall.EMFILE.Error(): syscall.EMFILE,
		"while opening memtables err: mmap: " + syscall.ENOMEM.Error():       syscall.ENOMEM,
		"manifest has unsupported version":                                   ErrCorrupt,
		"During validRegistry error: Encryption key mismatch":                ErrCorrupt,
	} {
		err := openError("g", errors.New(text))
		if !errors.Is(err, want) || errors.Is(err, ErrCorrupt) != (want == ErrCorrupt) || strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
