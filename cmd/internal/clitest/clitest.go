// Package clitest runs the scripts that test the command-line tools.
package clitest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command of the scripts.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Run runs the scripts in testdata, with the given commands and exits. With update, it replaces the
// expected outputs by the actual ones. $DATA is the folder of the data sets and $CASES the folder
// of small inputs; the conditions [data] and [cases] say whether they exist, [mounts] whether a
// process may mount a file system of its own, and [long] whether the test binary was given -long.
func Run(t *testing.T, update bool, commands map[string]Command) {
	shared, err := filepath.Abs("../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	data, cases := filepath.Join(shared, "data"), filepath.Join(shared, "cases")
	commands["exits"] = exits
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATA", data)
			env.Setenv("CASES", cases)
			env.Setenv("GOMEMLIMIT", "256MiB") // a store of small parts opens faster
			return nil
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "data":
				_, err := os.Stat(filepath.Join(data, "snap"))
				return err == nil, nil
			case "cases":
				_, err := os.Stat(cases)
				return err == nil, nil
			case "mounts":
				mount := exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", t.TempDir())
				return mount.Run() == nil, nil
			case "long":
				return flag.Lookup("long").Value.String() == "true", nil
			}
			return false, fmt.Errorf("condition %s is not known", condition)
		},
		Cmds: commands,
	})
}

// exits CODE COMMAND... runs a command that must end with the given exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, exit := 0, (*exec.ExitError)(nil)
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
