package db

import (
	"context"
	"fmt"
	"maps"
)

// Deploy makes a model the one that answers requests without a name, and a version of it the one that answers for the
// model and learns. Version 0 means the version that is deployed already. The version that was deployed stops learning.
// The new one continues from its own state: it does not learn what was observed while it was not deployed. Deploying
// what is deployed changes nothing. While the version is untrained, the learned start answers requests without a name.
// Deploy returns ErrNoModel for a model or a version that does not exist, and ErrInput for a model whose policy does
// not learn: such a model answers only requests that name it.
func (db *DB) Deploy(ctx context.Context, name string, version int) error {
	return db.changeModel(ctx, name, func(l *learner) error {
		switch {
		case !l.model.Learns() && !l.model.Fitted():
			return inputf("model %q follows policy %s, which learns nothing: it answers where it is named", name, l.model.Policy())
		case version != 0 && version != l.Version:
			return db.switchTo(l, version, name, nil)
		case db.answering() != name:
			return db.replace(l, name)
		}
		return nil
	})
}

// answering returns the name of the model that answers requests without a name. The writer calls it.
func (db *DB) answering() string { return db.now.Load().Meta.Model }

// Rollback deploys the version of a model that was deployed before the present one, and returns its number. Further
// calls go back further. Rollback does not change which model answers requests without a name. It returns ErrNoModel
// for an unknown model, and ErrInput if no other version was deployed before.
func (db *DB) Rollback(ctx context.Context, name string) (version int, err error) {
	err = db.changeModel(ctx, name, func(l *learner) error {
		n, earlier := l.before()
		if n == 0 {
			return inputf("no version of model %q was deployed before version %d", name, l.Version)
		}
		version = n
		return db.switchTo(l, n, db.answering(), func(r *registry) { r.Before = earlier })
	})
	return version, err
}

// Freeze stops a model from learning or, with on = false, lets it learn again. Observations made while it is frozen,
// including the rewards of decisions, go to the log and are never learned. The model stays frozen whichever version is
// deployed. Train still makes new versions of it. Freeze returns ErrNoModel if there is no such model.
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

// changeModel calls f with a model while it holds the writer lock.
func (db *DB) changeModel(ctx context.Context, name string, f func(*learner) error) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	l := db.learners[name]
	if l == nil {
		return noModel(name, db.now.Load())
	}
	return f(l)
}

// switchTo deploys a stored version and makes answering the model for requests without a name. If edit is not nil, it
// changes the registry before it is stored. The writer calls it.
func (db *DB) switchTo(l *learner, number int, answering string, edit func(*registry)) error {
	v, ok := l.find(number)
	if !ok {
		return noVersion(l.name, &l.registry, number)
	}
	r := db.store.Read(db.now.Load().ts)
	defer r.Close()
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

// retire stores the state of a learner, and returns its registry updated with that state. The writer calls it before
// another version is deployed.
func (db *DB) retire(l *learner) (registry, error) {
	if err := db.checkpoint(l, db.now.Load().models); err != nil {
		return registry{}, err
	}
	v, _ := l.find(l.Version)
	v.Serial, v.Trained, v.Rounds, v.Bytes = l.stored.serial, l.model.Trained(), l.model.Rounds(), l.model.Bytes()
	return l.with(v), nil
}

// replace stores a learner, which is new or has a new registry, and the name of the model that answers requests without
// a name, and publishes both. The writer calls it.
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
