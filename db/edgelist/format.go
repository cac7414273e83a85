package edgelist

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Format is how a file writes edges.
type Format int

const (
	AnyFormat    Format = iota // told from the file's first bytes, and where those leave a doubt from its name
	SNAP                       // columns between blanks
	CSV                        // columns between commas, semicolons or bars, with quotes
	TSV                        // columns between tabs, with quotes
	MatrixMarket               // a sparse matrix, coordinates from 1
	NPY                        // a NumPy array of two or three columns, or rows
	NPZ                        // an archive of such arrays
)

// formats returns the names of the formats that can be given, beginning with SNAP.
func formats() []string { return []string{"snap", "csv", "tsv", "mtx", "npy", "npz"} }

// String returns the format's name, such as "csv".
func (f Format) String() string {
	if f < SNAP || f > NPZ {
		return "auto"
	}
	return formats()[f-SNAP]
}

// ParseFormat is the inverse of [Format.String].
func ParseFormat(s string) (Format, error) {
	if i := slices.Index(formats(), s); i >= 0 {
		return SNAP + Format(i), nil
	}
	if s == AnyFormat.String() {
		return AnyFormat, nil
	}
	return AnyFormat, fmt.Errorf("edgelist: unknown format %q, expected auto, %s", s, strings.Join(formats(), ", "))
}

const (
	magicNPY = "\x93NUMPY"
	magicZip = "PK\x03\x04"
	magicMTX = "%%MatrixMarket"
)

// detect tells the format from a file's first bytes. Of text it only knows that it is text.
func detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(magicNPY)):
		return NPY
	case bytes.HasPrefix(head, []byte(magicZip)):
		return NPZ
	case len(head) >= len(magicMTX) && strings.EqualFold(string(head[:len(magicMTX)]), magicMTX):
		return MatrixMarket
	}
	return AnyFormat
}
