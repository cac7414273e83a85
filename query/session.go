package query

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"kith/db"
)

// Session runs statements on a database. It serves one goroutine at a time, as it may hold a transaction;
// it must then be closed before the database.
type Session struct {
	DB *db.DB
	// Progress hears of long work: LOAD and TRAIN. It may be nil.
	Progress func(Progress)
	// Settings are those that statements go by; SET changes them.
	Settings Settings

	tx *db.Tx // of BEGIN; nil: a statement has a transaction of its own
}

// Progress says how far some work has come.
type Progress struct {
	What        string // what is counted
	Done, Total int64  // Total is 0 where the end is not known
}

// Bytes is what is counted of a file that is read, as it is, packed or not.
const Bytes = "bytes"

// Run runs one statement on g; see [Session.Run].
func Run(ctx context.Context, g *db.DB, text string, args ...any) (*Rows, error) {
	return (&Session{DB: g}).Run(ctx, text, args...)
}

// Run parses and runs one statement. The arguments stand for its parameters: in order for ?, an
// sql.NamedArg for each $name. The error is an [*Error] with a position where the fault lies in a
// place of the statement; errors.Is finds what the database said.
func (s *Session) Run(ctx context.Context, text string, args ...any) (*Rows, error) {
	stmt, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(ctx, stmt, args...)
}

// Exec runs a parsed statement, in a transaction of its own or in the one that is open.
func (s *Session) Exec(ctx context.Context, stmt Statement, args ...any) (*Rows, error) {
	r := run{session: s, ctx: ctx, seed: s.Settings.Seed}
	if err := r.bind(stmt, args); err != nil {
		return nil, err
	}
	if s.tx != nil && !joins(stmt) {
		return nil, &Error{Pos: stmt.Position(), Msg: verb(stmt) + " cannot be part of a transaction: COMMIT or ROLLBACK first", Err: db.ErrInput}
	}
	rows, err := r.limited(stmt)
	if err != nil {
		return nil, r.positioned(stmt.Position(), err)
	}
	if _, all := stmt.(*ShowSettings); !all {
		r.cut(rows)
	}
	return rows, nil
}

// run is one statement being run.
type run struct {
	session *Session
	ctx     context.Context
	args    []any          // of ?
	named   map[string]any // of $name
	seed    uint64         // of what is drawn at random; 0: it was not said
}

func (r *run) exec(stmt Statement) (*Rows, error) {
	switch s := stmt.(type) {
	case *Explain:
		if s.Profile {
			return r.profile(s.Statement)
		}
		return r.explain(s.Statement)
	case *Predict:
		return r.predict(s)
	case *InsertNode:
		return r.insertNode(s)
	case *InsertEdges:
		return r.insertEdges(s)
	case *DeleteNode:
		return r.deleteNode(s)
	case *DeleteEdges:
		return r.deleteEdges(s)
	case *Neighbors:
		return r.neighbors(s)
	case *Nodes:
		return r.nodeList(s)
	case *Rank:
		return r.rank(s)
	case *Path:
		return r.path(s)
	case *Why:
		return r.why(s)
	case *Observe:
		return r.observe(s)
	case *Choose:
		return r.choose(s)
	case *Reward:
		return r.reward(s)
	case *ShowDecisions:
		return r.showDecisions(s)
	case *DescribeDecision:
		return r.describeDecision(s)
	case *EvaluateLog:
		return r.evaluateLog(s)
	case *EvaluateHoldout:
		return r.evaluateHoldout(s)
	case *EvaluateStream:
		return r.evaluateStream(s)
	case *CreateModel:
		return r.createModel(s)
	case *TrainModel:
		return r.trainModel(s)
	case *DropModel:
		return r.dropModel(s)
	case *ShowVersions:
		return r.showVersions(s)
	case *DeployModel:
		return r.deployModel(s)
	case *RollbackModel:
		return r.rollbackModel(s)
	case *FreezeModel:
		return r.freezeModel(s)
	case *ExportModel:
		return r.exportModel(s)
	case *ExportLog:
		return r.exportLog(s)
	case *ImportModel:
		return r.importModel(s)
	case *LoadEdges:
		return r.loadEdges(s)
	case *ShowStats:
		return r.showStats()
	case *ShowLabels:
		return r.showLabels(s)
	case *ShowPolicies:
		return r.showPolicies()
	case *Help:
		return r.help(s)
	case *ShowModels:
		return r.showModels()
	case *ShowCache:
		return r.showCache()
	case *Warm:
		return r.warm(s)
	case *DescribeModel:
		return r.describeModel(s)
	case *DescribeNode:
		return r.describeNode(s)
	case *Check:
		return r.check()
	case *LoadNodes:
		return r.loadNodes(s)
	case *ExportList:
		return r.exportList(s)
	case *Backup:
		return r.backup(s)
	case *Assign:
		return r.set(s)
	case *ShowSettings:
		return r.showSettings()
	case *Begin:
		return r.begin(s)
	case *Commit:
		return r.commit(s)
	case *Rollback:
		return r.rollback(s)
	}
	panic(fmt.Sprintf("query: no execution of %T", stmt))
}

// positioned gives an error of the database the place in the statement that it speaks of, unless it
// has one, or speaks of no statement: of the context, or of the disk.
func (r *run) positioned(at Pos, err error) error {
	var have *Error
	if errors.As(err, &have) || r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()) {
		return err
	}
	for _, fault := range []error{
		db.ErrInput, db.ErrNotFound, db.ErrExists, db.ErrNoModel, db.ErrReadOnly, db.ErrTooLarge, db.ErrLines,
		db.ErrNoDecision, db.ErrExpired, db.ErrRewarded, db.ErrRepeated,
	} {
		if errors.Is(err, fault) {
			return &Error{Pos: at, Msg: plainly(err), Err: err}
		}
	}
	return err
}

// plainly is an error's text without the names of packages, which mean nothing to who wrote the
// statement, and without "bad input", which goes without saying.
func plainly(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}
