package huge

import "syscall"

// advise asks for huge pages. Where the system has none it fails, and the memory is as it was.
func advise(b []byte) {
	if pages := aligned(b); len(pages) > 0 {
		_ = syscall.Madvise(pages, syscall.MADV_HUGEPAGE)
	}
}
