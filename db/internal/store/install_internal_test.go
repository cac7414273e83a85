package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A repair that is interrupted while its files are moved is finished by the next open, wherever
// that was.
func TestInstallIsFinished(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	old := map[string]string{
		"MANIFEST": "old", "INVENTORY": "old", "000001.sst": "kept", "000002.sst": "damaged", "000003.sst.aside": "old", "00001.mem": "old",
		"LOCK": "1", "notes": "mine", "old.sst": "mine",
	}
	repaired := map[string]string{"MANIFEST": "new", "INVENTORY": "new", "NEWEST": "new", "000001.sst": "kept", "000004.sst": "new"}
	want := map[string]string{"LOCK": "1", "notes": "mine", "old.sst": "mine"}
	maps.Copy(want, repaired)
	for steps := 0; ; steps++ {
		path := t.TempDir()
		write := func(dir string, files map[string]string) {
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(path, old)
		if err := os.Mkdir(filepath.Join(path, "000005.sst"), 0o700); err != nil { // damage
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(path, repairDraft), 0o700); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(path, repairDraft), repaired)
		if err := prepareInstall(path); err != nil {
			t.Fatal(err)
		}
		left := steps
		first := install(path, func() error {
			if left--; left < 0 {
				return interrupted
			}
			return nil
		})
		if first != nil && !errors.Is(first, interrupted) {
			t.Fatal(first)
		}
		if err := install(path, nil); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, e := range entries {
			if b, err := os.ReadFile(filepath.Join(path, e.Name())); err == nil {
				got[e.Name()] = string(b)
			} else if e.Name() != "000005.sst.left-out" {
				t.Errorf("after %d steps: %s is there", steps, e.Name())
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("after %d steps: %v, want %v", steps, got, want)
		}
		if first == nil {
			return
		}
	}
}
