package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"kith/db"
	"kith/model"
	"kith/query/internal/parse"
)

// modelColumns describes a model.
var modelColumns = []column{
	{name: "model"}, {"version", "the deployed one"}, {name: "policy"},
	{"answers", "whether it answers where no model is named"}, {name: "trained"},
	{"rounds", "number of rewards learned"}, {name: "bytes"},
}

// changedColumns describes a model after a change of its deployment.
var changedColumns = []column{
	{name: "model"}, {"version", "the deployed one"}, {"before", "the version to roll back to"},
	{name: "frozen"}, {"answers", "whether it answers where no model is named"},
	{name: "trained"}, {"rounds", "number of rewards learned"},
}

// modelActions returns the statements about models and their versions.
func modelActions() []action {
	return []action{
		{
			name: "CREATE MODEL", access: edits, columns: modelColumns, run: (*run).createModel,
			options: always(modelOptions),
		},
		{
			name: "TRAIN MODEL", access: edits | lasts, run: (*run).trainModel,
			columns: slices.Concat(modelColumns, []column{
				{name: "deployed"}, {"mrr", "of the new version, on links that were left out"},
				{"mrr_before", "of the deployed version"}, {"mrr_prior", "of the built-in model"},
				{name: "mrr_heuristic"}, {"heuristic", "the best one"},
			}),
			options: func(s *parse.Statement, _ func(string) bool) []option {
				return trainOptions(&db.TrainOptions{Log: parse.Log.Given(s)})
			},
		},
		{name: "DEPLOY MODEL", access: edits, columns: changedColumns, run: changing(deployModel)},
		{name: "ROLLBACK MODEL", access: edits, columns: changedColumns, run: changing(rollbackModel)},
		{name: "FREEZE MODEL", access: edits, columns: changedColumns, run: changing(freezeModel)},
		{name: "THAW MODEL", access: edits, columns: changedColumns, run: changing(thawModel)},
		{name: "DROP MODEL", access: edits, columns: []column{{"dropped", "the model's name"}}, run: (*run).dropModel},
		{name: "SHOW MODELS", access: reads | joins, columns: modelColumns, run: viewing((*run).showModels)},
		{
			name: "SHOW VERSIONS", access: reads | joins, run: viewing((*run).showVersions),
			columns: []column{
				{name: "model"}, {name: "version"}, {name: "deployed"},
				{"from", "create, edges, log, import or refresh"}, {"relation", "whose edges were learned"}, {name: "parent"},
				{name: "made"}, {name: "trained"}, {name: "rounds"}, {name: "bytes"},
			},
		},
		{
			name: "SHOW RULES", access: reads | joins, run: viewing((*run).showRules),
			columns: []column{
				{name: "rule"}, {"confidence", "share of the targets that its paths lead to and that are linked to"},
				{"chance", "the same if nodes were targets as often as for all sources; a rule with less confidence speaks against a link"},
				{"hits", "such targets of a sample of sources"}, {"tries", "targets that its paths lead to"},
			},
		},
		{name: "DESCRIBE MODEL", access: reads | joins, columns: named("name", "value"), run: viewing((*run).describeModel)},
	}
}

func (r *run) createModel(s *parse.Statement) {
	name := parse.Model.Of(s)
	spec := db.ModelSpec{Policy: cmp.Or(parse.Using.Of(s).Value, "default")}
	r.failAt(parse.Using.In(s), checkPolicy(spec.Policy))
	r.setOptions(parse.With.All(s), modelOptions(&spec))
	if r.err == nil {
		r.failAt(name, r.session.DB.Model(name.Value).Create(r.ctx, spec))
	}
	r.describe(name, modelRow)
}

func (r *run) trainModel(s *parse.Statement) {
	t := db.TrainOptions{Log: parse.Log.Given(s), Relation: r.relation(parse.Via.Of(s))}
	r.setOptions(parse.With.All(s), trainOptions(&t))
	if r.err != nil {
		return
	}
	t.Plan.Progress = r.trainingProgress()
	m, err := r.session.DB.Model(parse.Model.Of(s).Value).Train(r.ctx, t)
	if r.failAt(parse.Model.In(s), err) {
		return
	}
	trainedRow(r.rows, &m)
	r.rows.remarkLeftOut(m.ModelInfo)
	r.rows.remarkCompared(&m)
	if m.Held {
		r.rows.remarkWorse(&m, t.Deploy)
		r.rows.remarkHeld(m.Name, m.Version)
		return
	}
	r.viewChanged(func() { r.rows.remarkAnswering(r.ctx, r.tx, m.ModelInfo) })
}

// trainedRow adds the row of TRAIN: the model, whether it is deployed, and how it compares with the
// others.
func trainedRow(rows *Rows, m *db.Training) {
	modelRow(rows, m.ModelInfo)
	row := append(rows.Rows[0], !m.Held)
	for _, role := range []string{"new", "before", "prior", "heuristic"} {
		var mrr any
		if s, ok := m.Comparison.Standing(role); ok {
			mrr = s.MRR
		}
		row = append(row, mrr)
	}
	best, _ := m.Comparison.Standing("heuristic")
	rows.Rows[0] = append(row, orNil(best.Name))
}

// remarkCompared notes how a new version compares with others, or that nothing judged it.
func (rows *Rows) remarkCompared(m *db.Training) {
	switch skipped := m.Comparison.Skipped; {
	case skipped == "":
		rows.note("%s", m.Comparison.String())
	case m.Held:
		rows.note("version %d was not compared with others: %s", m.Version, skipped)
	default:
		rows.note("version %d is deployed without a comparison with others: %s; ROLLBACK MODEL %v undoes that",
			m.Version, skipped, Name(m.Name))
	}
}

// remarkWorse notes why a version is not deployed.
func (rows *Rows) remarkWorse(m *db.Training, rule db.DeployRule) {
	var names []string
	for _, s := range m.Comparison.Held() {
		names = append(names, s.Name)
	}
	if names != nil && rule == db.DeployBetter {
		rows.note("version %d is not deployed: it ranks below %s by more than chance explains; deploy = on deploys it nevertheless",
			m.Version, strings.Join(names, " and "))
	}
}

// checkPolicy returns an error for a policy that does not exist.
func checkPolicy(name string) error {
	if slices.Contains(model.Policies(), name) {
		return nil // Validate may reject a spec of only a name, if the policy requires options
	}
	return db.ModelSpec{Policy: name}.Validate()
}

// optionMeanings are the meanings of options of models whose names do not say it.
var optionMeanings = map[string]string{
	"preset": "options for a purpose", "seed": "seed of the model's draws",
	"normalize": "with features each node's vector has mean square 1, with unit the whole context has length 1",
}

// modelOptions returns the options of CREATE MODEL, which are the options of package model.
func modelOptions(spec *db.ModelSpec) (options []option) {
	for _, m := range model.DescribeOptions() {
		options = append(options, option{m.Name, m.Accepts, optionMeanings[m.Name], func(r *run, o parse.Option) {
			r.fail(spec.Set(m.Name, r.single(o, m.Accepts)))
		}})
	}
	return options
}

// trainOptions returns the options of TRAIN MODEL.
func trainOptions(t *db.TrainOptions) []option {
	options := planOptions(t)
	if t.Log {
		options = options[:1]
	}
	rules := map[string]db.DeployRule{"better": db.DeployBetter, "on": db.DeployAlways, "off": db.DeployNever}
	if !t.Log {
		options = append(options, durationOption("budget", "time that the training should take (default: as long as it needs)", &t.Budget))
	}
	return append(options, wordOption("deploy",
		"whether the new version replaces the deployed one: if it is not worse (better, the default), always or never",
		func(word string) { t.Deploy = rules[word] }, "better", "on", "off"))
}

// planOptions returns the options of a training; the first is epochs.
func planOptions(t *db.TrainOptions) []option {
	return []option{
		integerOption("epochs", "how often the training sees each sample", 1, math.MaxInt64, &t.Plan.Epochs),
		integerOption("samples", "number of links drawn to learn from", 1, math.MaxInt64, &t.Plan.Samples),
		integerOption("negatives", "number of pairs without a link for each of them", 1, math.MaxInt64, &t.Plan.Negatives),
		integerOption("folds", "number of parts that are predicted from the others", 1, math.MaxInt64, &t.Plan.Folds),
	}
}

func (r *run) dropModel(s *parse.Statement) {
	model := parse.Model.Of(s)
	answered := r.answers(model)
	if r.err == nil {
		r.failAt(model, r.session.DB.Model(model.Value).Drop(r.ctx))
	}
	r.rows.add(model.Value)
	if answered {
		r.rows.note("where no model is named, the built-in model answers now; DEPLOY MODEL chooses another model")
	}
}

// answers reports whether a model answers where no model is named. It fails if there is no such
// model.
func (r *run) answers(model parse.Name) (answers bool) {
	r.view(func() {
		m, err := r.tx.Model(r.model(model)).Info(r.ctx)
		r.fail(err)
		answers = m.Answers
	})
	return answers
}

func (r *run) observe(s *parse.Statement) {
	o := db.ObserveOptions{Reward: r.validReward(parse.Reward.Of(s)), Model: r.model(r.using(s)), Insert: parse.Insert.Given(s)}
	r.setOptions(parse.With.All(s), observeOptions(&o))
	o.Relation = r.relation(parse.Arrow.Of(s))
	src, dst := r.node(parse.Observed.Of(s)), r.target(s)
	o.Source, o.Target, o.Among = src, dst, r.candidates(parse.Among.Of(s))
	if r.err != nil {
		return
	}
	_, edges := r.tx.Counts()
	known, err := r.tx.Observed(o.ID)
	if r.fail(err) || r.fail(r.tx.Observe(r.ctx, o)) {
		return
	}
	if known {
		r.rows.note("outcome %s was observed before: nothing changes", db.Str(o.ID).Literal())
		return
	}
	m, err := r.tx.Model(o.Model).Info(r.ctx)
	r.fail(err)
	_, now := r.tx.Counts()
	r.rows.add(src, dst, o.Reward, m.Name, now > edges)
	r.rows.remarkFrozen(m)
}

// remarkFrozen notes that a frozen model does not learn the observation.
func (rows *Rows) remarkFrozen(m db.ModelInfo) {
	if m.Frozen {
		rows.note("model %s is frozen: the outcome is logged and not learned", Name(m.Name))
	}
}

// remarkOutdated notes that a model must be trained again.
func (rows *Rows) remarkOutdated(m db.ModelInfo) {
	if m.Outdated {
		rows.note("model %s was stored by another version of kith, and what it had learned cannot be read: TRAIN MODEL %[1]s trains it again",
			Name(m.Name))
	}
}

// remarkLeftOut notes that a model has no vectors of nodes, because they did not fit.
func (rows *Rows) remarkLeftOut(m db.ModelInfo) {
	if m.VectorsLeftOut > 0 {
		rows.note("model %v was trained without vectors of nodes: they would take %d MB, and may take an eighth of the memory option "+
			"and at most 1 GB (feature vectors: a quarter of it)", Name(m.Name), (m.VectorsLeftOut+1<<20-1)>>20)
	}
}

// remarkHeld notes that a new version is not deployed.
func (rows *Rows) remarkHeld(model string, version int) {
	rows.note("version %d is stored and not deployed: DEPLOY MODEL %v VERSION %d deploys it", version, Name(model), version)
}

// remarkAnswering notes which model answers where no model is named, if it is not m.
func (rows *Rows) remarkAnswering(ctx context.Context, tx *db.Tx, m db.ModelInfo) {
	if m.Answers {
		return
	}
	by := "the built-in model"
	if other, err := tx.Model("").Info(ctx); err == nil && other.Answers {
		by = "model " + Name(other.Name)
	}
	rows.note("where no model is named, %s answers; DEPLOY MODEL %v changes that", by, Name(m.Name))
}

func (r *run) showModels(*parse.Statement) {
	for _, m := range r.tx.Models() {
		modelRow(r.rows, m)
		r.rows.remarkOutdated(m)
		r.rows.remarkLeftOut(m)
		r.remarkUnasked(m)
	}
}

// remarkUnasked notes when and why the deployed version of a model was trained in the background.
func (r *run) remarkUnasked(m db.ModelInfo) {
	all, err := r.tx.Model(m.Name).Versions(r.ctx)
	if r.fail(err) {
		return
	}
	i := slices.IndexFunc(all, func(v db.VersionInfo) bool { return v.Number == m.Version })
	if i < 0 || all[i].From != "refresh" {
		return
	}
	why := "a tenth of the edges had changed"
	parent := slices.IndexFunc(all, func(v db.VersionInfo) bool { return v.Number == all[i].Parent })
	if parent >= 0 && all[parent].From == "create" {
		why = "it answered and had never been trained"
	}
	r.rows.note("model %s version %d was trained in the background on %v: %s", Name(m.Name), m.Version, r.moment(all[i].Made), why)
}

func modelRow(rows *Rows, m db.ModelInfo) {
	rows.add(m.Name, int64(m.Version), m.Policy, m.Answers, m.Trained, int64(m.Rounds), int64(m.Bytes))
}

func (r *run) describeModel(s *parse.Statement) {
	r.describe(parse.Model.Of(s), func(rows *Rows, m db.ModelInfo) {
		rows.remarkOutdated(m)
		rows.remarkLeftOut(m)
		rows.add("model", m.Name)
		rows.add("version", int64(m.Version))
		rows.add("deployed", r.moment(m.Deployed))
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

// describe adds the rows that row adds for a model.
func (r *run) describe(model parse.Name, row func(*Rows, db.ModelInfo)) {
	r.viewChanged(func() {
		m, err := r.tx.Model(r.model(model)).Info(r.ctx)
		if !r.fail(err) {
			row(r.rows, m)
		}
	})
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

func (r *run) showVersions(s *parse.Statement) {
	model := r.model(parse.OfModel.Of(s))
	all, err := r.tx.Model(model).Versions(r.ctx)
	r.fail(err)
	for _, v := range all {
		r.rows.add(model, int64(v.Number), v.Deployed, orNil(string(v.From)), orNil(v.Relation), orNil(int64(v.Parent)), r.moment(v.Made), v.Trained,
			int64(v.Rounds), int64(v.Bytes))
	}
}

func (r *run) showRules(s *parse.Statement) {
	relation, inverse := parse.ForRules.Of(s), parse.Inverse.Given(s)
	if inverse {
		relation = parse.Inverse.Of(s)
	}
	model, version := r.model(r.using(s)), r.version(parse.Version.Of(s))
	top := int(r.integer(parse.Top.Of(s), 1, math.MaxInt))
	if r.err != nil {
		return
	}
	all, err := r.tx.Rules(r.relation(relation), inverse, model, version)
	if r.fail(err) || r.checkMemory(min(top, len(all))) {
		return
	}
	for _, rule := range all[:min(top, len(all))] {
		r.rows.add(rule.String(), rule.Confidence, rule.Chance, int64(rule.Hits), int64(rule.Tries))
	}
	if len(all) == 0 {
		r.rows.note("no rules are known for this relation: TRAIN MODEL without VIA learns them, on a graph of several relations")
	}
}

// changing returns the runner of a statement that changes an existing model, and answers with its
// new state. It notes that the model is untrained if it would answer otherwise, because DEPLOY says
// so or because it answered before.
func changing(change func(r *run, model string, version int) error) runner {
	return func(r *run, s *parse.Statement) {
		model, version := parse.Model.Of(s), r.version(parse.Version.Of(s))
		deployed := r.answers(model) || s.Form == "DEPLOY MODEL"
		if r.err == nil {
			r.failAt(model, change(r, model.Value, version))
		}
		r.describe(model, func(rows *Rows, m db.ModelInfo) {
			rows.add(m.Name, int64(m.Version), orNil(int64(m.Before)), m.Frozen, m.Answers, m.Trained, int64(m.Rounds))
			if deployed && !m.Answers {
				rows.note("version %d is untrained: until it is trained, the built-in model answers where no model is named", m.Version)
			}
		})
	}
}

func deployModel(r *run, model string, version int) error {
	return r.session.DB.Model(model).Deploy(r.ctx, version)
}

func rollbackModel(r *run, model string, _ int) error {
	_, err := r.session.DB.Model(model).Rollback(r.ctx)
	return err
}

func freezeModel(r *run, model string, _ int) error {
	return r.session.DB.Model(model).Freeze(r.ctx)
}

func thawModel(r *run, model string, _ int) error {
	return r.session.DB.Model(model).Thaw(r.ctx)
}
