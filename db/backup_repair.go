package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/db/words"
	"kith/index"
)

// Damage, and its repair.
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
// much, or at [DB.Preload]. A damaged block of them is therefore found later: from then on every
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
// the process with SIGBUS. So writes, and [DB.Compact], check beforehand that the space they may
// need is free. If other processes fill the disk in that moment, SIGBUS can still happen, but
// nothing acknowledged is lost. [CompactDir] writes its tables itself and returns an error if the
// disk is full.
//
// [Diagnose] says what is wrong with a database that cannot be opened, and [Repair] writes it from
// scratch with all records that can be read. It does so in a directory inside the database, so a
// repair that fails changes nothing, and a repair that is killed while it replaces the files is
// finished by the next Open. Unless it is forced, it fails instead of leaving an empty database.
// Foreign files are left out, and kept under another name. A damaged table costs the
// blocks with wrong checksums, a damaged manifest nothing. What only a damaged record held is lost
// and reported; the log of changes restores what it holds of a damaged block. No edge joins nodes
// that it did not join before. But if the record of a commit is lost, what that commit changed or
// deleted is back in its earlier state. If a table was lost, data that was deleted after the table
// was written, such as a model, may be back as well.

// Repairs describes what Repair found and did.
type Repairs struct {
	Found []error  `json:"found"` // every breach, with its place and the data lost with it
	Done  []string `json:"done"`  // empty if Found is empty
}

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
	p, failed := newRepairer(path, o)
	if failed != nil {
		return failed
	}
	faults, failed := store.Examine(path, p.options)
	if failed != nil {
		return failed
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if p.open() != nil {
		return err
	}
	defer func() {
		p.reader.Close()
		p.store.Close()
	}()
	if p.examine(p.store.NewRecords()); len(p.Found) == 0 {
		return err
	}
	return errors.Join(p.Found...)
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
	p, err := newRepairer(path, o)
	if err != nil {
		return nil, err
	}
	rebuilt, err := store.Rebuild(path, p.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rebuilt.Close()) }()
	p.path, p.Found, p.Done = rebuilt.Dir(), rebuilt.Faults, rebuilt.Done
	err = p.repairFiles(rebuilt.Commit)
	if errors.Is(err, errNothingLeft) && how.Force {
		err = p.startOver()
	}
	if len(p.Found) == 0 {
		p.Found = []error{cause} // a breach that only an open database reveals
	}
	if err != nil {
		return &p.Repairs, err
	}
	g, err := Open(p.path, o)
	if err != nil {
		return &p.Repairs, err
	}
	if err := errors.Join(g.Check(ctx), g.Close()); err != nil {
		return &p.Repairs, err
	}
	return &p.Repairs, rebuilt.Install()
}

// errNothingLeft is returned by a repair that would lose the whole graph.
var errNothingLeft = fmt.Errorf("%w: nothing of the graph can be read", ErrCorrupt)

// nothingLeft returns errNothingLeft with what would be lost. commit is the newest durable commit,
// or 0 if that is unknown.
func nothingLeft(commit uint64) error {
	what := "all nodes, edges and models"
	if commit > 0 {
		what += " of " + words.Count(int64(commit), "commit")
	}
	return fmt.Errorf("%w: a repair would lose %s; nothing was changed, and only a forced repair makes an empty database", errNothingLeft, what)
}

// repairer repairs one database.
type repairer struct {
	Repairs
	path    string
	options store.Options
	store   *store.Store
	ts      uint64
	reader  *store.Reader
}

func newRepairer(path string, o *Options) (*repairer, error) {
	opts, err := o.resolve(path)
	if err != nil {
		return nil, err
	}
	return &repairer{path: path, options: opts.forStore(nil)}, nil
}

// open opens the store. Its records may be damaged.
func (p *repairer) open() (err error) {
	if p.store, err = store.Open(p.path, p.options); err != nil {
		return err
	}
	p.ts = p.store.Newest()
	p.reader = p.store.Read(p.ts)
	return nil
}

// repairFiles repairs the database in the rebuilt files. commit is the newest durable commit, or 0
// if that is unknown.
func (p *repairer) repairFiles(commit uint64) error {
	if err := p.open(); err != nil {
		return err
	}
	last := p.store.LastCommit()
	err := errors.Join(p.repair(commit), p.store.Close())
	if err == nil && last > 0 && last < commit {
		p.did("%s lost: version %d was durable, and what could be read ends with version %d", words.Count(int64(commit-last), "commit"), commit, last)
	}
	return err
}

// wasEmpty reports whether the newest commit can be read and had no nodes.
func (p *repairer) wasEmpty(commit uint64) bool {
	m, err := index.ReadMeta(p.reader)
	return err == nil && m != nil && m.Live == 0 && p.store.LastCommit() >= commit
}

// startOver makes an empty database in the place of the rebuilt files.
func (p *repairer) startOver() error {
	if err := os.RemoveAll(p.path); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	p.did("nothing of the graph could be read: everything was deleted, and an empty database was made")
	return nil
}

// examine reads everything and collects what is wrong. It writes the deletions of unreadable
// models, observations and decisions to w.
func (p *repairer) examine(w index.Writer) (*index.Snapshot, error) {
	s, found := index.Salvage(p.reader)
	p.Found = append(p.Found, found...)
	if s == nil {
		return nil, errNothingLeft
	}
	kept, err := p.models(w)
	if err != nil {
		return nil, err
	}
	if name := s.Meta.Model; name != "" && !kept[name] {
		p.found(fmt.Errorf("%w: model %q, which answers where none is named, is missing", ErrCorrupt, name),
			"where no model is named, the built-in model answers")
		s.Meta.Model = ""
	}
	all, err := s.SalvageObservations(p.reader, w)
	for _, doc := range all {
		if _, bad := record.Decode[record.Observation](doc); bad != nil {
			p.found(fmt.Errorf("observation of version %d: %w", doc.At, bad), "a damaged observation of version %d was deleted", doc.At)
		}
	}
	return s, errors.Join(err, p.decisions(w, s.Meta.Nodes))
}

// decisions checks every decision.
func (p *repairer) decisions(w index.Writer, nodes int64) error {
	return index.SalvageDecisions(p.reader, w, func(doc index.Document) (int64, error) {
		d, err := record.OpenDecision(doc, nodes)
		if err != nil {
			p.found(err, "decision %d was deleted: it cannot be read", doc.At)
			return 0, err
		}
		return d.End, nil
	})
}

// models checks every model, and returns the names of the models that are kept.
func (p *repairer) models(w index.Writer) (map[string]bool, error) {
	kept := map[string]bool{}
	for name, doc := range index.Models(p.reader) {
		l, bad := record.OpenModel(p.reader, name, doc)
		if bad != nil {
			p.Found = append(p.Found, fmt.Errorf("%w: model %q: %w", ErrCorrupt, name, bad))
			if name == "" {
				return nil, fmt.Errorf("%w: the list of models cannot be read", ErrCorrupt)
			}
			if err := index.DeleteModel(p.reader, w, name); err != nil {
				return nil, err
			}
			p.did("model %q was dropped: its document cannot be read; create it again", name)
			continue
		}
		if err := p.versions(w, l); err != nil {
			return nil, err
		}
		kept[name] = true
	}
	return kept, nil
}

// versions checks the versions of a model that are not deployed, and drops the
// unreadable ones.
func (p *repairer) versions(w index.Writer, l *record.Learner) error {
	n := len(l.Versions)
	l.Versions = slices.DeleteFunc(l.Versions, func(v record.Version) bool {
		if v.Number == l.Version {
			return false
		}
		_, bad := record.OpenVersion(p.reader, l.Name, v)
		if bad != nil {
			p.found(bad, "version %d of model %q was dropped: its document cannot be read", v.Number, l.Name)
		}
		return bad != nil
	})
	if len(l.Versions) == n {
		return nil
	}
	l.Registry = l.Trimmed()
	entry, err := l.Entry()
	if err != nil {
		return err
	}
	return index.PutModel(w, l.Name, entry)
}

// found records a breach, and how it was handled.
func (p *repairer) found(breach error, format string, args ...any) {
	p.Found = append(p.Found, breach)
	p.did(format, args...)
}

func (p *repairer) did(format string, args ...any) {
	p.Done = append(p.Done, fmt.Sprintf(format, args...))
}

// repair writes what can be read from scratch, and makes it the present version. commit is the
// newest durable commit.
func (p *repairer) repair(commit uint64) error {
	defer p.reader.Close()
	deletions := p.store.NewRecords()
	s, err := p.examine(deletions)
	if errors.Is(err, errNothingLeft) {
		return nothingLeft(commit)
	}
	if err != nil {
		return err
	}
	if s.Meta.Live == 0 && !p.wasEmpty(commit) {
		return nothingLeft(commit)
	}
	last, err := index.LastGeneration(p.reader, s.Meta.Generation)
	if err != nil {
		return err
	}
	var next *index.Snapshot
	err = p.store.Batch(p.ts+1, func(w index.Writer) (err error) {
		next, err = s.Restart(p.reader, w, last+1)
		return err
	})
	if err != nil {
		return err
	}
	next.Meta.ID = newID() // what followed the damaged database cannot follow this one
	err = p.store.Commit(p.ts+2, func(w index.Writer) error { return errors.Join(deletions.CopyTo(w), next.WriteBase(w)) })
	if err != nil {
		return err
	}
	p.did("the graph was written from scratch: %d nodes, %d edges", next.Meta.Live, next.Meta.Edges)
	p.did("cached states were deleted: they are computed again when they are asked for")
	return nil
}
