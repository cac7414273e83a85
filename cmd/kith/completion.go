package main

import (
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write a script that completes kith's commands in your shell",
		Long: `Completion writes a script for bash, zsh, fish or powershell, with which Tab completes
kith's subcommands, flags, databases and files.`,
		Example: `  kith completion bash > ~/.local/share/bash-completion/completions/kith
  kith completion zsh > ~/.zfunc/_kith
  kith completion fish > ~/.config/fish/completions/kith.fish
  kith completion powershell > kith.ps1`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cli.Args("SHELL"), cobra.OnlyValidArgs),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(w, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(w)
			case "fish":
				return cmd.Root().GenFishCompletion(w, true)
			}
			return cmd.Root().GenPowerShellCompletionWithDesc(w)
		}),
	}
}

// paths completes the arguments of a command according to their names in its usage: a directory for
// DB, a file for FILE, otherwise nothing.
func paths(use string) cobra.CompletionFunc {
	names := strings.Fields(use)[1:]
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(names) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name := names[min(len(args), len(names)-1)]
		switch {
		case name == "DB" && len(args) == 0:
			return nil, cobra.ShellCompDirectiveFilterDirs
		case strings.Contains(use, "FILE..."), strings.Contains(name, "FILE") && len(args) < len(names):
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// offered sets the values that complete a flag of a command.
func offered(cmd *cobra.Command, flag string, values ...string) {
	// The flag exists, so there is no error.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
