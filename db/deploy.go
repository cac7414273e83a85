package db

import (
	"context"
	"fmt"
	"maps"
)

// Deploy makes a model the one that answers where a request names none, and a version of it the one that
// answers for the model, and that learns; 0 is the version that is deployed already. The version that was
// deployed stands still from now on, at what it knows; the other one goes on from where it stood: what was
// observed in between it does not learn. To deploy what is deployed changes nothing. While the version is
// untrained, the learned start answers where none is named. It returns ErrNoModel for a model or a
// version that does not exist, and ErrInput for a model whose policy does not learn: it answers who names it.
func (db *DB) Deploy(ctx context.Context, name string, version int) error {
	return db.changeModel(ctx, name, func(l *learner) error {
		switch {
		case !l.model.Learns() && !l.model.Fitted():
			return fmt.Errorf("%w: model %q follows policy %s, which learns nothing: it answers where it is named", ErrInput, name, l.model.Policy())
		case version != 0 && version != l.Version:
			return db.switchTo(l, version, name, nil)
		case db.answering() != name:
			return db.replace(l, name)
		}
		return nil
	})
}

// answering is the name of the model that answers where a request names none. The writer calls it.
func (db *DB) answering() string { return db.now.Load().Meta.Model }

// Rollback deploys the version of a model that was deployed before the present one, and returns its number.
// Called again it goes back further. Which model answers where none is named stays as it is. It returns ErrNoModel, and ErrInput where no
// other version was deployed before.
func (db *DB) Rollback(ctx context.Context, name string) (version int, err error) {
	err = db.changeModel(ctx, name, func(l *learner) error {
		n, earlier := l.before()
		if n == 0 {
			return fmt.Errorf("%w: no version of model %q was deployed before version %d", ErrInput, name, l.Version)
		}
		version = n
		return db.switchTo(l, n, db.answering(), func(r *registry) { r.Before = earlier })
	})
	return version, err
}

// Freeze keeps a model as it is, or (on = false) lets it go on. What is observed while it is frozen, also
// as the reward of a decision, goes to the log and is not learned, then or later. Whichever version is
// deployed, the model stays frozen; Train makes new versions of it all the same. It returns ErrNoModel.
func (db *DB) Freeze(ctx context.Context, name string, on bool) error {
	return db.changeModel(ctx, name, func(l *learner) error {
		if l.Frozen == on {
			return nil
		}
		frozen := *l
		frozen.Frozen = on
		return db.replace(&frozen, db.answering())
	})
}

// changeModel calls f, in the writer's turn, with a model.
func (db *DB) changeModel(ctx context.Context, name string, f func(*learner) error) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	l := db.learners[name]
	if l == nil {
		return noModel(name)
	}
	return f(l)
}

// switchTo deploys a version that is kept, and says which model answers; edit, if there is one, changes what
// is stored of the version. The writer calls it.
func (db *DB) switchTo(l *learner, number int, answering string, edit func(*registry)) error {
	v, ok := l.find(number)
	if !ok {
		return fmt.Errorf("%w: %q has versions %v, not %d", ErrNoModel, l.name, l.numbers(), number)
	}
	r := db.store.read(db.now.Load().ts)
	defer r.close()
	next, err := openVersion(r, l.name, v)
	if err != nil {
		return fmt.Errorf("%w: model %q, version %d: %w", ErrCorrupt, l.name, number, err)
	}
	past, err := db.retire(l)
	if err != nil {
		return err
	}
	next.registry = past.deploying(number, db.now.Load().ts+1, db.opts.Now())
	next.stored = checkpoint{serial: v.Serial, rounds: next.model.Rounds()}
	if edit != nil {
		edit(&next.registry)
	}
	return db.replace(next, answering)
}

// retire stores a learner as it stands, and returns its registry with where that is. The writer calls
// it, before another version is deployed.
func (db *DB) retire(l *learner) (registry, error) {
	if err := db.checkpoint(l, db.now.Load().models); err != nil {
		return registry{}, err
	}
	v, _ := l.find(l.Version)
	v.Serial, v.Trained, v.Rounds, v.Bytes = l.stored.serial, l.model.Trained(), l.model.Rounds(), l.model.Bytes()
	return l.with(v), nil
}

// replace stores a learner, a new one or with another registry, and the name of the model that answers where
// none is named, and lets readers see both. The writer calls it.
func (db *DB) replace(l *learner, answering string) error {
	l.registry = l.trimmed()
	models := maps.Clone(db.now.Load().models)
	models[l.name] = l.serve()
	if err := db.put(l, models, answering); err != nil {
		return err
	}
	db.learners[l.name] = l
	return nil
}
