package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/query"
)

// backup implements the subcommand backup.
type backup struct {
	since  string
	memory int64 // Options.Memory
	stdout io.Writer
	stderr io.Writer
}

func newBackup() *cobra.Command {
	var b backup
	cmd := &cobra.Command{
		Use:   "backup DB FILE",
		Short: "Copy a database into one file",
		Long: `Backup writes the current version of a database into a file with a checksum: graph, models
and observations. The file is written completely or not at all. A backup of that name is
replaced; another file is not. The file - is standard output.

With --since it writes the changes since an earlier backup, which may hold only changes
itself. To restore, name all of them: kith restore monday tuesday wednesday DB.`,
		Example: `  kith backup social.kith monday.kbk
  kith backup social.kith tuesday.kbk --since monday.kbk
  kith backup social.kith - | ssh vault 'cat > social.kbk'`,
		Args: cobra.MatchAll(cli.Args("DB", "FILE"), filesFrom(1, 0)),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			b.stdout, b.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return b.run(ctx, args[0], args[1])
		}),
	}
	cmd.Flags().StringVar(&b.since, "since", "", "write only the changes since this earlier backup")
	cli.MemoryFlag(cmd.Flags(), &b.memory)
	return cmd
}

func (b *backup) run(ctx context.Context, path, file string) error {
	if err := b.replaceable(file); err != nil {
		return err
	}
	return withReadOnly(path, limited(b.memory), func(g *db.DB) error {
		if file == "-" {
			done, err := b.write(ctx, g, b.stdout)
			if err != nil {
				return err
			}
			return cli.WriteLine(b.stderr, "stdout: "+backupSummary(done))
		}
		var done db.Backup
		err := cli.WriteFile(ctx, file, func(w io.Writer) (err error) {
			done, err = b.write(ctx, g, w)
			return err
		})
		if err != nil {
			return err
		}
		return cli.WriteLine(b.stdout, file+": "+backupSummary(done))
	})
}

func (b *backup) write(ctx context.Context, g *db.DB, w io.Writer) (db.Backup, error) {
	if b.since == "" {
		return g.WriteTo(ctx, w)
	}
	earlier, err := query.OpenFile(ctx, b.since, os.O_RDONLY, 0)
	if err != nil {
		return db.Backup{}, err
	}
	defer earlier.Close()
	return g.WriteSince(ctx, w, earlier)
}

// replaceable returns an error if file exists and is not a backup, or is the backup that --since
// names.
func (b *backup) replaceable(file string) error {
	if file == "-" {
		return nil
	}
	since, err := os.Stat(b.since)
	if info, e := os.Stat(file); err == nil && e == nil && os.SameFile(info, since) {
		return fmt.Errorf("%s: the new backup would replace the one that it depends on", file)
	}
	return db.CheckBackupFile(file)
}

// backupSummary describes a backup.
func backupSummary(b db.Backup) string {
	if b.Since > 0 {
		return fmt.Sprintf("version %d since %d, %d records of %d, %d bytes", b.Seq, b.Since, b.Changed, b.Entries, b.Bytes)
	}
	return fmt.Sprintf("version %d, %d records, %d bytes", b.Seq, b.Entries, b.Bytes)
}

func newRestore() *cobra.Command {
	memory := int64(0)
	cmd := &cobra.Command{
		Use:   "restore FILE... DB",
		Short: "Make a database from a backup",
		Long: `Restore makes a database from a backup, or from a backup and the backups of changes that
follow it, oldest first. DB must not exist or be an empty directory. The file - is
standard input. The database is made completely or not at all: it is written to
DB.partial and renamed after everything has been read, checked and synced.

The copy does not follow the database: kith-nats, or a Go program with Options.Follower, makes
a copy that does. It keeps changes as the database did; see kith changes.`,
		Example: `  kith restore monday.kbk social.kith
  kith restore monday.kbk tuesday.kbk wednesday.kbk social.kith
  ssh vault 'cat social.kbk' | kith restore - social.kith`,
		Args: cobra.MatchAll(cli.AtLeast("FILE", "DB"), filesFrom(0, 1)),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			path, o := args[len(args)-1], limited(memory)
			if err := restore(ctx, cmd.InOrStdin(), args[:len(args)-1], path, o); err != nil {
				return err
			}
			return withReadOnly(path, o, func(g *db.DB) error {
				s, err := g.Stats()
				if err != nil {
					return err
				}
				return cli.WriteLine(cmd.OutOrStdout(), path+": "+describeSize(&s))
			})
		}),
	}
	cli.MemoryFlag(cmd.Flags(), &memory)
	return cmd
}

func restore(ctx context.Context, stdin io.Reader, files []string, path string, o *db.Options) error {
	var backups []io.Reader
	for _, name := range files {
		if name == "-" {
			in := query.Pipe(ctx, stdin)
			defer in.Close() // never fails
			backups = append(backups, in)
			continue
		}
		f, err := query.OpenFile(ctx, name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		backups = append(backups, f)
	}
	return db.Restore(ctx, path, o, backups...)
}
