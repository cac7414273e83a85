package db

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
)

// Badger ends the process over some damages of its files, goes on without the file over others, and
// deletes tables that a damaged manifest has forgotten. So all that it will rely on is read before
// it opens the directory: the manifest, and every block of every table, which is what an open reads
// anyhow. The log of the last writes needs no such care: it is read up to the first record whose
// checksum is wrong, which after a crash is how it should end.

// checkFiles returns ErrCorrupt, or ErrMismatch, for a directory that Badger must not open.
func checkFiles(o badger.Options) error {
	f, err := os.Open(filepath.Join(o.Dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) || o.InMemory {
		return nil
	}
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	defer f.Close()
	m, end, err := badger.ReplayManifestFile(f, magic, o)
	if err != nil {
		return manifestError(err)
	}
	if err := checkEnd(f, end); err != nil {
		return err
	}
	for id, t := range m.Tables {
		name := table.NewFilename(id, o.Dir)
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted by the process that has the database open, or Badger says so
		}
		if err != nil {
			return fmt.Errorf("db: %w", err)
		}
		if err := checkTable(b, id, table.Options{Compression: t.Compression, BlockSize: o.BlockSize, ChkMode: options.OnBlockRead}); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrCorrupt, filepath.Base(name), err)
		}
	}
	return nil
}

// checkEnd looks at what follows the last whole record of a manifest. A write that was interrupted
// may have left a part of a record; but then it left a log (.mem) too, and no record follows.
func checkEnd(f *os.File, end int64) error {
	all, err := os.ReadFile(f.Name())
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	rest := all[min(end, int64(len(all))):]
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(f.Name()), "*.mem"))
	if err != nil || len(rest) == 0 {
		return err
	}
	if len(logs) == 0 || holdsRecord(rest[1:]) {
		return fmt.Errorf("%w: %s is damaged at byte %d", ErrCorrupt, badger.ManifestFilename, end)
	}
	return nil
}

// holdsRecord reports whether a manifest record, its length and crc32c before it, lies anywhere in b.
func holdsRecord(b []byte) bool {
	for ; len(b) > 8; b = b[1:] {
		n := binary.BigEndian.Uint32(b)
		if n == 0 || uint64(n) > uint64(len(b)-8) {
			continue
		}
		if crc32.Checksum(b[8:8+n], crc32.MakeTable(crc32.Castagnoli)) == binary.BigEndian.Uint32(b[4:]) {
			return true
		}
	}
	return false
}

// checkTable verifies all checksums of a table. A panic of Badger's over a damaged one is an error.
func checkTable(b []byte, id uint64, o table.Options) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("its blocks do not fit their checksums")
		}
	}()
	if err := checkFooter(b); err != nil {
		return err
	}
	t, err := table.OpenInMemoryTable(b, id, &o)
	if err != nil {
		return err
	}
	return t.VerifyChecksum()
}

// checkFooter verifies the end of a table: index, its length (4 bytes), checksum, its length (4
// bytes). Over lengths beyond the file Badger would end the process. The checksum is a protocol
// buffer in which the crc32c of the index is field 2.
func checkFooter(b []byte) error {
	errFooter := errors.New("its index does not fit its checksum")
	b, n, ok := cutLength(b)
	if !ok || n > len(b) {
		return errFooter
	}
	sum := b[len(b)-n:]
	b, n, ok = cutLength(b[:len(b)-n])
	if !ok || n > len(b) {
		return errFooter
	}
	var want []byte
	if crc := crc32.Checksum(b[len(b)-n:], crc32.MakeTable(crc32.Castagnoli)); crc != 0 {
		want = binary.AppendUvarint([]byte{2 << 3}, uint64(crc))
	}
	if string(sum) != string(want) {
		return errFooter
	}
	return nil
}

// cutLength takes a length off the end of b.
func cutLength(b []byte) ([]byte, int, bool) {
	if len(b) < 4 {
		return nil, 0, false
	}
	return b[:len(b)-4], int(binary.BigEndian.Uint32(b[len(b)-4:])), true
}
