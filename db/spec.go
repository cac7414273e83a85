package db

import (
	"slices"

	"kith/model"
)

// ModelSpec says which model to create. See [model.Spec].
type ModelSpec = model.Spec

// Policies returns the names of the policies that a model can follow.
func Policies() []string { return model.Policies() }

// PolicyInfo describes a policy. See [model.PolicyInfo].
type PolicyInfo = model.PolicyInfo

// DescribePolicies returns the policies that a model can follow, with a line on each.
func DescribePolicies() []PolicyInfo { return model.DescribePolicies() }

// Heuristics returns the names of the policies that learn nothing. They can be used in place of a model's name, and no
// model can have such a name.
func Heuristics() []string { return model.Heuristics() }

// ModelOptions returns the names that SetModelOption accepts.
func ModelOptions() []string { return model.Options() }

// SetModelOption sets one option of a spec, as WITH (name = value) does. It returns ErrInput, with the accepted values,
// for an unknown name or an invalid value.
func SetModelOption(spec *ModelSpec, name string, value any) error {
	return optionError(spec.Set(name, value))
}

// CheckPolicy returns ErrInput for a policy that does not exist.
func CheckPolicy(name string) error {
	if slices.Contains(Policies(), name) {
		return nil // Validate may reject a spec of only a name, if the policy requires options
	}
	return optionError(ModelSpec{Policy: name}.Validate())
}

// CheckWalk returns ErrInput for an invalid option of Prediction.Walk.
func CheckWalk(o Option) error { return optionError(model.CheckWalk(o.Name, o.Value)) }
