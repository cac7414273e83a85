package query

// Begin opens a transaction: the statements up to COMMIT or ROLLBACK are parts of it.
type Begin struct {
	Pos
	ReadOnly bool // it reads one version, and makes no writer wait
}

// Commit ends the transaction that is open, with its changes.
type Commit struct{ Pos }

// Rollback ends the transaction that is open, without its changes.
type Rollback struct{ Pos }

// Assign changes a setting of the session.
type Assign struct {
	Pos
	Option
}

// ShowSettings lists the settings of the session.
type ShowSettings struct{ Pos }

func (*Begin) statement()        {}
func (*Commit) statement()       {}
func (*Rollback) statement()     {}
func (*Assign) statement()       {}
func (*ShowSettings) statement() {}

func (s *Begin) String() string {
	if s.ReadOnly {
		return "BEGIN READ ONLY"
	}
	return "BEGIN"
}

func (s *Commit) String() string       { return "COMMIT" }
func (s *Rollback) String() string     { return "ROLLBACK" }
func (s *Assign) String() string       { return "SET " + s.Option.String() }
func (s *ShowSettings) String() string { return "SHOW SETTINGS" }
