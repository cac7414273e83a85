package query

import (
	"cmp"
	"math"
	"strings"
	"time"

	"kith/db"
	"kith/query/parse"
)

// modelColumns describes a model.
const modelColumns = "model, version (the deployed one), policy, answers (whether it answers where no model is named), trained, " +
	"rounds (number of rewards learned), bytes"

// changedColumns describes a model after a change of its deployment.
const changedColumns = "model, version (the deployed one), before (the version to roll back to), frozen, " +
	"answers (whether it answers where no model is named), trained, rounds (number of rewards learned)"

// modelKinds returns the statements about models and their versions.
func modelKinds() []kind {
	return []kind{
		{
			name: "CREATE MODEL", columns: modelColumns, run: does[*parse.CreateModel]((*run).createModel),
			options: func(parse.Statement, func(string) bool) []option { return modelOptions(&db.ModelSpec{}) },
		},
		{
			name: "TRAIN MODEL", run: does[*parse.TrainModel]((*run).trainModel),
			columns: modelColumns + ", deployed, mrr (of the new version, on links that were left out), mrr_before (of the deployed version), " +
				"mrr_prior (of the learned start), mrr_heuristic, heuristic (the best one)",
			options: func(s parse.Statement, _ func(string) bool) []option {
				return trainOptions(&db.Training{Log: s.(*parse.TrainModel).From == parse.FromLog})
			},
		},
		{name: "DEPLOY MODEL", columns: changedColumns, run: does[*parse.DeployModel]((*run).deployModel)},
		{name: "ROLLBACK MODEL", columns: changedColumns, run: does[*parse.Simple]((*run).rollbackModel)},
		{name: "FREEZE MODEL", columns: changedColumns, run: does[*parse.Simple]((*run).freezeModel)},
		{name: "THAW MODEL", columns: changedColumns, run: does[*parse.Simple]((*run).freezeModel)},
		{name: "DROP MODEL", columns: "dropped (the model's name)", run: does[*parse.Simple]((*run).dropModel)},
		{name: "SHOW MODELS", access: reads | joins, columns: modelColumns, run: does[*parse.Simple]((*run).showModels)},
		{
			name: "SHOW VERSIONS", access: reads | joins, run: does[*parse.Simple]((*run).showVersions),
			columns: "model, version, deployed, from (create, edges, log, import or refresh), parent, made, trained, rounds, bytes",
		},
		{name: "DESCRIBE MODEL", access: reads | joins, columns: "name, value", run: does[*parse.Simple]((*run).describeModel)},
	}
}

func (r *run) createModel(s *parse.CreateModel) (*Rows, error) {
	spec := db.ModelSpec{Policy: cmp.Or(s.Policy.Value, "default")}
	if err := db.CheckPolicy(spec.Policy); err != nil {
		return nil, r.positioned(s.Policy.Pos, err)
	}
	if err := r.setOptions(s.With, modelOptions(&spec)); err != nil {
		return nil, err
	}
	if err := r.session.DB.CreateModel(r.ctx, s.Name.Value, spec); err != nil {
		return nil, r.positioned(s.Name.Pos, err)
	}
	return r.describe(s.Name.Value, modelRow)
}

func (r *run) trainModel(s *parse.TrainModel) (*Rows, error) {
	t := db.Training{Model: s.Name.Value, Log: s.From == parse.FromLog}
	if err := r.setOptions(s.With, trainOptions(&t)); err != nil {
		return nil, err
	}
	if tell := r.session.Progress; tell != nil {
		t.Plan.Progress = func(done, total int) { tell(Progress{"training steps", int64(done), int64(total)}) }
	}
	m, err := r.session.DB.Train(r.ctx, t)
	if err != nil {
		return nil, r.positioned(s.Name.Pos, err)
	}
	rows := r.answer()
	trainedRow(rows, &m)
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

// trainedRow adds the row of TRAIN: the model, whether it is deployed, and how it compares with the others.
func trainedRow(rows *Rows, m *db.Trained) {
	modelRow(rows, m.ModelInfo)
	row := append(rows.Rows[0], !m.Held)
	for _, role := range []db.Role{db.RoleNew, db.RoleBefore, db.RolePrior, db.RoleHeuristic} {
		var mrr any
		if s, ok := m.Comparison.Standing(role); ok {
			mrr = s.MRR
		}
		row = append(row, mrr)
	}
	best, _ := m.Comparison.Standing(db.RoleHeuristic)
	rows.Rows[0] = append(row, orNil(best.Name))
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

// modelOptions returns the options of CREATE MODEL: those that the models know.
func modelOptions(spec *db.ModelSpec) (options []option) {
	meanings := map[string]string{
		"preset": "options for a purpose", "seed": "seed of the model's draws",
		"classes": "label of the nodes that are the classes of the model",
	}
	for _, name := range db.ModelOptions() {
		options = append(options, option{name, "", meanings[name], func(r *run, o parse.Option) error {
			v, err := r.value(o.Value)
			if err != nil {
				return err
			}
			if err := db.SetModelOption(spec, name, v); err != nil || name != "classes" {
				return err
			}
			label := parse.Name{Pos: o.Value.Position(), Value: spec.ClassLabel}
			return r.view(func(tx *db.Tx) error { return r.label(tx, label) })
		}})
	}
	return options
}

// trainOptions returns the options of TRAIN MODEL.
func trainOptions(t *db.Training) []option {
	options := planOptions(t)
	if t.Log {
		options = options[:1]
	}
	rules := map[string]db.DeployRule{"better": db.DeployBetter, "on": db.DeployAlways, "off": db.DeployNever}
	word := ""
	deploy := wordOption("deploy", "whether the new version replaces the deployed one: if it is not worse (better, the default), always or never",
		&word, "better", "on", "off")
	set := deploy.set
	deploy.set = func(r *run, o parse.Option) error {
		err := set(r, o)
		t.Deploy = rules[word]
		return err
	}
	return append(options, deploy)
}

// planOptions returns the options of a training; the first is epochs.
func planOptions(t *db.Training) []option {
	return []option{
		integerOption("epochs", "how often the training sees each sample", 1, math.MaxInt64, &t.Plan.Epochs),
		integerOption("samples", "number of links drawn to learn from", 1, math.MaxInt64, &t.Plan.Samples),
		integerOption("negatives", "number of pairs without a link for each of them", 1, math.MaxInt64, &t.Plan.Negatives),
		integerOption("folds", "number of parts that are predicted from the others", 1, math.MaxInt64, &t.Plan.Folds),
	}
}

func (r *run) dropModel(s *parse.Simple) (*Rows, error) {
	model := s.Model()
	answered := false
	err := r.view(func(tx *db.Tx) error {
		m, err := tx.Model(r.model(model))
		answered = m.Answers
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.session.DB.DropModel(r.ctx, model.Value); err != nil {
		return nil, r.positioned(model.Pos, err)
	}
	rows := r.answer()
	rows.add(model.Value)
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
	rows := r.answer()
	err = r.update(func(tx *db.Tx) error {
		m, err := tx.Model(r.model(r.using(s, s.Using)))
		if err != nil {
			return err
		}
		o := db.Observation{Reward: reward, Model: r.using(s, s.Using).Value, Insert: s.Insert}
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
	rows.note("version %d is stored and not deployed: DEPLOY MODEL %v VERSION %d deploys it", version, parse.Name{Value: model}, version)
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

func (r *run) showModels(*parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.view(func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			modelRow(rows, m)
			rows.remarkOutdated(m)
		}
		return nil
	})
	return rows, err
}

func modelRow(rows *Rows, m db.ModelInfo) {
	rows.add(m.Name, int64(m.Version), m.Policy, m.Answers, m.Trained, int64(m.Rounds), int64(m.Bytes))
}

func (r *run) describeModel(s *parse.Simple) (*Rows, error) {
	return r.describe(r.model(s.Model()), func(rows *Rows, m db.ModelInfo) {
		rows.remarkOutdated(m)
		rows.add("model", m.Name)
		rows.add("version", int64(m.Version))
		rows.add("deployed", momentOrNil(m.Deployed))
		rows.add("deployed before", orNil(int64(m.Before)))
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
func (r *run) describe(name string, row func(*Rows, db.ModelInfo)) (*Rows, error) {
	rows := r.answer()
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

func (r *run) showVersions(s *parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.view(func(tx *db.Tx) error {
		all, err := tx.Versions(r.model(s.Model()))
		for _, v := range all {
			rows.add(s.Model().Value, int64(v.Number), v.Deployed, orNil(string(v.From)), orNil(int64(v.Parent)), momentOrNil(v.Made), v.Trained, int64(v.Rounds), int64(v.Bytes))
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
		rows.add(m.Name, int64(m.Version), orNil(int64(m.Before)), m.Frozen, m.Answers, m.Trained, int64(m.Rounds))
		if deployed && !m.Answers {
			rows.note("version %d is untrained: until it is trained, the learned start answers where no model is named", m.Version)
		}
	})
}
