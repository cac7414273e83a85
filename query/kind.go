package query

import "kith/query/parse"

// kind joins the two halves of the record of a kind of statement: its [parse.Kind] says how it is
// written, and this type says what it does. Each list of kinds is in the file that runs them.
type kind struct {
	name    string // of the parse.Kind
	access  access
	columns []column // of the answer
	run     runner
	options lister   // nil means that the statement has no options
	more    []column // further columns, for WHERE and RETURN
	// plan adds the steps of a statement, which are chosen by their cost. nil means that there is
	// no choice.
	plan func(r *run, e *parse.Statement)
}

// lister returns the options of a statement, as far as it is parsed. isModel reports whether a name
// is that of a model.
type lister func(stmt *parse.Statement, isModel func(string) bool) []option

// always returns the lister of options that do not depend on the statement. list returns options
// that set the fields of a T.
func always[T any](list func(*T) []option) lister {
	return func(*parse.Statement, func(string) bool) []option { return list(new(T)) }
}

// access says what a statement does to the database.
type access int

const (
	writes access = 0
	reads  access = 1 << iota // it changes nothing, accesses no file and plays no policies
	joins                     // it can be part of a transaction: it does all its work in one, and waits for no writer
	edits                     // it writes, but only nodes, edges, decisions and models; see Session.Confined
	lasts                     // it may take minutes on a large graph
)

// runner runs the statements of a kind. It adds to the rows of the run, or fails. It begins its
// transactions itself, unless it is viewing or updating.
type runner func(r *run, stmt *parse.Statement)

// viewing returns the runner of statements that do all their work in one transaction that reads.
func viewing(f runner) runner {
	return func(r *run, s *parse.Statement) { r.view(func() { f(r, s) }) }
}

// updating returns the runner of statements that do all their work in one transaction that writes.
func updating(f runner) runner {
	return func(r *run, s *parse.Statement) { r.update(func() { f(r, s) }) }
}

// kinds yields the kinds of statements, the most frequent ones first.
func kinds(yield func(kind) bool) {
	for _, list := range []func() []kind{
		predictKinds, decisionKinds, graphKinds, walkKinds, pictureKinds, modelKinds, evaluateKinds, listKinds, transferKinds, adminKinds, sessionKinds,
	} {
		for _, k := range list() {
			if !yield(k) {
				return
			}
		}
	}
}

// kindOf returns the kind of a statement.
func kindOf(stmt *parse.Statement) kind {
	name := stmt.Kind
	for k := range kinds {
		if k.name == name {
			return k
		}
	}
	return kind{} // never: TestKinds checks that each parse.Kind has its kind
}

// accessOf returns the access of a statement. EXPLAIN reads. PROFILE has the access of the
// statement that it runs.
func accessOf(stmt *parse.Statement) access {
	if stmt.Kind == "PROFILE" {
		return accessOf(stmt.Explained())
	}
	has := kindOf(stmt).access
	if isBatch(stmt) {
		has |= lasts
	}
	return has
}

// Writes reports whether a session that is ReadOnly refuses a statement.
func Writes(stmt *parse.Statement) bool { return accessOf(stmt)&reads == 0 }

// Lasts reports whether a statement may take minutes on a large graph: it trains or evaluates.
func Lasts(stmt *parse.Statement) bool { return accessOf(stmt)&lasts != 0 }

// nameOf returns the name of a statement's kind. For EXPLAIN and PROFILE it is the kind of the
// inner statement.
func nameOf(stmt *parse.Statement) string {
	if inner := stmt.Explained(); inner != nil {
		return nameOf(inner)
	}
	return stmt.Kind
}
