package cli

import (
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
