package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"

	"kith/db/internal/archive"
	"kith/db/internal/ctxio"
	"kith/db/internal/record"
	"kith/db/internal/repair"
	"kith/db/internal/store"
	"kith/db/internal/wire"
	"kith/index"
	"kith/model"
)

// Backups and repairs.
//
// [DB.WriteTo] and [DB.WriteSince] write the records of one version in the layout of package
// archive, which is not Badger's. [Restore] rejects incomplete backups, and puts the database in
// place only after it has been opened once and is durable. [Diagnose] and [Repair] are for
// databases that Open finds damaged; package repair says what damage is found when.

// Backup describes a backup.
type Backup struct {
	Seq     uint64 `json:"version"`       // store timestamp of the version; every commit adds one
	Since   uint64 `json:"since"`         // Seq of the earlier backup if this one is incremental, otherwise 0
	Graph   uint64 `json:"graph_version"` // version of the graph
	Entries int64  `json:"records"`       // number of records of the version
	Changed int64  `json:"changed"`       // number of records whose values are in this backup and not in the earlier one
	Bytes   int64  `json:"bytes"`

	// Contents identifies what a database holds that is restored from the backup and those before
	// it. See [Stats].
	Contents string `json:"contents"`
}

// WriteTo writes a backup to w: everything that the database holds at the latest version when
// WriteTo is called. Readers and writers continue meanwhile. The backup includes models,
// observations and variables. It excludes cached states, which only save time. [Restore] makes a
// database from it.
func (db *DB) WriteTo(ctx context.Context, w io.Writer) (Backup, error) {
	return db.backup(ctx, w, nil)
}

// WriteSince writes a backup of the changes since an earlier backup, which may itself be
// incremental. [Restore] takes it after the earlier one. Records are compared by digest, so the
// earlier backup need only be of a similar database. WriteSince returns ErrMismatch if earlier is
// not a backup, and ErrCorrupt if it is damaged.
func (db *DB) WriteSince(ctx context.Context, w io.Writer, earlier io.Reader) (Backup, error) {
	a, err := archive.NewReader(ctxio.Reader(ctx, earlier), archive.Backup)
	if err != nil {
		return Backup{}, fmt.Errorf("the earlier backup: %w", err)
	}
	return db.backup(ctx, w, a)
}

func (db *DB) backup(ctx context.Context, w io.Writer, earlier *archive.Reader) (b Backup, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		h := archive.Header{Seq: tx.snap.ts, Graph: tx.snap.Meta.Version}
		entries := tx.records(ctx)
		if earlier != nil {
			if earlier.Seq > h.Seq {
				return fmt.Errorf("%w: the earlier backup is of version %d, the database is at %d", ErrMismatch, earlier.Seq, h.Seq)
			}
			h.Since = earlier.Seq
			entries = archive.Since(entries, earlier)
		}
		b = Backup{Seq: h.Seq, Since: h.Since, Graph: h.Graph, Contents: contents(tx.snap.Meta.ID, tx.snap.Meta.Version, tx.snap.Meta.History)}
		a, err := archive.NewWriter(w, archive.Backup, h)
		if err != nil {
			return err
		}
		for e, err := range entries {
			if err == nil {
				err = a.Add(e)
			}
			if err != nil {
				return err
			}
			if e.Digest == nil {
				b.Changed++
			}
		}
		err = a.Close()
		b.Entries, b.Bytes = a.Entries, a.Bytes
		return err
	})
	return b, err
}

// records yields the valid records of the transaction's version, in key order.
func (tx *Tx) records(ctx context.Context) iter.Seq2[archive.Entry, error] {
	return func(yield func(archive.Entry, error) bool) {
		if err := tx.db.store.Verify(); err != nil { // a scan would omit the records of damaged blocks
			yield(archive.Entry{}, err)
			return
		}
		for e, err := range ctxio.Scans(ctx, tx.reader).Scan(nil, nil) {
			if err == nil && !tx.snap.Meta.IsCurrent(e.Key) {
				continue
			}
			if !yield(archive.Entry{Key: e.Key, Value: e.Value}, err) || err != nil {
				return
			}
		}
	}
}

// CheckBackupFile returns an error if there is a file of that name that is neither empty nor a
// backup, so that a backup does not overwrite it. A file that is not regular, such as a pipe, may
// be written.
func CheckBackupFile(name string) error {
	switch info, err := os.Stat(name); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return nil // to open a pipe would wait for its writer
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // read only
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 && !archive.Backup.StartsWith(f) {
		err = fmt.Errorf("%s is not a backup and is not replaced", name)
	}
	return err
}

// Restore makes a database in the directory path, which must be empty or not exist, from a full
// backup and any incremental backups that follow it, oldest first. It opens the database once with
// the given options, to verify that everything is consistent. The database is made in path.partial,
// and moved to path when it is complete and durable. Whatever fails, and whenever the process dies,
// there is a complete database at path or none.
//
// The database has everything of the database that was backed up, also its identity, its changes
// and how many of them are kept, so that readers of [DB.Changes] can go on with it, and followers
// of a follower are possible. Options.ChangeBytes may keep another number.
//
// It returns ErrExists if path is not empty, ErrInput for a path that ends in a dot, ErrMismatch
// for a file that is not a backup, has a different version, or does not follow the previous one,
// and ErrCorrupt for one that was altered or truncated. The error names the backup by its number,
// or by the method Name that a file has.
func Restore(ctx context.Context, path string, o *Options, backups ...io.Reader) error {
	opts, err := o.resolve(path)
	if err != nil {
		return err
	}
	if opts.ReadOnly || len(backups) == 0 {
		return inputf("Restore needs a backup and a writable database")
	}
	chain, err := openChain(ctx, backups)
	if err != nil {
		return err
	}
	if err := mustBeVacant(path); err != nil {
		return err
	}
	whole, err := filepath.Abs(path) // the working directory may change meanwhile
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	if err := store.Remove(filepath.Clean(path) + ".partial"); err != nil {
		return err
	}
	err = restore(ctx, filepath.Clean(path)+".partial", opts, chain)
	if err == nil {
		err = store.Move(whole+".partial", whole)
	}
	switch {
	case err == nil, errors.Is(err, ErrLocked), errors.Is(err, syscall.EROFS): // the partial directory, if there is one, belongs to another process
		return err
	}
	return errors.Join(err, store.Remove(whole+".partial"))
}

// ReadBackup returns what the beginnings of a full backup and of any incremental backups that
// follow it, oldest first, say about the last of them: Seq, Since and Graph. It returns the errors
// of [Restore] for files that are no backups or do not follow each other.
func ReadBackup(ctx context.Context, backups ...io.Reader) (Backup, error) {
	if len(backups) == 0 {
		return Backup{}, inputf("ReadBackup needs a backup")
	}
	chain, err := openChain(ctx, backups)
	if err != nil {
		return Backup{}, err
	}
	last := chain[len(chain)-1]
	return Backup{Seq: last.Seq, Since: last.Since, Graph: last.Graph}, nil
}

// openChain reads the beginnings of backups. Errors name a backup by its number or its Name.
func openChain(ctx context.Context, backups []io.Reader) (archive.Chain, error) {
	backups, names := slices.Clone(backups), make([]string, len(backups))
	for i, r := range backups {
		backups[i], names[i] = ctxio.Reader(ctx, r), fmt.Sprintf("backup %d of %d", i+1, len(backups))
		if file, ok := r.(interface{ Name() string }); ok {
			names[i] = file.Name()
		}
	}
	return archive.OpenChain(backups, names)
}

// restore makes a database from a chain of backups and opens it. The opened version must be the
// version of the last backup.
func restore(ctx context.Context, path string, o Options, chain archive.Chain) error {
	unsynced := o.forStore(nil)
	unsynced.NoSync = true // nothing refers to it before all of it is synced
	st, err := store.Open(path, unsynced)
	if err != nil {
		return err
	}
	seq := chain.Seq()
	err = st.Bulk(seq, func(w index.Writer) error { // a Batch takes several times the memory
		for e, err := range chain.All() {
			err = cmp.Or(err, ctx.Err())
			if err == nil {
				err = w.Set(e.Key, e.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	stored := o
	stored.ChangeBytes = 0
	g, err := open(ctx, st.Dir(), stored)
	if err != nil {
		return err
	}
	if ts := g.now.Load().ts; ts != seq {
		err = fmt.Errorf("%w: the backup is of version %d, its records are of version %d", ErrCorrupt, seq, ts)
	} else {
		err = g.setChangeBytes(o.ChangeBytes)
	}
	return errors.Join(err, g.Close())
}

// mustBeVacant returns ErrExists unless path is an empty directory or does not exist, and ErrInput
// for a path without a base name, which a rename could not replace.
func mustBeVacant(path string) error {
	if base := filepath.Base(path); base == "." || base == ".." || base == string(filepath.Separator) {
		return inputf("%s: name the directory itself, because Restore replaces it", path)
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("db: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrExists, path, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s holds %s: a backup is restored to an empty directory or a new one", ErrExists, path, entries[0].Name())
	}
	return nil
}

// Repairs describes what Repair found and did.
type Repairs struct {
	Found []error  `json:"found"` // every breach, with its place and the data lost with it
	Done  []string `json:"done"`  // empty if Found is empty
}

// MarshalJSON implements [json.Marshaler].
func (r Repairs) MarshalJSON() ([]byte, error) { return wire.Object(r) }

// Diagnose says what is wrong with a database, even with one that cannot be opened. It returns nil,
// or every breach found, each an ErrCorrupt, joined. If files of the store are damaged, it names
// only these. It returns ErrLocked if the database is open.
func Diagnose(ctx context.Context, path string, o *Options) error {
	g, err := Open(path, o)
	if err == nil {
		return errors.Join(g.Check(ctx), g.Close())
	}
	if !errors.Is(err, ErrCorrupt) {
		return err
	}
	opts, failed := o.resolve(path)
	if failed != nil {
		return failed
	}
	found, failed := repair.Examine(path, opts.forStore(nil))
	switch {
	case failed != nil:
		return failed
	case len(found) == 0:
		return err
	}
	return errors.Join(found...)
}

// RepairOptions are options of Repair.
type RepairOptions struct {
	Force bool // make an empty database if nothing of the graph can be read
}

// Repair turns a damaged database into one that can be opened, with everything that can be read of
// it. Of damaged files of the store it keeps the blocks and records with correct checksums. It
// writes the graph from scratch, without the damaged records but with what the log of changes holds
// of them, and recomputes the counters. It deletes all cached states, which are computed again on
// demand, models with unreadable documents, and damaged observations and decisions. A node whose
// key is lost is dropped with its edges, so no edge joins nodes that it did not join before. A
// database without a breach is not changed.
//
// Repair works in a directory inside the database, which takes as much space again, and replaces
// the files at the end. If it fails or is interrupted before, all files are as they were. It fails
// if nothing of the graph can be read, unless Force is set: then everything is lost, and an empty
// database takes its place.
//
// Unlike all other work, Repair of a damaged database holds the whole graph in memory, whatever
// Options.Memory: about 130 bytes an edge.
func Repair(ctx context.Context, path string, o *Options, how RepairOptions) (r *Repairs, err error) {
	if o != nil && o.ReadOnly {
		return nil, errReadOnly
	}
	cause := Diagnose(ctx, path, o)
	if !errors.Is(cause, ErrCorrupt) {
		return &Repairs{}, cause
	}
	opts, err := o.resolve(path)
	if err != nil {
		return nil, err
	}
	repaired, err := repair.Begin(path, opts.forStore(nil), how.Force)
	if repaired == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repaired.Close()) }()
	r = &Repairs{repaired.Found, repaired.Done}
	if len(r.Found) == 0 {
		r.Found = []error{cause} // a breach that only an open database reveals
	}
	if err != nil {
		return r, err
	}
	g, err := Open(repaired.Dir(), o)
	if err != nil {
		return r, err
	}
	if err := errors.Join(g.Check(ctx), g.Close()); err != nil {
		return r, err
	}
	return r, repaired.Install()
}

// Check verifies every invariant of the stored database and of the state in memory. The records are
// read again and must match the graph that is served. Adjacency, degrees, dictionary and counters
// must agree with each other. Every stored PageRank state must belong to the graph. Every document
// of a version of a model must be readable. The document of the deployed version, with the
// observations since, must give the model that is served, and no such observation may be
// forgotten. Check returns nil, or all breaches, each an ErrCorrupt, joined, or the error of ctx.
func (db *DB) Check(ctx context.Context) error {
	return db.View(ctx, func(tx *Tx) error {
		found, err := tx.snap.Check(ctx)
		if err != nil {
			return err
		}
		checks := []func(context.Context) error{
			func(context.Context) error { return db.store.Verify() },
			func(ctx context.Context) error { return tx.snap.Verify(ctx, tx.reader) },
			func(ctx context.Context) error { return db.states.CheckStates(ctx, tx.snap.Snapshot, tx.reader) },
			tx.checkModels, tx.checkObservations, tx.checkDecisions, tx.checkChanges, tx.checkErased,
		}
		for _, check := range checks {
			if err := check(ctx); err != nil {
				if ctx.Err() != nil {
					return err
				}
				found = append(found, err)
			}
		}
		return errors.Join(found...)
	})
}

// checkErased verifies that no record names an erased node, unless that is still to be removed.
func (tx *Tx) checkErased(ctx context.Context) error {
	if tx.snap.Meta.Erased > 0 {
		return nil
	}
	versions, err := tx.snap.Naming(ctx, tx.reader, record.StripOutcome)
	if err == nil && len(versions) > 0 {
		err = fmt.Errorf("%w: a record of version %d names an erased node", ErrCorrupt, versions[0])
	}
	return err
}

// checkModels opens every document, replays the observations since, and compares the result with
// the served models.
func (tx *Tx) checkModels(ctx context.Context) error {
	learners, err := record.Load(ctx, tx.reader, nil, tx.snap.Snapshot, "")
	if err != nil {
		return err
	}
	if len(learners) != len(tx.snap.models) {
		return fmt.Errorf("%w: %d models are stored, %d served", ErrCorrupt, len(learners), len(tx.snap.models))
	}
	for name, l := range learners {
		now := tx.snap.models[name]
		if now == nil || !reflect.DeepEqual(now.Registry, l.Registry) || now.info.Rounds != l.Model.Rounds() ||
			!model.Same(now.scorer, l.Model.Scorer()) {
			return fmt.Errorf("%w: model %q as stored is not the one that is served", ErrCorrupt, name)
		}
		if err := tx.checkVersions(ctx, name, &l.Registry); err != nil {
			return err
		}
	}
	return nil
}
