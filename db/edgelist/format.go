package edgelist

import (
	"bytes"
	"fmt"
	"strings"
)

// Format is a file format for edges.
type Format int

const (
	AnyFormat    Format = iota // detected from the first bytes of the file and, if these are ambiguous, from its name
	SNAP                       // columns separated by blanks
	CSV                        // columns separated by commas, semicolons or bars, with quotes
	TSV                        // columns separated by tabs, with quotes
	MatrixMarket               // a sparse matrix, with coordinates from 1
	NPY                        // a NumPy array of two or three columns, or rows
	NPZ                        // an archive of such arrays
	Torch                      // the links of a split of a benchmark, saved by PyTorch
	Folder                     // a folder of the Open Graph Benchmark, read by Parts
)

// formats returns the names of the values of Format.
func formats() []string {
	return []string{"auto", "snap", "csv", "tsv", "mtx", "npy", "npz", "pt", "ogb"}
}

// Formats returns the names of the formats that a user can choose.
func Formats() []string { return formats()[1:] }

// String returns the format's name, such as "csv".
func (f Format) String() string { return enumName(f, formats()) }

// MarshalText implements [encoding.TextMarshaler].
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Format) UnmarshalText(b []byte) (err error) {
	*f, err = ParseFormat(string(b))
	return err
}

// ParseFormat parses the result of [Format.String].
func ParseFormat(s string) (Format, error) { return parseEnum[Format]("format", s, formats(), ", ") }

const (
	magicNPY = "\x93NUMPY"
	magicZip = "PK\x03\x04" // also of files of PyTorch
	magicMTX = "%%MatrixMarket"
	magicPT  = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46" // a pickle that begins with PyTorch's magic number
)

// foreign returns an error for files of other formats, recognized by their first bytes. Some of these could be mistaken
// for text in columns. It is not called if the format is given.
func foreign(head []byte) error {
	is := ""
	switch trimmed := bytes.TrimLeft(head, " \t\r\n"); {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		is = "text in UTF-16"
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		is = "a file packed twice"
	case bytes.HasPrefix(head, []byte("PAR1")):
		is = "a Parquet file"
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n")):
		is = "an HDF5 file"
	case bytes.HasPrefix(trimmed, []byte("{")), bytes.HasPrefix(trimmed, []byte("[")):
		is = "JSON"
	case bytes.HasPrefix(trimmed, []byte("<!")), bytes.HasPrefix(trimmed, []byte("<?")), bytes.HasPrefix(bytes.ToLower(trimmed), []byte("<html")):
		is = "XML or HTML"
	default:
		return nil
	}
	return fmt.Errorf("edgelist: this looks like %s, which is not read; for a list after all, give its format: %s", is, strings.Join(Formats(), ", "))
}

// detect detects the format from a file's first bytes. For text it returns AnyFormat.
func detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(magicNPY)):
		return NPY
	case bytes.HasPrefix(head, []byte(magicZip)):
		return NPZ
	case bytes.HasPrefix(head, []byte(magicPT)):
		return Torch
	case len(head) >= len(magicMTX) && strings.EqualFold(string(head[:len(magicMTX)]), magicMTX):
		return MatrixMarket
	}
	return AnyFormat
}
