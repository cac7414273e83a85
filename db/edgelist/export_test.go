package edgelist

import "io"

// Decompress is decompress for the tests in package edgelist_test.
func Decompress(r io.Reader) (io.Reader, error) {
	out, _, err := decompress(r)
	return out, err
}
