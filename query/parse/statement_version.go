package parse

// ShowVersions lists the versions of a model.
type ShowVersions struct {
	Pos
	Of Name
}

// DeployModel makes a model the one that answers where none is named. With Version it deploys that version of the
// model.
type DeployModel struct {
	Pos
	Name    Name
	Version Value // nil: the deployed version
}

// RollbackModel deploys the version of a model that was deployed before.
type RollbackModel struct {
	Pos
	Name Name
}

// FreezeModel stops a model from learning or, with Thaw, lets it learn again.
type FreezeModel struct {
	Pos
	Thaw bool
	Name Name
}

func (*ShowVersions) statement()  {}
func (*DeployModel) statement()   {}
func (*RollbackModel) statement() {}
func (*FreezeModel) statement()   {}

func (s *ShowVersions) String() string { return "SHOW VERSIONS OF " + s.Of.String() }

func (s *DeployModel) String() string {
	return "DEPLOY MODEL " + s.Name.String() + clause(" VERSION ", s.Version)
}

func (s *RollbackModel) String() string { return "ROLLBACK MODEL " + s.Name.String() }

func (s *FreezeModel) String() string {
	if s.Thaw {
		return "THAW MODEL " + s.Name.String()
	}
	return "FREEZE MODEL " + s.Name.String()
}

// using formats an optional USING clause: a model and perhaps a version of it.
func using(model Name, version Value) string {
	return named(" USING ", model) + clause(" VERSION ", version)
}
