package query

import "kith/query/internal/parse"

// action says what the statements of a [parse.Form] do; the form says how they are written. Each
// list of actions is in the file that runs them. The lists are functions, because a package-level
// list would be initialized by itself: HELP and EXPLAIN, which are actions, read the list.
type action struct {
	name    string // of the parse.Form
	access  access
	columns []column // of the answer
	run     runner
	options lister   // nil means that the statement has no options
	more    []column // further columns
	when    string   // where the answer has them; "" means in WHERE and RETURN
	// plan adds the steps of a statement, which are chosen by their cost. nil means that there is
	// no choice.
	plan func(r *run, e *parse.Statement)
}

// lister returns the options of a statement, as far as it is parsed. isModel reports whether a
// model has a name.
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

// runner runs the statements of a form. It adds to the rows of the run, or fails. It begins its
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

// actions yields the actions, the most frequent ones first.
func actions(yield func(action) bool) {
	for _, list := range []func() []action{
		predictActions, decisionActions, graphActions, propertyActions, walkActions, pictureActions, modelActions, evaluateActions, listActions, transferActions, adminActions, sessionActions,
	} {
		for _, k := range list() {
			if !yield(k) {
				return
			}
		}
	}
}

// actionOf returns the action of a statement.
func actionOf(stmt *parse.Statement) action {
	name := stmt.Form
	for k := range actions {
		if k.name == name {
			return k
		}
	}
	return action{} // never: TestForms checks that each parse.Form has an action
}

// accessOf returns the access of a statement. EXPLAIN reads. PROFILE has the access of the
// statement that it runs.
func accessOf(stmt *parse.Statement) access {
	if stmt.Form == "PROFILE" {
		return accessOf(stmt.Explained())
	}
	has := actionOf(stmt).access
	if isBatch(stmt) || retrains(stmt) {
		has |= lasts
	}
	return has
}

// Writes reports whether a session that is ReadOnly refuses a statement.
func Writes(stmt *parse.Statement) bool { return accessOf(stmt)&reads == 0 }

// Lasts reports whether a statement may take minutes on a large graph: it trains or evaluates.
func Lasts(stmt *parse.Statement) bool { return accessOf(stmt)&lasts != 0 }

// nameOf returns the name of a statement's form. For EXPLAIN and PROFILE it is the form of the
// inner statement.
func nameOf(stmt *parse.Statement) string {
	if inner := stmt.Explained(); inner != nil {
		return nameOf(inner)
	}
	return stmt.Form
}
