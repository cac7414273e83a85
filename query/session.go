package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"kith/db"
	"kith/model/trial"
	"kith/query/parse"
)

// Error is a fault in a statement and its position.
type Error = parse.Error

// Session runs statements on a database. It must not be used by several goroutines at once, because it may hold a
// transaction. Close it before the database.
type Session struct {
	DB *db.DB
	// Progress is called during long statements such as LOAD and TRAIN. It may be nil.
	Progress func(Progress)
	// Plot writes the regret curves of EVALUATE STREAM as an SVG picture. If it is nil, the option plot is refused.
	Plot func(w io.Writer, curves *trial.Result, title string) error
	// ReadOnly refuses statements that change the database, access a file or play policies.
	ReadOnly bool
	// Settings are the settings that SET changes.
	Settings Settings

	tx *db.Tx // the transaction opened by BEGIN; nil means that each statement has its own
}

// Progress reports how far a long statement has come.
type Progress struct {
	What        string // unit of Done and Total
	Done, Total int64  // Total is 0 if it is unknown
}

// Bytes is the unit of a file being read: its bytes as stored, before decompression.
const Bytes = "bytes"

// Run runs one statement on g; see [Session.Run].
func Run(ctx context.Context, g *db.DB, text string, args ...any) (*Rows, error) {
	return (&Session{DB: g}).Run(ctx, text, args...)
}

// Run parses and runs one statement. The arguments replace its parameters: in order for ?, an sql.NamedArg for each
// $name. A fault at a place in the statement is an [*Error] with its position; errors.Is finds the database's error.
func (s *Session) Run(ctx context.Context, text string, args ...any) (*Rows, error) {
	stmt, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(ctx, stmt, args...)
}

// Exec runs a parsed statement, in a transaction of its own or in the open one.
func (s *Session) Exec(ctx context.Context, stmt parse.Statement, args ...any) (*Rows, error) {
	r := run{session: s, ctx: ctx, seed: s.Settings.Seed}
	if err := r.bind(stmt, args); err != nil {
		return nil, err
	}
	if s.ReadOnly && !reads(stmt) {
		return nil, &Error{Pos: stmt.Position(), Msg: verb(stmt) + " is refused here, where statements only look at the database", Err: db.ErrReadOnly}
	}
	if s.tx != nil && !joins(stmt) {
		return nil, &Error{Pos: stmt.Position(), Msg: verb(stmt) + " cannot be part of a transaction: COMMIT or ROLLBACK first", Err: db.ErrInput}
	}
	rows, err := r.limited(stmt)
	if err != nil {
		return nil, r.positioned(stmt.Position(), err)
	}
	if _, all := stmt.(*parse.ShowSettings); !all {
		r.cut(rows)
	}
	return rows, nil
}

// run is a statement being run.
type run struct {
	session *Session
	ctx     context.Context
	args    []any          // arguments of ?
	named   map[string]any // arguments of $name
	seed    uint64         // seed of random draws; 0 means that none was given
}

func (r *run) exec(stmt parse.Statement) (*Rows, error) {
	switch s := stmt.(type) {
	case *parse.Explain:
		if s.Profile {
			return r.profile(s.Statement)
		}
		return r.explain(s.Statement)
	case *parse.Predict:
		return r.predict(s)
	case *parse.InsertNode:
		return r.insertNode(s)
	case *parse.InsertEdges:
		return r.insertEdges(s)
	case *parse.DeleteNode:
		return r.deleteNode(s)
	case *parse.DeleteEdges:
		return r.deleteEdges(s)
	case *parse.Neighbors:
		return r.neighbors(s)
	case *parse.Nodes:
		return r.nodeList(s)
	case *parse.Rank:
		return r.rank(s)
	case *parse.Path:
		return r.path(s)
	case *parse.Why:
		return r.why(s)
	case *parse.Observe:
		return r.observe(s)
	case *parse.Choose:
		return r.choose(s)
	case *parse.Reward:
		return r.reward(s)
	case *parse.ShowDecisions:
		return r.showDecisions(s)
	case *parse.DescribeDecision:
		return r.describeDecision(s)
	case *parse.EvaluateLog:
		return r.evaluateLog(s)
	case *parse.EvaluateHoldout:
		return r.evaluateHoldout(s)
	case *parse.EvaluateStream:
		return r.evaluateStream(s)
	case *parse.CreateModel:
		return r.createModel(s)
	case *parse.TrainModel:
		return r.trainModel(s)
	case *parse.DropModel:
		return r.dropModel(s)
	case *parse.ShowVersions:
		return r.showVersions(s)
	case *parse.DeployModel:
		return r.deployModel(s)
	case *parse.RollbackModel:
		return r.rollbackModel(s)
	case *parse.FreezeModel:
		return r.freezeModel(s)
	case *parse.ExportModel:
		return r.exportModel(s)
	case *parse.ExportLog:
		return r.exportLog(s)
	case *parse.ImportModel:
		return r.importModel(s)
	case *parse.LoadEdges:
		return r.loadEdges(s)
	case *parse.ShowStats:
		return r.showStats()
	case *parse.ShowLabels:
		return r.showLabels(s)
	case *parse.ShowPolicies:
		return r.showPolicies()
	case *parse.Help:
		return r.help(s)
	case *parse.ShowModels:
		return r.showModels()
	case *parse.ShowCache:
		return r.showCache()
	case *parse.Warm:
		return r.warm(s)
	case *parse.DescribeModel:
		return r.describeModel(s)
	case *parse.DescribeNode:
		return r.describeNode(s)
	case *parse.Check:
		return r.check()
	case *parse.LoadNodes:
		return r.loadNodes(s)
	case *parse.ExportList:
		return r.exportList(s)
	case *parse.Backup:
		return r.backup(s)
	case *parse.Assign:
		return r.set(s)
	case *parse.ShowSettings:
		return r.showSettings()
	case *parse.Begin:
		return r.begin(s)
	case *parse.Commit:
		return r.commit(s)
	case *parse.Rollback:
		return r.rollback(s)
	}
	panic(fmt.Sprintf("query: no execution of %T", stmt))
}

// positioned returns an error of the database with the position at, unless it has a position already or is not a fault
// of the statement, such as an error of the context or of the disk.
func (r *run) positioned(at parse.Pos, err error) error {
	var have *Error
	if errors.As(err, &have) || r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()) {
		return err
	}
	for _, fault := range []error{
		db.ErrInput, db.ErrNotFound, db.ErrExists, db.ErrNoModel, db.ErrReadOnly, db.ErrTooLarge, db.ErrLines,
		db.ErrNoDecision, db.ErrExpired, db.ErrRewarded, db.ErrRepeated,
	} {
		if errors.Is(err, fault) {
			e := &Error{Pos: at, Msg: plainly(err), Err: err}
			if named := (*db.Error)(nil); errors.As(err, &named) {
				e.DidYouMean = named.DidYouMean
			}
			return e
		}
	}
	return err
}

// plainly returns the text of an error without the names of packages, which mean nothing to the author of a statement,
// and without "bad input".
func plainly(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}
