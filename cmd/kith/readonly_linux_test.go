package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kith/db"
)

// closedAndUnclosed makes a directory with a database that was closed, g.kith, and a copy of its
// files from before that, unclosed.kith.
func closedAndUnclosed(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "g.kith")
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	err = g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge("ann", "bob") })
	err = errors.Join(err, os.CopyFS(filepath.Join(dir, "unclosed.kith"), os.DirFS(path)), g.Close())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// On a read-only file system shell and check can read, and say that they only read. Writes are
// refused with the reason.
func TestReadOnlyFileSystem(t *testing.T) {
	notShort(t)
	dir := closedAndUnclosed(t)
	const why = `cannot be written to: read-only file system\n`
	const note = `^note: read only: g.kith ` + why
	for _, c := range []struct{ command, want string }{
		{`kith check g.kith`, note + `g.kith: ok: 2 nodes, 1 edge`},
		{`kith shell g.kith -c "NEIGHBORS OF 'ann';"`, note + `.*"bob"`},
		{`kith shell g.kith -c "CHECK;"`, note + `{"check":"ok"}`},
		{`kith check g.kith 2>/dev/null & kith check g.kith 2>/dev/null && wait $!`, `^(g.kith: ok: 2 nodes, 1 edge, 0 models\n){2}$`},
		{`kith shell g.kith --read-only -c "SHOW STATS;"`, `^{"name":"nodes","value":2}`},
		{`kith backup g.kith - > /dev/null`, `^stdout: version`},
		{`! kith shell g.kith -c "INSERT EDGES 1 -> 2;"`, note + `kith: 1:1: read only: the database is open for reading only\n`},
		{`! kith shell g.kith -c "CREATE MODEL m USING ppr;"`, `kith: 1:14: read only: the database is open`},
		{`! kith shell g.kith -c "BEGIN;"`, `did you mean BEGIN READ ONLY\?`},
		{`! kith check --repair g.kith`, `^kith: read only: g.kith ` + why},
		{`! kith compact g.kith`, `^kith: read only: g.kith ` + why},
		{`echo 1 2 | (! kith load g.kith -)`, `^kith: read only: g.kith ` + why},
		{`echo 1 2 | (! kith load new.kith -)`, `^kith: mkdir new.kith: read-only file system\n$`},
		{`kith backup g.kith - | (! kith restore - new.kith)`, `kith: mkdir new.kith.partial: read-only file system\n`},
		{`! kith check unclosed.kith`, `kith: read only: unclosed.kith was not closed, .*open a copy\n$`},
		{`! kith shell unclosed.kith -c "SHOW STATS;"`, `kith: read only: unclosed.kith was not closed, .*open a copy\n$`},
		{`! kith backup unclosed.kith - > /dev/null`, `^kith: read only: unclosed.kith was not closed, .*open a copy\n$`},
	} {
		t.Run(strings.ReplaceAll(c.command, "/", "_"), func(t *testing.T) {
			t.Parallel()
			out := onReadOnly(t, dir, c.command)
			if !regexp.MustCompile(`(?s)` + c.want).MatchString(out) {
				t.Errorf("%s\nprints %s\nwant %s", c.command, out, c.want)
			}
		})
	}
}

// On a full file system shell and check can read, also a database that was not closed, X. A write
// to a closed one is refused. The other one has space again when the log of its last writes is a
// table.
func TestFullFileSystem(t *testing.T) {
	notShort(t)
	dir := closedAndUnclosed(t)
	const fill = "dd if=/dev/zero of=fill bs=64k 2>/dev/null; "
	for _, c := range []struct{ command, want string }{
		{`kith check X`, `X: ok: 2 nodes, 1 edge`},
		{`kith shell X -c "NEIGHBORS OF 'ann';"`, `"bob"`},
		{`kith shell X --read-only -c "NEIGHBORS OF 'ann';" || kith shell X -c "NEIGHBORS OF 'ann';"`, `"bob"`},
		{`kith shell X -c "CHECK;"`, `{"check":"ok"}`},
		{`kith backup X - | wc -c`, `[1-9]`},
		{`kith shell X -c "SHOW STATS;"`, `{"name":"nodes","value":2}`},
		{`! kith shell g.kith -c "INSERT EDGES 1 -> 2;"`, `disk full: .* are free, a write needs 1.0 MB`},
		{`echo 1 2 | (! kith load g.kith -)`, `disk full`},
		{`kith shell unclosed.kith -c "INSERT EDGES 1 -> 2; CHECK;"`, `{"check":"ok"}`},
	} {
		for _, name := range []string{"g.kith", "unclosed.kith"} {
			if name != "g.kith" && !strings.Contains(c.command, "X") {
				continue
			}
			command := strings.ReplaceAll(c.command, "X", name)
			t.Run(strings.ReplaceAll(command, "/", "_"), func(t *testing.T) {
				t.Parallel()
				out := onDisk(t, dir, fill+command)
				if !regexp.MustCompile(`(?s)` + strings.ReplaceAll(c.want, "X", name)).MatchString(out) {
					t.Errorf("%s\nprints %s\nwant %s", command, out, c.want)
				}
			})
		}
	}
}

// onReadOnly runs a command on a read-only file system with the contents of a directory, and
// returns its output.
func onReadOnly(t *testing.T, dir, command string) string {
	t.Helper()
	return onDisk(t, dir, `cd ..; mount -o remount,ro "$1" || { echo cannot mount; exit 9; }; cd "$1"; `+command)
}

// onDisk runs a command on a file system of 96 MB with the contents of a directory, and returns
// its output. It skips the test if the system does not allow the mount.
func onDisk(t *testing.T, dir, command string) string {
	t.Helper()
	script := `mount -t tmpfs -o size=96m none "$1" || { echo cannot mount; exit 9; }; cp -r "$2"/. "$1" || exit; cd "$1"; ` + command
	cmd := exec.Command("sh", "-c", script, "sh", t.TempDir(), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if bad := (*exec.ExitError)(nil); err != nil && !errors.As(err, &bad) || strings.Contains(string(out), "cannot mount") {
		t.Skipf("no file system of its own: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%s: %v: %s", command, err, out)
	}
	return string(out)
}
