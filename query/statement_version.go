package query

// ShowVersions lists the versions of a model.
type ShowVersions struct {
	Pos
	Of Name
}

// DeployModel has a model answer where none is named, and a version of it answer for it and learn.
type DeployModel struct {
	Pos
	Name    Name
	Version Value // Int, at least 1, or Param; nil: the one that is deployed
}

// RollbackModel deploys the version of a model that was deployed before.
type RollbackModel struct {
	Pos
	Name Name
}

// FreezeModel keeps a model from learning, or (Thaw) lets it learn again.
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

// using writes a clause that names a model, and perhaps a version of it, and may be absent.
func using(model Name, version Value) string {
	return named(" USING ", model) + clause(" VERSION ", version)
}
