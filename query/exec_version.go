package query

import (
	"time"

	"kith/db"
	"kith/query/parse"
)

func (r *run) showVersions(s *parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.view(func(tx *db.Tx) error {
		all, err := tx.Versions(r.model(s.Model()))
		for _, v := range all {
			var parent any
			if v.Parent > 0 {
				parent = int64(v.Parent)
			}
			rows.add(s.Model().Value, int64(v.Number), v.Deployed, name(string(v.From)), parent, momentOrNil(v.Made), v.Trained, int64(v.Rounds), int64(v.Bytes))
		}
		return err
	})
	return rows, err
}

// momentOrNil formats a time, or returns nil for the zero time.
func momentOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return moment(t)
}

func (r *run) deployModel(s *parse.DeployModel) (*Rows, error) {
	return r.changeModel(s.Name, true, func() error {
		n, err := r.version(s.Version)
		if err != nil {
			return err
		}
		return r.session.DB.Deploy(r.ctx, s.Name.Value, n)
	})
}

func (r *run) rollbackModel(s *parse.Simple) (*Rows, error) {
	return r.changeModel(s.Model(), false, func() error {
		_, err := r.session.DB.Rollback(r.ctx, s.Model().Value)
		return err
	})
}

func (r *run) freezeModel(s *parse.Simple) (*Rows, error) {
	return r.changeModel(s.Model(), false, func() error { return r.session.DB.Freeze(r.ctx, s.Model().Value, s.Name == "FREEZE MODEL") })
}

// changeModel runs a change of an existing model, and answers with its new state. deployed means that the change makes
// it the answering model; a model that was so before is treated alike.
func (r *run) changeModel(model parse.Name, deployed bool, change func() error) (*Rows, error) {
	err := r.view(func(tx *db.Tx) error {
		m, err := tx.Model(r.model(model))
		deployed = deployed || m.Answers
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := change(); err != nil {
		return nil, r.positioned(model.Pos, err)
	}
	return r.describe(model.Value, func(rows *Rows, m db.ModelInfo) {
		rows.add(m.Name, int64(m.Version), versionOrNil(m.Before), m.Frozen, m.Answers, m.Trained, int64(m.Rounds))
		if deployed && !m.Answers {
			rows.note("version %d is untrained: until it is trained, the learned start answers where no model is named", m.Version)
		}
	})
}

// versionOrNil returns the number of a version, or nil for 0.
func versionOrNil(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}
