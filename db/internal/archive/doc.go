// Package archive reads and writes the files that leave a database: backups and models. Their
// layout differs from the layout of the store, so it survives changes of the store.
//
//	archive  the magic bytes of its kind, frame...
//	frame    length of the payload and its crc32c (4 bytes each, little endian), payload
//	payload  'h' header | 'e' entry... | 't' trailer, all of them in msgpack
//	entry    key, value, and in place of a value that the earlier backup has, its digest
//
// Entries are in the order of their keys. The trailer holds the number of entries and the SHA-256
// of all frames before it, so a truncated archive or one assembled from parts is detected.
//
// In a backup, the entries are the records of a database at one version. An incremental backup has
// only the digests of values that the earlier backup has. In a model file, the entries are the
// numbered parts of a document.
package archive

import (
	"crypto/sha256"
	"io"

	"kith/index"
)

// version is the version of the layout.
const version = 2

const (
	frameHeader  = 'h'
	frameEntries = 'e'
	frameTrailer = 't'

	frameSize = 256 << 10 // a frame of entries ends when it is at least this long, in bytes
	maxFrame  = 16 << 20  // maximal length of a frame in bytes
)

// Kind is a kind of archive.
type Kind struct {
	magic, name string
	format      int // of what the entries hold
}

// Kinds of archives.
var (
	Backup = Kind{"kithbak\n", "backup", index.Format}
	Model  = Kind{"kithmdl\n", "model", 1}
)

// StartsWith reports whether r starts with the magic bytes of the kind.
func (k Kind) StartsWith(r io.Reader) bool {
	magic := make([]byte, len(k.magic))
	_, err := io.ReadFull(r, magic)
	return err == nil && string(magic) == k.magic
}

// Header describes a backup. For a model, Seq, Graph and Since are 0.
type Header struct {
	Version int    `msgpack:"version"` // of the layout
	Format  int    `msgpack:"format"`  // of the kind
	Seq     uint64 `msgpack:"seq"`     // store timestamp of the version in the backup
	Graph   uint64 `msgpack:"graph"`   // version of the graph
	// Since is the Seq of the earlier backup if this one is incremental, otherwise 0.
	Since uint64 `msgpack:"since"`
}

type trailer struct {
	Entries int64  `msgpack:"entries"`
	Digest  []byte `msgpack:"digest"`
}

// Entry is an entry of an archive.
type Entry struct {
	Key    []byte
	Value  []byte
	Digest []byte // digest of the value if the earlier backup has it, otherwise nil
}

// sum returns the digest of the value.
func (e *Entry) sum() []byte {
	if e.Digest != nil {
		return e.Digest
	}
	return digestOf(e.Value)
}

// digestSize is the number of bytes of the SHA-256 of a value that are its digest.
const digestSize = 16

func digestOf(value []byte) []byte {
	sum := sha256.Sum256(value)
	return sum[:digestSize]
}
