package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/score"
)

// options are the flags of the command line.
type options struct {
	backups  []string // URIs of a full backup and of the backups that follow it
	out      string   // URI of the output
	shards   int
	force    bool
	scratch  string
	memory   int64
	question score.Options // Sources and Pairs are URIs; Now is the time at which the job began
}

// newOptions adds the flags to f. They are the flags of kith score, and flags that say where a
// worker finds the backup and its own files.
func newOptions(f *flag.FlagSet) *options {
	o := &options{scratch: filepath.Join(os.TempDir(), "kith-beam"), shards: 1}
	f.Func("backup", "`URI` of a backup; of an incremental one too, after the earlier ones, oldest first", func(uri string) error {
		o.backups = append(o.backups, uri)
		return nil
	})
	f.StringVar(&o.out, "out", o.out, "`URI` to write, such as gs://bucket/links.csv; the extension is the format. Of several shards\n"+
		"the files are links-00000-of-00004.csv and so on")
	f.IntVar(&o.shards, "shards", o.shards, "number of parts of the sources, each of which one worker scores")
	f.BoolVar(&o.force, "force", false, "replace output that exists")
	f.StringVar(&o.scratch, "scratch", o.scratch, "`folder` of a worker's own disk, where the processes of one machine share a copy of the database")
	f.Func("memory", "`bytes` the database of a worker may take, such as 512M or 2G (default: a quarter of its machine's)", func(text string) (err error) {
		o.memory, err = cli.ParseSize(text)
		return err
	})
	o.question.Flags(f)
	return o
}

// maxShards is the largest number of shards that the names of the files can say.
const maxShards = 99_999

// check returns an error for a command line that is wrong. It sets the default runner.
func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is not a flag: kith-beam takes flags only", rest[0])
	}
	if len(o.backups) == 0 {
		return errors.New("--backup URI is missing")
	}
	if o.out == "" {
		return errors.New("--out URI is missing")
	}
	if _, err := score.FormatOf(o.out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	if strings.ContainsAny(o.out, `*?[\`) {
		return fmt.Errorf(`--out %s: a name must not contain any of *?[\`, o.out)
	}
	if err := cli.Within("shards", o.shards, 1, maxShards); err != nil {
		return err
	}
	if err := o.question.CheckFlags(); err != nil {
		return err
	}
	if *runners.Runner == "" {
		*runners.Runner = "prism"
	}
	return nil
}

// shardName returns the URI of the output of a shard.
func (o *options) shardName(shard int) string {
	if o.shards == 1 {
		return o.out
	}
	return shardName(o.out, fmt.Sprintf("%05d", shard), fmt.Sprintf("%05d", o.shards))
}

// shardName returns the URI of the output of a shard. The numbers may be patterns.
func shardName(out, shard, shards string) string {
	ext := path.Ext(out)
	return strings.TrimSuffix(out, ext) + "-" + shard + "-of-" + shards + ext
}
