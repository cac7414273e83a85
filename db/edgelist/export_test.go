package edgelist

import "io"

// Decompress is decompress for tests of another package.
func Decompress(r io.Reader) (io.Reader, error) {
	out, _, err := decompress(r)
	return out, err
}
