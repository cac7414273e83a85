package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
)

// Args requires one argument for each name. It is a cobra.PositionalArgs.
func Args(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return fmt.Errorf("%q is one argument too many", args[len(names)])
		}
		return AtLeast(names...)(c, args)
	}
}

// AtLeast requires one argument for each name, and accepts more. It is a cobra.PositionalArgs.
func AtLeast(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing", names[len(args)])
		}
		return nil
	}
}

// Least returns an error unless the value of a flag is at least the given one.
func Least[T cmp.Ordered](flag string, value, least T) error {
	if value >= least { // false for NaN
		return nil
	}
	return fmt.Errorf("--%s must be at least %v, got %v", flag, least, value)
}

// Within returns an error unless the value of a flag is between two others, which are accepted too.
func Within[T cmp.Ordered](flag string, value, least, most T) error {
	if value >= least && value <= most { // false for NaN
		return nil
	}
	return fmt.Errorf("--%s must be from %v to %v, got %v", flag, least, most, value)
}
