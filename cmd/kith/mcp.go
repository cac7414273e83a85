package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/kith/internal/mcpserver"
	"kith/db"
)

func newMCP() *cobra.Command {
	write, memory := false, int64(0)
	cmd := &cobra.Command{
		Use:   "mcp DB",
		Short: "Let a language model ask a database (Model Context Protocol)",
		Long: `Mcp serves a database over the Model Context Protocol (MCP), on standard input and
output: a client starts it, and its language model calls the tools predict_links, why,
neighbors, rank_nodes, evaluate, describe and run_statement. They only read. With --write
there are also observe and insert, and run_statement may change the database; files are
never accessed.

A client is configured with this command line, most of them in JSON:

  {"mcpServers": {"kith": {"command": "kith", "args": ["mcp", "/home/ann/social.kith"]}}}

A call takes at most five minutes and returns few rows. Standard error has messages for
people. The end of standard input ends kith mcp, and so do Ctrl-C and SIGTERM.`,
		Example: `  kith mcp social.kith
  kith mcp social.kith --write`,
		Args: cli.Args("DB"),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			serve := func(g *db.DB) error {
				if cli.IsTerminal(cmd.InOrStdin()) {
					fmt.Fprintln(cmd.ErrOrStderr(), "kith mcp waits for a client of the Model Context Protocol on standard input; Ctrl-C ends it.")
				}
				g.Preload()
				return mcpserver.Server{DB: g, Write: write, Version: built()}.Serve(ctx, cmd.InOrStdin(), cmd.OutOrStdout())
			}
			return withExisting(args[0], limited(memory), write, serve)
		}),
	}
	cmd.Flags().BoolVar(&write, "write", false, "offer the tools that change the database too")
	cli.MemoryFlag(cmd.Flags(), &memory)
	return cmd
}
