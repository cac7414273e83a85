package repair

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"

	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/db/words"
	"kith/index"
)

// Report is what is wrong with a database, and what a repair did.
type Report struct {
	Found []error  // every breach, with its place and the data lost with it
	Done  []string // what the repair did
}

// Examine returns every breach of the database at path, each an index.ErrCorrupt. If files of the
// store are damaged, it returns only these. It returns none if the store cannot be opened.
func Examine(path string, o store.Options) (found []error, err error) {
	if found, err = store.Examine(path, o); err != nil || len(found) > 0 {
		return found, err
	}
	p := repairer{path: path, options: o}
	if p.open() != nil {
		return nil, nil
	}
	defer func() {
		p.reader.Close()
		p.store.Close()
	}()
	_, _ = p.examine(p.store.NewRecords()) // its error is among the breaches
	return p.Found, nil
}

// Repaired is a repaired database in a directory of its own, inside the damaged one.
type Repaired struct {
	Report
	rebuilt *store.Rebuilt
}

// Begin rebuilds the files of the database at path, and writes what can be read from scratch. It
// fails if that is nothing, unless force is set: then it makes an empty database. The caller must
// close the result, which is not nil if the files could be rebuilt.
func Begin(path string, o store.Options, force bool) (*Repaired, error) {
	rebuilt, err := store.Rebuild(path, o)
	if err != nil {
		return nil, err
	}
	p := repairer{path: rebuilt.Dir(), options: o, Report: Report{rebuilt.Faults, rebuilt.Done}}
	err = p.repairFiles(rebuilt.Commit)
	if errors.Is(err, errNothingLeft) && force {
		err = p.startOver()
	}
	return &Repaired{p.Report, rebuilt}, err
}

// Dir returns the directory of the repaired database, until Install.
func (r *Repaired) Dir() string { return r.rebuilt.Dir() }

// Install replaces the damaged files. The repaired database must be closed.
func (r *Repaired) Install() error { return r.rebuilt.Install() }

// Close deletes what a repair that was not installed made.
func (r *Repaired) Close() error { return r.rebuilt.Close() }

// errNothingLeft is returned by a repair that would lose the whole graph.
var errNothingLeft = fmt.Errorf("%w: nothing of the graph can be read", index.ErrCorrupt)

// nothingLeft returns errNothingLeft with what would be lost. commit is the newest durable commit,
// or 0 if that is unknown.
func nothingLeft(commit uint64) error {
	what := "all nodes, edges and models"
	if commit > 0 {
		what += " of " + words.Count(int64(commit), "commit")
	}
	return fmt.Errorf("%w: a repair would lose %s; nothing was changed, and only a forced repair makes an empty database", errNothingLeft, what)
}

// repairer repairs the records of one database.
type repairer struct {
	Report
	path    string
	options store.Options
	store   *store.Store
	ts      uint64
	reader  *store.Reader
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
		p.found(fmt.Errorf("%w: model %q, which answers where none is named, is missing", index.ErrCorrupt, name),
			"where no model is named, the built-in model answers")
		s.Meta.Model = ""
	}
	return s, errors.Join(p.observations(s, w), p.decisions(w, s.Meta.Nodes))
}

// observations checks every observation, and records the ids of those that are kept from scratch.
func (p *repairer) observations(s *index.Snapshot, w index.Writer) error {
	all, err := s.SalvageObservations(p.reader, w)
	err = errors.Join(err, index.DeleteObservationIDs(p.reader, w))
	for _, doc := range all {
		o, bad := record.Decode[record.Observation](doc)
		switch {
		case bad != nil:
			p.found(fmt.Errorf("observation of version %d: %w", doc.At, bad), "a damaged observation of version %d was deleted", doc.At)
		case o.ID != "":
			err = errors.Join(err, index.PutObservationID(w, o.ID, doc.At))
		}
	}
	return err
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
		l, bad := record.OpenModel(p.reader, nil, name, doc)
		if bad != nil {
			p.Found = append(p.Found, fmt.Errorf("%w: model %q: %w", index.ErrCorrupt, name, bad))
			if name == "" {
				return nil, fmt.Errorf("%w: the list of models cannot be read", index.ErrCorrupt)
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
	next.Meta.ID = rand.Text() // what followed the damaged database cannot follow this one
	err = p.store.Commit(p.ts+2, func(w index.Writer) error { return errors.Join(deletions.CopyTo(w), next.WriteBase(w)) })
	if err != nil {
		return err
	}
	p.did("the graph was written from scratch: %d nodes, %d edges", next.Meta.Live, next.Meta.Edges)
	p.did("cached states were deleted: they are computed again when they are asked for")
	return nil
}
