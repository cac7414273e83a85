package edgelist

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd file may request: the default limit of the zstd command.
const maxWindow = 128 << 20

// decompress returns a reader of the content of a file that may be compressed by gzip, zstd or
// bzip2, which it recognizes by the first bytes, and reports whether the file is compressed. The
// reader has no goroutines and need not be closed.
func decompress(r io.Reader) (out io.Reader, packed bool, err error) {
	raw := bufio.NewReaderSize(r, 64<<10)
	magic, _ := raw.Peek(6)
	out = raw
	switch m := string(magic); {
	case strings.HasPrefix(m, "\x1f\x8b"):
		out, err = gzip.NewReader(raw)
	case m == "\xfd7zXZ\x00":
		err = errors.New("packed with xz, which is not read: accepted are gzip, zstd and bzip2")
	case strings.HasPrefix(m, "\x28\xb5\x2f\xfd"):
		out, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	case len(m) >= 4 && m[:3] == "BZh" && '1' <= m[3] && m[3] <= '9':
		out = bzip2.NewReader(raw)
	}
	if err != nil {
		return nil, false, fmt.Errorf("edgelist: %w", err)
	}
	return out, out != io.Reader(raw), nil
}

// buffered returns a buffered reader of r, for reading a few bytes at a time.
func buffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 64<<10) }
