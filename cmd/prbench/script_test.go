package main

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// With -update, outputs that differ from the files they are compared with replace them.
var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"prbench": main}) }

// TestScript runs the tool as people do; see testdata.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			data, err := filepath.Abs("../../../shared/data")
			env.Setenv("DATA", data)
			return err
		},
	})
}
