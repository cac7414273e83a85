package db

import (
	"crypto/sha256"
	"hash/crc32"

	"kith/index"
)

// A backup is an archive: the records of one version in key order. The layout is not Badger's, so it survives changes
// of Badger's formats.
//
//	archive  magic, frame...
//	frame    length of the payload and its crc32c (4 bytes each, little endian), payload
//	payload  'h' header | 'e' entry... | 't' trailer; header and trailer are msgpack
//	entry    bytes shared with the key before in the frame, length of the rest, rest,
//	         length of the value + 1, value; or 0, digest of the value (numbers are uvarints)
//
// The header comes first and the trailer last. The trailer holds the number of entries and the SHA-256 of all frames
// before it, so a truncated archive or one assembled from parts is detected. In an incremental backup, an entry without
// its value is one whose value is in the earlier backup.

const (
	archiveMagic   = "kithbak\n"
	archiveVersion = 1

	frameHeader  = 'h'
	frameEntries = 'e'
	frameTrailer = 't'

	frameSize = 256 << 10 // a frame of entries ends when it is at least this long, in bytes
	maxFrame  = 16 << 20  // maximal length of a frame in bytes
)

// archiveHeader describes the archived version.
type archiveHeader struct {
	Version int    `msgpack:"version"` // of the archive
	Format  int    `msgpack:"format"`  // of the records: index.Format
	Seq     uint64 `msgpack:"seq"`     // store timestamp of the archived version
	Graph   uint64 `msgpack:"graph"`   // version of the graph
	Since   uint64 `msgpack:"since"`   // Seq of the earlier backup if this one is incremental, otherwise 0
}

type archiveTrailer struct {
	Entries int64  `msgpack:"entries"`
	Digest  []byte `msgpack:"digest"`
}

// digest is the first 16 bytes of the SHA-256 of a value.
type digest [16]byte

func digestOf(value []byte) digest {
	sum := sha256.Sum256(value)
	return digest(sum[:16])
}

// archived is an entry of an archive.
type archived struct {
	index.Entry        // the value is nil if kept
	digest      digest // digest of the value, if kept
	kept        bool   // the value is in the earlier backup
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
