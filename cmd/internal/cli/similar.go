package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// DidYouMean returns a question with the names that name was probably meant for, to be appended to an error, or "" if
// there are none.
func DidYouMean(name string, names []string) string {
	c := &cobra.Command{SuggestionsMinimumDistance: min(2, (len(name)+1)/3)} // in short names, one error makes another name
	for _, n := range names {
		c.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	return meant(c, name)
}

// meant returns that question for the subcommands of c.
func meant(c *cobra.Command, name string) string {
	names := c.SuggestionsFor(name)
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}
