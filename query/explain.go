package query

import (
	"cmp"
	"fmt"
	"time"

	"kith/db"
	"kith/query/parse"
)

// explain returns the plan of a statement: its steps, in order, with the costs known in advance.
func (r *run) explain(stmt parse.Statement) (*Rows, error) {
	rows := &Rows{Columns: []string{"step", "detail", "cost_ms"}}
	p, ok := stmt.(*parse.Predict)
	if !ok {
		for _, s := range steps(stmt) {
			rows.add(s.Name, s.Detail, nil)
		}
		return rows, nil
	}
	if _, err := r.predictTable(p); err != nil {
		return nil, err
	}
	err := r.viewAssuming(p.Assuming, func(tx *db.Tx) error {
		return r.predictions(tx, p, func(q db.Prediction) error {
			plan, err := tx.Explain(r.ctx, q)
			for _, s := range append(plan, filter(p)...) {
				rows.add(s.Name, s.Detail, cost(s))
			}
			return err
		})
	})
	return rows, err
}

// profile runs a statement and returns the time of its steps.
func (r *run) profile(stmt parse.Statement) (*Rows, error) {
	rows := &Rows{Columns: []string{"step", "detail", "cost_ms", "took_ms"}}
	p, ok := stmt.(*parse.Predict)
	if !ok {
		start := time.Now()
		answer, err := r.exec(stmt)
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		for _, s := range steps(stmt) {
			rows.add(s.Name, s.Detail, nil, nil)
		}
		rows.add("all", count(len(answer.Rows), "row"), nil, milliseconds(took))
		return rows, nil
	}
	if _, err := r.predictTable(p); err != nil {
		return nil, err
	}
	err := r.viewAssuming(p.Assuming, func(tx *db.Tx) error {
		return r.predictions(tx, p, func(q db.Prediction) error {
			_, plan, err := tx.Profile(r.ctx, q)
			for _, s := range append(plan, filter(p)...) {
				var took any
				if s.Took > 0 {
					took = s.Took
				}
				rows.add(s.Name, s.Detail, cost(s), took)
			}
			return err
		})
	})
	return rows, err
}

// filter returns the step that WHERE adds.
func filter(s *parse.Predict) []db.Step {
	if s.Where == nil {
		return nil
	}
	return []db.Step{{Name: "filter", Detail: "the ranked links, in order, until there are enough: WHERE " + s.Where.String()}}
}

// cost returns the predicted cost of a step, or nil if there is none.
func cost(s db.Step) any {
	if s.Cost == 0 {
		return nil
	}
	return s.Cost
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// steps returns the plan of a statement other than PREDICT, which always runs in the same way.
func steps(stmt parse.Statement) []db.Step {
	commit := db.Step{Name: "commit", Detail: "one transaction, synced unless the database is opened otherwise"}
	read := func(detail string) []db.Step { return []db.Step{{Name: "read", Detail: detail}} }
	write := func(detail string) []db.Step { return []db.Step{{Name: "write", Detail: detail}, commit} }
	switch s := stmt.(type) {
	case *parse.InsertNode:
		return write("the record of node " + s.Node.String())
	case *parse.InsertEdges:
		return write(count(len(s.Edges), "edge") + ", and what nodes are missing")
	case *parse.DeleteNode:
		return write("node " + s.Node.String() + " and its edges")
	case *parse.DeleteEdges:
		return write(count(len(s.Edges), "edge"))
	case *parse.Observe:
		return append([]db.Step{{Name: "contexts", Detail: "of the target and what else was on offer, from the graph as it is"}},
			write("the observation; the model learns it when it is committed")...)
	case *parse.Choose:
		return append([]db.Step{
			{Name: "score", Detail: "the candidates for node " + s.For.String() + ", as PREDICT with cache = off does"},
			{Name: "draw", Detail: "one of them, by the propensities that the explorer makes of the scores"},
		}, write("the decision, with what the model needs to learn its reward")...)
	case *parse.Reward:
		return write("the reward of decision " + s.Decision.String() + "; the model learns it when it is committed")
	case *parse.ShowDecisions, *parse.DescribeDecision:
		return read("the log of decisions in the store")
	case *parse.EvaluateLog:
		return append(read("the rewarded decisions"),
			db.Step{Name: "score", Detail: "the candidates of each, by model " + s.Model.String()},
			db.Step{Name: "estimate", Detail: "the mean reward of its best candidates by " + s.Estimator.String() + ", and an interval that contains it with 95 %"})
	case *parse.EvaluateHoldout:
		return append(read("the edges; "+hides(s)+" left out of a second graph in memory"),
			db.Step{Name: "train", Detail: "a model of its own on the edges that are left, where USING names a policy that learns"},
			db.Step{Name: "predict", Detail: "for node after node, as PREDICT with cache = off does; also by the learned start and by resource_allocation"},
			db.Step{Name: "measure", Detail: "where the hidden links come among the candidates that are none; the database is left as it is"})
	case *parse.EvaluateStream:
		return append(read("the links, into memory"),
			db.Step{Name: "play", Detail: "round after round each policy chooses, then learns; the database is left as it is"})
	case *parse.CreateModel:
		return write("an untrained model with policy " + parse.Name{Value: cmp.Or(s.Policy.Value, "default")}.String())
	case *parse.TrainModel:
		return append([]db.Step{
			{Name: "train", Detail: "a copy of the model, beside readers and writers"},
			{Name: "compare", Detail: "with the version before, the prior and heuristics, on edges that were left out; not FROM LOG, nor on a graph of fewer than 200 edges"},
		}, write("the new version, which takes the place of the old unless it is worse, or deploy = off")...)
	case *parse.ExportModel, *parse.ExportLog, *parse.ImportModel:
		return transferSteps(s)
	case *parse.DeployModel:
		if s.Version == nil {
			return write("that model " + s.Name.String() + " answers where no model is named")
		}
		return write("model " + s.Name.String() + " as it stands; then version " + s.Version.String() + " takes its place, and answers where no model is named")
	case *parse.RollbackModel:
		return write("model " + s.Name.String() + " as it stands; then the version that was deployed before takes its place")
	case *parse.FreezeModel:
		return write("whether model " + s.Name.String() + " learns")
	case *parse.DropModel:
		return write("model " + s.Name.String() + " goes")
	case *parse.LoadEdges, *parse.LoadNodes, *parse.ExportList, *parse.Backup:
		return listSteps(s)
	case *parse.Nodes:
		return read("the records of nodes in memory, in the order in which they came")
	case *parse.Rank:
		return []db.Step{{Name: "walk", Detail: "from the cached state of each node, or solved"}, {Name: "rank", Detail: "all nodes that the walk comes to"}}
	case *parse.Path:
		return read("rows of the graph in memory, breadth first from both ends")
	case *parse.Why:
		return []db.Step{
			{Name: "predict", Detail: "as PREDICT LINKS does; a target that is not one of the candidates becomes one"},
			{Name: "inputs", Detail: "what the model is shown of the pair"},
			{Name: "walk", Detail: "PageRank towards the target, solved"},
			{Name: "paths", Detail: "best first, bounded by what PageRank lies ahead"},
		}
	case *parse.Neighbors:
		return read("rows of the graph in memory, breadth first from node " + s.Of.String())
	case *parse.Warm:
		return []db.Step{{Name: "walk", Detail: count(len(s.Nodes), "state") + " of PageRank, from the cache, the store, or computed"}}
	case *parse.Assign, *parse.ShowSettings:
		return []db.Step{{Name: "session", Detail: "what it goes by; the database is not asked"}}
	case *parse.Begin:
		if s.ReadOnly {
			return read("the version that is there now, until the transaction ends")
		}
		return []db.Step{{Name: "wait", Detail: "until nobody else writes"}}
	case *parse.Commit:
		return []db.Step{commit}
	case *parse.Rollback:
		return []db.Step{{Name: "forget", Detail: "what the transaction has changed"}}
	case *parse.Help, *parse.ShowPolicies:
		return []db.Step{{Name: "help", Detail: "what is known without the database"}}
	case *parse.Check:
		return read("every record of the store, and compare with memory")
	}
	return read("what is in memory")
}

// count returns a number with its noun: "1 edge" or "2 edges".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
