package edgelist

import (
	"bytes"
	"strings"
)

// Format is a file format for edges.
type Format int

const (
	// AnyFormat is detected from the first bytes of the file and, if they are ambiguous, from its
	// name.
	AnyFormat    Format = iota
	SNAP                // columns separated by blanks
	CSV                 // columns separated by commas, semicolons or bars, with quotes
	TSV                 // columns separated by tabs, with quotes
	MatrixMarket        // a sparse matrix, with coordinates from 1
	NPY                 // a NumPy array of two or three columns, or rows
	NPZ                 // an archive of such arrays
	Torch               // the links of a split of a benchmark, saved by PyTorch
	Folder              // a folder of the Open Graph Benchmark, read by Parts
	Parquet             // a table, read and written by Options.Tables
	Lists               // a node and all nodes that it links to on each line
)

// formats returns the names of the values of Format.
func formats() []string {
	return []string{"auto", "snap", "csv", "tsv", "mtx", "npy", "npz", "pt", "ogb", "parquet", "lists"}
}

// Formats returns the names of the formats that a user can choose.
func Formats() []string { return formats()[1:] }

// String returns the format's name, such as "csv".
func (f Format) String() string { return enumName(f, formats()) }

// MarshalText implements [encoding.TextMarshaler].
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Format) UnmarshalText(b []byte) (err error) {
	*f, err = parseEnum[Format]("format", string(b), formats(), ", ")
	return err
}

const (
	magicNPY = "\x93NUMPY"
	magicZip = "PK\x03\x04" // also of files of PyTorch
	magicMTX = "%%MatrixMarket"
	magicPAR = "PAR1"
	// magicPT begins a pickle with PyTorch's magic number.
	magicPT = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46"
)

// detect detects the format from a file's first bytes. For text it returns AnyFormat.
func detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(magicNPY)):
		return NPY
	case beginsBinary(magicPAR)(head), string(head) == magicPAR:
		return Parquet
	case bytes.HasPrefix(head, []byte(magicZip)):
		return NPZ
	case bytes.HasPrefix(head, []byte(magicPT)):
		return Torch
	case len(head) >= len(magicMTX) && strings.EqualFold(string(head[:len(magicMTX)]), magicMTX):
		return MatrixMarket
	}
	return AnyFormat
}
