package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kith/db"
	"kith/query/parse"
)

func (r *run) createModel(s *parse.CreateModel) (*Rows, error) {
	spec := db.ModelSpec{Policy: cmp.Or(s.Policy.Value, "default")}
	if err := db.CheckPolicy(spec.Policy); err != nil {
		return nil, r.refused(s.Policy.Pos, spec.Policy, err, db.Policies())
	}
	for _, o := range s.With {
		v, err := r.value(o.Value)
		if err != nil {
			return nil, err
		}
		if err := db.SetModelOption(&spec, o.Name, v); err != nil {
			return nil, r.refused(o.Pos, o.Name, err, db.ModelOptions())
		}
		if o.Name == "classes" {
			label := parse.Name{Pos: o.Value.Position(), Value: spec.ClassLabel}
			if err := r.view(func(tx *db.Tx) error { return r.label(tx, label) }); err != nil {
				return nil, err
			}
		}
	}
	if err := r.session.DB.CreateModel(r.ctx, s.Name.Value, spec); err != nil {
		return nil, r.positioned(s.Name.Pos, err)
	}
	return r.describe(s.Name.Value, modelColumns(), modelRow)
}

func (r *run) trainModel(s *parse.TrainModel) (*Rows, error) {
	t := db.Training{Model: s.Name.Value, Log: s.From == parse.FromLog}
	for _, o := range s.With {
		if err := r.trainOption(&t, o); err != nil {
			return nil, err
		}
	}
	if err := r.view(func(tx *db.Tx) error { return r.model(tx, s.Name) }); err != nil {
		return nil, err
	}
	if tell := r.session.Progress; tell != nil {
		t.Plan.Progress = func(done, total int) { tell(Progress{"training steps", int64(done), int64(total)}) }
	}
	m, err := r.session.DB.Train(r.ctx, t)
	if err != nil {
		return nil, r.positioned(s.Name.Pos, err)
	}
	rows := trainedRow(&m)
	if m.Comparison.Links > 0 {
		rows.note("%s", m.Comparison.String())
	}
	if m.Held {
		rows.remarkWorse(&m, t.Deploy)
		rows.remarkHeld(m.Name, m.Version)
		return rows, nil
	}
	return rows, r.view(func(tx *db.Tx) error {
		rows.remarkAnswering(tx, m.ModelInfo)
		return nil
	})
}

// trainedRow returns the answer of TRAIN: the model, whether it is deployed, and how it compares with the others.
func trainedRow(m *db.Trained) *Rows {
	rows := &Rows{Columns: modelColumns()}
	modelRow(rows, m.ModelInfo)
	rows.Columns = append(rows.Columns, "deployed", "mrr", "mrr_before", "mrr_prior", "mrr_heuristic", "heuristic")
	row := append(rows.Rows[0], !m.Held)
	for _, role := range []db.Role{db.RoleNew, db.RoleBefore, db.RolePrior, db.RoleHeuristic} {
		var mrr any
		if s, ok := m.Comparison.Standing(role); ok {
			mrr = s.MRR
		}
		row = append(row, mrr)
	}
	best, _ := m.Comparison.Standing(db.RoleHeuristic)
	rows.Rows[0] = append(row, name(best.Name))
	return rows
}

// remarkWorse notes why a version is not deployed.
func (rows *Rows) remarkWorse(m *db.Trained, rule db.DeployRule) {
	var names []string
	for _, s := range m.Comparison.Held() {
		names = append(names, s.Name)
	}
	if names != nil && rule == db.DeployBetter {
		rows.note("version %d is not deployed: it ranks below %s by more than chance explains; deploy = on would deploy it all the same",
			m.Version, strings.Join(names, " and "))
	}
}

// deployRule returns the rule for deploying the new version.
func (r *run) deployRule(o parse.Option) (db.DeployRule, error) {
	v, err := r.value(o.Value)
	if err != nil {
		return "", err
	}
	switch v {
	case "better":
		return db.DeployBetter, nil
	case "on":
		return db.DeployAlways, nil
	case "off":
		return db.DeployNever, nil
	}
	return "", &Error{Pos: o.Pos, Msg: fmt.Sprintf("deploy = %v (accepted: better, on or off)", v), Err: db.ErrInput}
}

// onOff returns whether an option is on.
func (r *run) onOff(o parse.Option) (bool, error) {
	v, err := r.value(o.Value)
	if err == nil && v != "on" && v != "off" {
		err = &Error{Pos: o.Pos, Msg: fmt.Sprintf("%s = %v (accepted: on or off)", o.Name, v), Err: db.ErrInput}
	}
	return v == "on", err
}

// trainOption sets the option samples, negatives, folds, epochs or deploy.
func (r *run) trainOption(t *db.Training, o parse.Option) error {
	fields := map[string]*int{
		"samples": &t.Plan.Samples, "negatives": &t.Plan.Negatives, "folds": &t.Plan.Folds, "epochs": &t.Plan.Epochs,
	}
	names := []string{"samples", "negatives", "folds", "epochs"}
	if t.Log {
		names = []string{"epochs"}
		fields = map[string]*int{"epochs": &t.Plan.Epochs}
	}
	f := fields[o.Name]
	if o.Name == "deploy" {
		var err error
		t.Deploy, err = r.deployRule(o)
		return err
	}
	if f == nil {
		return unknownOption(o, append(names, "deploy"))
	}
	n, err := r.integer(o.Value, 1, 0)
	*f = int(n)
	return err
}

func (r *run) dropModel(s *parse.DropModel) (*Rows, error) {
	answered := false
	err := r.view(func(tx *db.Tx) error {
		if err := r.model(tx, s.Name); err != nil {
			return err
		}
		m, err := tx.Model(s.Name.Value)
		answered = m.Answers
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.session.DB.DropModel(r.ctx, s.Name.Value); err != nil {
		return nil, r.positioned(s.Name.Pos, err)
	}
	rows := &Rows{Columns: []string{"dropped"}}
	rows.add(s.Name.Value)
	if answered {
		rows.note("where no model is named, the learned start answers now; DEPLOY MODEL has another model answer")
	}
	return rows, nil
}

func (r *run) observe(s *parse.Observe) (*Rows, error) {
	reward, err := r.rewarded(s.Reward)
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"source", "target", "reward", "model", "edge_added"}}
	err = r.update(func(tx *db.Tx) error {
		using := r.using(s, s.Using)
		if err := r.model(tx, using); err != nil {
			return err
		}
		o := db.Observation{Reward: reward, Model: using.Value, Insert: s.Insert}
		src, err := r.node(tx, s.Source)
		if err != nil {
			return err
		}
		dst, err := r.node(tx, s.Target)
		if err != nil {
			return err
		}
		if o.Among, err = r.candidates(tx, s.Among); err != nil {
			return err
		}
		o.Source, o.Target = src, dst
		m, err := tx.Model(using.Value)
		if err != nil {
			return err
		}
		_, edges := tx.Counts()
		err = tx.Observe(r.ctx, o)
		_, now := tx.Counts()
		rows.add(src, dst, reward, m.Name, now > edges)
		rows.remarkFrozen(m)
		return err
	})
	return rows, err
}

// remarkFrozen notes that a frozen model does not learn the observation.
func (rows *Rows) remarkFrozen(m db.ModelInfo) {
	if m.Frozen {
		rows.note("model %s is frozen: this is in the log, and is not learned", parse.Name{Value: m.Name})
	}
}

// remarkOutdated notes that a model must be trained again.
func (rows *Rows) remarkOutdated(m db.ModelInfo) {
	if m.Outdated {
		rows.note("model %s was stored by another version of kith, and what it had learned cannot be read: TRAIN MODEL %[1]s trains it again",
			parse.Name{Value: m.Name})
	}
}

// remarkHeld notes that a new version is not deployed.
func (rows *Rows) remarkHeld(model string, version int) {
	rows.note("version %d stands beside the one that is deployed: DEPLOY MODEL %v VERSION %d", version, parse.Name{Value: model}, version)
}

// remarkAnswering notes which model answers where no model is named, if it is not m.
func (rows *Rows) remarkAnswering(tx *db.Tx, m db.ModelInfo) {
	if m.Answers {
		return
	}
	by := "the learned start"
	if other, err := tx.Model(""); err == nil {
		by = "model " + parse.Name{Value: other.Name}.String()
	}
	rows.note("where no model is named, %s answers; DEPLOY MODEL %v changes that", by, parse.Name{Value: m.Name})
}

func (r *run) showModels() (*Rows, error) {
	rows := &Rows{Columns: modelColumns()}
	err := r.view(func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			modelRow(rows, m)
			rows.remarkOutdated(m)
		}
		return nil
	})
	return rows, err
}

func modelColumns() []string {
	return []string{"model", "version", "policy", "answers", "trained", "rounds", "bytes"}
}

func modelRow(rows *Rows, m db.ModelInfo) {
	rows.add(m.Name, int64(m.Version), m.Policy, m.Answers, m.Trained, int64(m.Rounds), int64(m.Bytes))
}

func (r *run) describeModel(s *parse.DescribeModel) (*Rows, error) {
	err := r.view(func(tx *db.Tx) error { return r.model(tx, s.Name) })
	if err != nil {
		return nil, err
	}
	return r.describe(s.Name.Value, []string{"name", "value"}, func(rows *Rows, m db.ModelInfo) {
		rows.remarkOutdated(m)
		rows.add("model", m.Name)
		rows.add("version", int64(m.Version))
		rows.add("deployed", momentOrNil(m.Deployed))
		rows.add("deployed before", versionOrNil(m.Before))
		rows.add("frozen", m.Frozen)
		rows.add("answers", m.Answers)
		rows.add("policy", m.Policy)
		rows.add("trained", m.Trained)
		rows.add("rounds", int64(m.Rounds))
		rows.add("bytes", int64(m.Bytes))
		for _, o := range m.Options {
			rows.add(o.Name, plain(o.Value))
		}
	})
}

// describe returns the rows that row adds for a model.
func (r *run) describe(name string, columns []string, row func(*Rows, db.ModelInfo)) (*Rows, error) {
	rows := &Rows{Columns: columns}
	err := r.view(func(tx *db.Tx) error {
		m, err := tx.Model(name)
		if err == nil {
			row(rows, m)
		}
		return err
	})
	return rows, err
}

// plain converts an option's value to a type that Rows holds.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		return int64(v)
	}
	return v
}

// refused positions a database error about a name or its value. If the name is not in names, the error suggests the
// closest one.
func (r *run) refused(at parse.Pos, name string, err error, names []string) error {
	err = r.positioned(at, err)
	var e *Error
	if errors.As(err, &e) && !slices.Contains(names, name) {
		e.DidYouMean = parse.Similar(name, names)
	}
	return err
}

func unknownOption(o parse.Option, names []string) error {
	return &Error{
		Pos: o.Pos, Msg: "unknown option " + o.Name + " (accepted: " + strings.Join(names, ", ") + ")",
		DidYouMean: parse.Similar(o.Name, names), Err: db.ErrInput,
	}
}
