package parse

// Begin opens a transaction for the statements up to COMMIT or ROLLBACK.
type Begin struct {
	Pos
	ReadOnly bool // the transaction reads one version and blocks no writer
}

// Commit ends the open transaction and keeps its changes.
type Commit struct{ Pos }

// Rollback ends the open transaction and discards its changes.
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
