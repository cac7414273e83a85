package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kith/db/store"
	"kith/index"
)

// Repairs describes what Repair found and did.
type Repairs struct {
	Found []error  `json:"found"` // every breach, with its place and the data lost with it
	Done  []string `json:"done"`  // empty if Found is empty
}

// Diagnose says what is wrong with a database, even with one that cannot be opened. It returns nil, or every breach
// found, each an ErrCorrupt, joined. If files of the store are damaged, it names only these. It returns ErrLocked if
// the database is open.
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

// Repair turns a damaged database into one that can be opened, with everything that can be read of it. Of damaged files
// of the store it keeps the blocks and records with correct checksums. It writes the graph from scratch, without the
// damaged records but with what the log of changes holds of them, and recomputes the counters. It deletes all cached
// states, which are computed again on demand, models with unreadable documents, and damaged observations and decisions.
// A node whose key is lost is dropped with its edges, so no edge joins nodes that it did not join before. A database
// without a breach is not changed. Repair returns an error if too little can be read to continue; what can be read is
// then still there.
//
// Unlike all other work, Repair of a damaged database holds the whole graph in memory, whatever Options.Memory: about 130
// bytes an edge.
func Repair(ctx context.Context, path string, o *Options) (*Repairs, error) {
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
	if err := p.openRebuilt(); err != nil {
		return &p.Repairs, err
	}
	failed := errors.Join(p.repair(), p.store.Close())
	if len(p.Found) == 0 {
		p.Found = []error{cause} // a breach that only an open database reveals
	}
	if failed != nil {
		return &p.Repairs, failed
	}
	g, err := Open(path, o)
	if err != nil {
		return &p.Repairs, err
	}
	return &p.Repairs, errors.Join(g.Check(ctx), g.Close())
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

// openRebuilt opens the store, after rebuilding its files if necessary.
func (p *repairer) openRebuilt() error {
	rebuilt, err := p.rebuildFiles(false)
	if err != nil {
		return err
	}
	if err := p.open(); rebuilt || !errors.Is(err, ErrCorrupt) {
		return err
	}
	if _, err := p.rebuildFiles(true); err != nil { // Badger found damage that the examination does not detect
		return err
	}
	return p.open()
}

// rebuildFiles rebuilds the files of the store and reports whether it was necessary.
func (p *repairer) rebuildFiles(always bool) (bool, error) {
	faults, done, err := store.Rebuild(p.path, p.options, always)
	p.Found, p.Done = append(p.Found, faults...), append(p.Done, done...)
	return len(done) > 0, err
}

// examine reads everything and collects what is wrong. It writes the deletions of unreadable models, observations and
// decisions to w.
func (p *repairer) examine(w index.Writer) (*index.Snapshot, error) {
	s, found := index.Salvage(p.reader)
	p.Found = append(p.Found, found...)
	if s == nil {
		return nil, fmt.Errorf("%w: too little of the graph can be read to repair it", ErrCorrupt)
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
		if _, bad := decoded[observationRecord](doc); bad != nil {
			p.found(fmt.Errorf("observation of version %d: %w", doc.At, bad), "a damaged observation of version %d was deleted", doc.At)
		}
	}
	return s, errors.Join(err, p.decisions(w, s.Meta.Nodes))
}

// decisions checks every decision.
func (p *repairer) decisions(w index.Writer, nodes int64) error {
	return index.SalvageDecisions(p.reader, w, func(doc index.Document) (int64, error) {
		d, err := openDecision(doc, nodes)
		if err != nil {
			p.found(err, "decision %d was deleted: it cannot be read", doc.At)
			return 0, err
		}
		return d.End, nil
	})
}

// models checks every model, and returns the names of those that are kept.
func (p *repairer) models(w index.Writer) (map[string]bool, error) {
	kept := map[string]bool{}
	for name, doc := range index.Models(p.reader) {
		l, bad := openModel(p.reader, name, doc)
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

// versions checks the versions of a model that are not deployed, and drops those that cannot be read.
func (p *repairer) versions(w index.Writer, l *learner) error {
	n := len(l.Versions)
	l.Versions = slices.DeleteFunc(l.Versions, func(v version) bool {
		if v.Number == l.Version {
			return false
		}
		_, bad := openVersion(p.reader, l.name, v)
		if bad != nil {
			p.found(bad, "version %d of model %q was dropped: its document cannot be read", v.Number, l.name)
		}
		return bad != nil
	})
	if len(l.Versions) == n {
		return nil
	}
	l.registry = l.trimmed()
	entry, err := l.entry()
	if err != nil {
		return err
	}
	return index.PutModel(w, l.name, entry)
}

// found records a breach, and what was done about it.
func (p *repairer) found(breach error, format string, args ...any) {
	p.Found = append(p.Found, breach)
	p.did(format, args...)
}

func (p *repairer) did(format string, args ...any) {
	p.Done = append(p.Done, fmt.Sprintf(format, args...))
}

// repair writes what can be read from scratch, and makes it the present version.
func (p *repairer) repair() error {
	defer p.reader.Close()
	deletions := p.store.NewRecords()
	s, err := p.examine(deletions)
	if err != nil {
		return err
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
