package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kith/db/words"
)

// usage is the template that --help shows after the description of a command.
const usage = `Usage:
  {{.UseLine}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Subcommands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}

'{{.CommandPath}} SUBCOMMAND --help' tells more.
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{- end}}
`

// alsoMeant is the annotation of a flag that lists its names in other tools.
const alsoMeant = "also meant"

// Synonyms records names, without hyphens, that other tools use for a flag. The error for an
// unknown flag with such a name suggests the flag.
func Synonyms(cmd *cobra.Command, flag string, names ...string) {
	// SetAnnotation fails only for a flag that does not exist.
	_ = cmd.Flags().SetAnnotation(flag, alsoMeant, names)
}

// flagError adds to the error of an unknown flag the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	synonym := ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, "--"+f.Name)
		if slices.Contains(f.Annotations[alsoMeant], unknown.GetSpecifiedName()) {
			synonym = "--" + f.Name
		}
	})
	if synonym != "" {
		return fmt.Errorf("%w; did you mean %s?", err, synonym)
	}
	return fmt.Errorf("%w%s", err, DidYouMean("--"+unknown.GetSpecifiedName(), names))
}

// DidYouMean returns a question with the element of names that name probably means, to be appended
// to an error. It returns "" if no name is close.
func DidYouMean(name string, names []string) string {
	if meant := words.Closest(name, names); meant != "" {
		return "; did you mean " + meant + "?"
	}
	return ""
}
