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
	Torch                      // the links of a split of a benchmark, as PyTorch saves them
	Folder                     // a folder of the Open Graph Benchmark, which Parts reads
)

// formats returns the names of the formats that can be given, beginning with SNAP.
func formats() []string { return []string{"snap", "csv", "tsv", "mtx", "npy", "npz", "pt", "ogb"} }

// String returns the format's name, such as "csv".
func (f Format) String() string {
	if f < SNAP || f > Folder {
		return "auto"
	}
	return formats()[f-SNAP]
}

// MarshalText implements [encoding.TextMarshaler].
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Format) UnmarshalText(b []byte) (err error) {
	*f, err = ParseFormat(string(b))
	return err
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
	magicZip = "PK\x03\x04" // of PyTorch, too
	magicMTX = "%%MatrixMarket"
	magicPT  = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46" // a pickle that begins with PyTorch's magic number
)

// foreign returns an error for what begins as files do that are no text of columns, although some of
// them could be taken for that. Where the format is given, it is believed.
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
	return fmt.Errorf("edgelist: this looks like %s, which is not read; for a list after all, give its format: %s", is, strings.Join(formats(), ", "))
}

// detect tells the format from a file's first bytes. Of text it only knows that it is text.
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
