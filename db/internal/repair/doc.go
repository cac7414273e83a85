// Package repair finds what is wrong with a damaged database, and writes the records that can be
// read from scratch. It works on a store that is not open otherwise, and knows nothing of
// transactions.
//
// # Damage
//
// Every stored value has a checksum of its own and one of Badger's. Before Open changes anything it
// reads the manifest, the tables without the rows and keys of the graph, and the logs of the last
// writes, and compares them with an inventory, which is written whenever files come or go and has
// the length and checksums of each table. A file that was altered, truncated, deleted or replaced
// is ErrCorrupt, and so are inconsistent records. The inventory has a checksum of the manifest, and
// the identity of the directory, so foreign files are recognized. A failing open
// deletes nothing: tables that the manifest does not name, which Badger deletes, are set aside
// until all records are read.
//
// Rows, keys, labels and vectors of a graph of more than 65,536 edges are read when they are
// needed. If they fit, all are read into memory in the background once questions have read about as
// much, or at db.DB.Preload. A damaged block of them is therefore found later: from then on every
// transaction ends with ErrCorrupt and no write succeeds. All tables are read in full before the
// first write, a backup and a check, at about 1 GB a second.
//
// A log of the last writes that lost its end looks like one that a crash has ended. So the file
// NEWEST, of one kilobyte, names the newest durable commit, and for each log its identity and its
// last commit. It is written in place after each group of commits, without a sync of its own. A
// kill leaves it as it was written, so every durable commit that the logs lack is ErrCorrupt. After
// a power cut it may be as old as the system's page cache, half a minute or so, and the loss of
// later commits cannot be distinguished from a crash. The same holds if the file is lost. It
// takes about 15 microseconds for a group, measured on a busy machine: 14 % of an Update with
// NoSync, and nothing measurable compared with a sync.
//
// A gap in a log is damage if two commits follow, because each was synced before the next was
// written, or one that NEWEST says was durable. Otherwise the database is in the state after the
// commit before the gap. With NoSync a power cut may leave gaps anywhere, and a kill leaves none:
// they are damage if the system has not been started since. Only Linux says whether it has. A file
// that changes between the last inventory and a kill is verified only by its checksums.
//
// Badger writes its files through memory mappings, and a page for which the disk has no space ends
// the process with SIGBUS. So writes, and db.DB.Compact, check beforehand that the space they may
// need is free. If other processes fill the disk in that moment, SIGBUS can still happen, but
// nothing acknowledged is lost. db.CompactDir writes its tables itself and returns an error if the
// disk is full.
//
// # Repair
//
// db.Diagnose says what is wrong with a database that cannot be opened, and db.Repair writes it
// from scratch with all records that can be read. It does so in a directory inside the database, so
// a repair that fails changes nothing, and a repair that is killed while it replaces the files is
// finished by the next Open. Unless it is forced, it fails instead of leaving an empty database.
// Foreign files are left out, and kept under another name. A damaged table costs the blocks with
// wrong checksums, a damaged manifest nothing. What only a damaged record held is lost and
// reported; the log of changes restores what it holds of a damaged block. No edge joins nodes that
// it did not join before. But if the record of a commit is lost, what that commit changed or
// deleted is back in its earlier state. If a table was lost, data that was deleted after the table
// was written, such as a model, may be back as well.
package repair
