package db

import (
	"crypto/sha256"
	"hash/crc32"

	"kith/index"
)

// A backup is an archive: the records of one version, in the order of their keys, in a layout that is
// not Badger's and so outlives Badger's changes.
//
//	archive  magic, frame...
//	frame    length of the payload and its crc32c (4 bytes each, little endian), payload
//	payload  'h' header | 'e' entry... | 't' trailer; header and trailer are msgpack
//	entry    bytes shared with the key before in the frame, length of the rest, rest,
//	         length of the value + 1, value; or 0, digest of the value (numbers are uvarints)
//
// The header comes first and the trailer last. The trailer has the number of entries and the SHA-256
// of all frames before it, so that what was cut short or put together from parts is seen. An entry
// without its value is one that the earlier backup has, which this one is the changes since.

const (
	archiveMagic   = "kithbak\n"
	archiveVersion = 1

	frameHeader  = 'h'
	frameEntries = 'e'
	frameTrailer = 't'

	frameSize = 256 << 10 // a frame of entries ends when it is longer
	maxFrame  = 16 << 20  // no frame is longer
)

// archiveHeader says what is archived.
type archiveHeader struct {
	Version int    `msgpack:"version"` // of the archive
	Format  int    `msgpack:"format"`  // of the records, as index has it
	Seq     uint64 `msgpack:"seq"`     // the store's timestamp of the archived version
	Graph   uint64 `msgpack:"graph"`   // the graph's version
	Since   uint64 `msgpack:"since"`   // the Seq of the earlier backup, where this one is the changes since; or 0
}

type archiveTrailer struct {
	Entries int64  `msgpack:"entries"`
	Digest  []byte `msgpack:"digest"`
}

// digest stands for a value.
type digest [16]byte

func digestOf(value []byte) digest {
	sum := sha256.Sum256(value)
	return digest(sum[:16])
}

// archived is an entry of an archive.
type archived struct {
	index.Entry        // the value is nil where the earlier backup has it
	digest      digest // of a value that the earlier backup has
	kept        bool   // the earlier backup has the value
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
