package db

import (
	"fmt"
	"slices"
	"strings"

	"kith/model"
)

// ModelSpec says which model to create: see [model.Spec].
type ModelSpec = model.Spec

// Policies returns the names of the policies a model can follow.
func Policies() []string { return model.Policies() }

// PolicyInfo says what a policy is: see [model.PolicyInfo].
type PolicyInfo = model.PolicyInfo

// DescribePolicies returns the policies a model can follow, with a line on each.
func DescribePolicies() []PolicyInfo { return model.DescribePolicies() }

// Heuristics returns the names of the policies that learn nothing. They answer wherever a model may be named, and no model
// can have such a name.
func Heuristics() []string { return model.Heuristics() }

// ModelOptions returns the names that SetModelOption takes.
func ModelOptions() []string { return model.Options() }

// SetModelOption gives one option of a model to be made a value, as WITH (name = value) does. It
// returns ErrInput, with what would be accepted.
func SetModelOption(spec *ModelSpec, name string, value any) error {
	return optionError(spec.Set(name, value))
}

// CheckPolicy returns ErrInput for a policy that does not exist.
func CheckPolicy(name string) error {
	if slices.Contains(Policies(), name) {
		return nil // a spec of nothing but its name may lack what it needs
	}
	return optionError(ModelSpec{Policy: name}.Validate())
}

// CheckWalk returns ErrInput for an option of Prediction.Walk that cannot be.
func CheckWalk(o Option) error { return optionError(model.CheckWalk(o.Name, o.Value)) }

// optionError is what model says of an option, as an ErrInput.
func optionError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInput, strings.TrimPrefix(err.Error(), model.ErrOption.Error()+": "))
}
