package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"kith/db"
	"kith/model/trial"
)

// Session runs statements on a database. It must not be used by several goroutines at once, because it may hold a
// transaction. Close it before the database.
type Session struct {
	DB *db.DB
	// Progress is called during long statements such as LOAD and TRAIN. It may be nil.
	Progress func(Progress)
	// Plot writes the regret curves of EVALUATE STREAM as an SVG picture. If it is nil, the option plot is refused.
	Plot func(w io.Writer, curves *trial.Result, title string) error
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
	stmt, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(ctx, stmt, args...)
}

// Exec runs a parsed statement, in a transaction of its own or in the open one.
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

// run is a statement being run.
type run struct {
	session *Session
	ctx     context.Context
	args    []any          // arguments of ?
	named   map[string]any // arguments of $name
	seed    uint64         // seed of random draws; 0 means that none was given
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

// positioned returns an error of the database with the position at, unless it has a position already or is not a fault
// of the statement, such as an error of the context or of the disk.
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
