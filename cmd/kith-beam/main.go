package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	// The implementations register themselves: the file systems by the scheme of a URI, the runners
	// by their names, and the calls of functions that need no reflection by the types of the
	// functions.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"

	"kith/cmd/internal/cli"
)

func main() {
	o := newOptions(flag.CommandLine)
	flag.Usage = func() { usage(flag.CommandLine) }
	flag.Parse()
	register()
	beam.Init() // in a worker it serves the engine, and does not return
	ctx, stop := cli.Interruptible(context.Background())
	defer stop()
	err := o.check(flag.Args())
	if err != nil {
		cli.PrintError(os.Stderr, "kith-beam", err)
		fmt.Fprintln(os.Stderr, "'kith-beam --help' tells more")
		os.Exit(2)
	}
	if err = errors.Join(run(ctx, o), copies.close()); err != nil {
		cli.PrintError(os.Stderr, "kith-beam", err)
		os.Exit(1)
	}
}

// run runs a job to its end, or submits it with --async.
func run(ctx context.Context, o *options) error {
	j, err := newJob(ctx, o)
	if err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	j.build(s)
	if _, err := beam.Run(ctx, *runners.Runner, p); err != nil {
		return errors.Join(fmt.Errorf("the job failed: %w", err), j.removeParts(context.WithoutCancel(ctx)))
	}
	if *jobopts.Async {
		return nil
	}
	_, err = fmt.Printf("%s: %d of %d shards\n", o.out, o.shards, o.shards)
	return err
}

// usage prints the flags of kith-beam. Beam's documentation describes the flags of Beam.
func usage(f *flag.FlagSet) {
	own := flag.NewFlagSet("", flag.ContinueOnError)
	newOptions(own)
	fmt.Fprint(f.Output(), "usage: kith-beam --backup URI --out URI [--shards N] [--runner NAME] [FLAG...]\n\n",
		"Kith-beam scores the links of every node of a backup on an Apache Beam engine, as kith score does.\n"+
			"The files of --sources and --pairs are URIs too.\n\n")
	own.SetOutput(f.Output())
	own.PrintDefaults()
	fmt.Fprint(f.Output(), "\nFlags of Beam: --runner (prism, dataflow, flink, spark), --endpoint, --environment_type, --project, --region and others.\n")
}
