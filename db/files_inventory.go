package db

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// inventoryFile lists the files of a store. Badger's manifest names the tables without identifying their
// content, and a manifest that has lost its end looks like an older one.
const inventoryFile = "INVENTORY"

// inventory is the list of the files of a store at some time. The manifest decides which tables there
// are; the inventory is compared with it. An old inventory finds fewer faults, and one that is lost or
// damaged finds none.
//
// INVARIANT: the files were durable when their inventory was written, and Badger gives the number of a
// table to no other one. So no inventory is refuted by a crash.
type inventory struct {
	ManifestBegin uint32               `json:"manifest_begin"` // crc32c of its first bytes: another one when it was rewritten
	ManifestBytes int64                `json:"manifest_bytes"`
	Tables        map[uint64]tableMark `json:"tables"`
	Logs          []string             `json:"logs"`
}

// tableMark tells a table from every other: its length, and its last bytes in hexadecimal, which are
// the length and the checksum of its index.
type tableMark struct {
	Bytes int64  `json:"bytes"`
	End   string `json:"end"`
}

const markedEnd = 14

// markTable reads the mark of a table.
func markTable(name string) (m tableMark, err error) {
	f, err := os.Open(name)
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	end := make([]byte, min(info.Size(), markedEnd))
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return m, err
	}
	return tableMark{info.Size(), hex.EncodeToString(end)}, nil
}

// markBytes returns the mark of a table that has been read.
func markBytes(b []byte) tableMark {
	return tableMark{int64(len(b)), hex.EncodeToString(b[max(0, len(b)-markedEnd):])}
}

// listFiles makes the inventory of a store. The marks of tables that an earlier one has are not read
// again.
func listFiles(o badger.Options, earlier *inventory, logs []string) (*inventory, error) {
	m, err := readManifest(o)
	if err != nil {
		return nil, err
	}
	inv := &inventory{ManifestBegin: m.begin, ManifestBytes: m.end, Tables: map[uint64]tableMark{}, Logs: logs}
	for id := range m.Tables {
		mark, ok := earlier.Tables[id]
		if !ok {
			mark, err = markTable(table.NewFilename(id, o.Dir))
		}
		switch {
		case err == nil:
			inv.Tables[id] = mark
		case !errors.Is(err, fs.ErrNotExist): // else a compaction has deleted it meanwhile
			return nil, err
		}
		err = nil
	}
	return inv, nil
}

// readInventory returns the inventory of a store, an empty one if it is missing or damaged.
func readInventory(dir string) *inventory {
	inv := &inventory{}
	b, err := os.ReadFile(filepath.Join(dir, inventoryFile))
	sum, doc, ok := strings.Cut(string(b), "\n")
	if err != nil || !ok || sum != inventorySum(doc) || json.Unmarshal([]byte(doc), inv) != nil {
		return &inventory{}
	}
	return inv
}

func inventorySum(doc string) string {
	return fmt.Sprintf("%08x", checksum([]byte(doc)))
}

// write replaces the inventory of a store.
func (inv *inventory) write(dir string) error {
	doc, err := json.MarshalIndent(inv, "", " ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, inventoryFile)
	draft := name + "-REWRITE"
	if err := os.WriteFile(draft, []byte(inventorySum(string(doc))+"\n"+string(doc)), 0o600); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return os.Rename(draft, name)
}

// faults returns what shows that files are not the ones that were written, each ErrCorrupt.
func (inv *inventory) faults(m *manifest, marks map[uint64]tableMark, names []string) (faults []error) {
	report := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
	}
	if inv.ManifestBegin == m.begin && m.end < inv.ManifestBytes {
		report("%s ends at byte %d, it had %d bytes", badger.ManifestFilename, m.end, inv.ManifestBytes)
	}
	made := false // a table since the inventory
	for id := range m.Tables {
		was, listed := inv.Tables[id]
		made = made || !listed
		if now, ok := marks[id]; ok && listed && now != was {
			report("%s is not the file that was written", table.IDToFilename(id))
		}
	}
	for _, name := range inv.Logs { // a log goes when it has become a table
		if !made && !slices.Contains(names, name) {
			report("%s is missing", name)
		}
	}
	return faults
}

// takeInventory replaces the inventory of the store. The files must be durable but for the manifest,
// and so the logs that are to be in it. Without an inventory a later open knows less, which is no
// reason for a commit to fail.
func (s *store) takeInventory(logs []string) {
	o := s.badger.Opts()
	if o.InMemory || o.ReadOnly {
		return
	}
	err := syncData(filepath.Join(o.Dir, badger.ManifestFilename))
	var inv *inventory
	if err == nil {
		inv, err = listFiles(o, s.inventory, logs)
	}
	if err == nil {
		s.inventory, err = inv, inv.write(o.Dir)
	}
	if err != nil {
		s.log.Warn("listing the files of the store", "err", err)
	}
}

// expectNoLogs takes the logs out of the inventory of a store before Badger opens or closes it, which
// deletes a log without making a table of it if nothing is in it.
func expectNoLogs(dir string) error {
	inv := readInventory(dir)
	if len(inv.Logs) == 0 {
		return nil
	}
	inv.Logs = nil
	return inv.write(dir)
}

// close closes the store.
func (s *store) close() error {
	o := s.badger.Opts()
	if o.InMemory || o.ReadOnly {
		return storeError(s.badger.Close())
	}
	err := errors.Join(expectNoLogs(o.Dir), storeError(s.badger.Close()))
	s.takeInventory(nil)
	return err
}
