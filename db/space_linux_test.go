package db_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kith/db"
)

// mounted runs a part of a test in a process that may mount file systems, with a directory for
// mounts. It skips the test if the system does not allow that. The part prints what is wrong.
func mounted(t *testing.T, part string) {
	cmd := child(t, part, t.TempDir())
	cmd.Stderr = nil
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if bad := (*exec.ExitError)(nil); err != nil && !errors.As(err, &bad) || strings.Contains(string(out), "cannot mount") {
		t.Skipf("no file system to fill: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

// linuxChildren are the parts of tests that need Linux.
func linuxChildren() map[string]func(path string) error {
	return map[string]func(string) error{"full": fillDisk, "apply": applyOnFullDisk, "compact": compactOnFullDisk, "load": loadOnSmallDisk, "readonly": openReadOnlyDisk, "read": read,
		"last byte": closeOnFullDisk, "small": writeOnSmallDisk, "beside": writeBesideAnother, "inodes": writeWithoutInodes}
}

func mount(at string, flags uintptr, options string) error {
	if err := unix.Mount("none", at, "tmpfs", flags, options); err != nil {
		return fmt.Errorf("cannot mount: %w", err)
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "full")
}

// fillDisk fills the disk under an open database from outside, and frees space again.
func fillDisk(at string) error {
	if err := mount(at, 0, "size=96m"); err != nil {
		return err
	}
	path := filepath.Join(at, "g")
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	full := func() error {
		if err := addDone(g, -1); !errors.Is(err, db.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("on a full disk: %w", err)
		}
		return nil
	}
	rest := filepath.Join(at, "rest")
	err = errors.Join(addDone(g, 0), ballast(g, 0), fill(rest), full(), full(), edgesOfDone(g, 1),
		os.Remove(rest), addDone(g, 1), ballast(g, 1), fill(rest), full())
	if err != nil {
		return err
	}
	if err := g.Close(); err != nil && !errors.Is(err, db.ErrFull) {
		return err
	}
	if err := os.Remove(rest); err != nil {
		return err
	}
	if g, err = db.Open(path, &db.Options{Memory: 64 << 20}); err != nil {
		return err
	}
	return errors.Join(g.Check(context.Background()), addDone(g, 2), edgesOfDone(g, 3), g.Close())
}

// fill writes a file until the disk has half a megabyte left, which is not enough for a commit.
func fill(name string) error {
	f, err := os.Create(name)
	for err == nil {
		_, err = f.Write(make([]byte, 1<<16))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	return errors.Join(err, f.Truncate(at-1<<19), f.Close())
}

func TestCloseOnFullDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "last byte")
}

// closeOnFullDisk closes a database on a disk of which another program has taken the last byte, and
// reads it there.
func closeOnFullDisk(at string) error {
	if err := mount(at, 0, "size=96m"); err != nil {
		return err
	}
	ctx, path, o := context.Background(), filepath.Join(at, "g"), &db.Options{Memory: 64 << 20}
	rest, more, left := filepath.Join(at, "rest"), filepath.Join(at, "more"), 0
	for round := range 3 {
		g, err := db.Open(path, o)
		if err != nil {
			return err
		}
		for i := range 3 * round { // in the first round the table of the log fits into the space reserved for the log
			if err := ballast(g, i); err != nil {
				return err
			}
		}
		if err := errors.Join(addDone(g, round), takeAll(rest), g.Close(), takeAll(more)); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		logs, err := filepath.Glob(filepath.Join(path, "*.mem"))
		if left += len(logs); err != nil {
			return err
		}
		if g, err = db.Open(path, o); err != nil {
			return fmt.Errorf("opening on a full disk: %w", err)
		}
		if err := addDone(g, -1); !errors.Is(err, db.ErrFull) {
			return fmt.Errorf("a write on a full disk: %w", err)
		}
		reads := errors.Join(edgesOfDone(g, round+1), g.Check(ctx), g.Close())
		if err := errors.Join(reads, db.Diagnose(ctx, path, o), readAlone(path, round+1), os.Remove(rest), os.Remove(more)); err != nil {
			return fmt.Errorf("reading on a full disk, round %d: %w", round, err)
		}
	}
	if left == 0 {
		return errors.New("no log was left")
	}
	return errors.Join(openAndClose(path, o), readAlone(path, 3), db.Diagnose(ctx, path, o))
}

// readAlone opens a database for reading only, and counts its commits.
func readAlone(path string, want int) error {
	g, err := db.Open(path, &db.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(edgesOfDone(g, want), g.Close())
}

// takeAll writes a file until the disk has not one byte left.
func takeAll(name string) error {
	f, err := os.Create(name)
	for size := 1 << 18; size > 0 && err == nil; {
		if _, err = f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size, err = size/2, nil
		}
	}
	return errors.Join(err, f.Close())
}

func TestWriteOnSmallDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "small")
}

// writeOnSmallDisk makes a small database with much memory on a small disk.
func writeOnSmallDisk(at string) error {
	if err := mount(at, 0, "size=6m"); err != nil {
		return err
	}
	path, ctx := filepath.Join(at, "g"), context.Background()
	for i := range 5 {
		g, err := db.Open(path, &db.Options{Memory: 4 << 30})
		if err != nil {
			return err
		}
		if err := errors.Join(addDone(g, 2*i), addDone(g, 2*i+1), edgesOfDone(g, 2*i+2), g.Check(ctx), g.Close()); err != nil {
			return err
		}
	}
	return db.CompactDir(ctx, path, nil)
}

func TestWriteBesideAnother(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "beside")
}

// writeBesideAnother makes tables while another program fills the disk and frees it, again and
// again.
func writeBesideAnother(at string) error {
	if err := mount(at, 0, "size=192m"); err != nil {
		return err
	}
	ctx, path, o := context.Background(), filepath.Join(at, "g"), &db.Options{Memory: 64 << 20}
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		rest := filepath.Join(at, "rest")
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := errors.Join(takeAll(rest), os.Remove(rest)); err != nil {
				stopped <- err
				return
			}
		}
	}()
	done, refused := 0, 0
	for range 160 {
		if err := ballast(g, done); err != nil && !errors.Is(err, db.ErrFull) {
			return err
		}
		switch err := addDone(g, done); {
		case err == nil:
			done++
		case errors.Is(err, db.ErrFull):
			refused++
		default:
			return err
		}
	}
	close(stop)
	if err := errors.Join(<-stopped, edgesOfDone(g, done), g.Close()); err != nil {
		return err
	}
	if g, err = db.Open(path, o); err != nil {
		return err
	}
	fmt.Println(done, "commits,", refused, "refused")
	return errors.Join(edgesOfDone(g, done), g.Check(ctx), g.Close())
}

func TestWriteWithoutInodes(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "inodes")
}

// writeWithoutInodes makes and merges tables while other files take all inodes, and when these are
// free again.
func writeWithoutInodes(at string) error {
	if err := mount(at, 0, "size=256m,nr_inodes=4096"); err != nil {
		return err
	}
	path, o := filepath.Join(at, "g"), &db.Options{Memory: 64 << 20}
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	done := 0
	for round := range 3 {
		var taken []string
		for {
			name := filepath.Join(at, fmt.Sprint("taken", len(taken)))
			f, err := os.Create(name)
			if errors.Is(err, syscall.ENOSPC) {
				break
			}
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			if taken = append(taken, name); len(taken)%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		refused := 0
		for i := range 60 {
			err := cmp.Or(ballast(g, 60*round+i), addDone(g, done))
			switch {
			case err == nil:
				done++
			case !errors.Is(err, db.ErrFull):
				return fmt.Errorf("without inodes: %w", err)
			default:
				refused++
			}
			if refused == 2 {
				break
			}
		}
		for _, name := range taken {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
		for i := range 20 {
			if err := errors.Join(ballast(g, i), addDone(g, done)); err != nil {
				return fmt.Errorf("with inodes: %w", err)
			}
			done++
		}
	}
	if err := errors.Join(edgesOfDone(g, done), g.Check(context.Background()), g.Close()); err != nil {
		return err
	}
	if g, err = db.Open(path, o); err != nil {
		return err
	}
	return errors.Join(edgesOfDone(g, done), g.Check(context.Background()), g.Close())
}

func TestCompactOnFullDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "compact")
}

// compactOnFullDisk compacts a database on a disk that cannot hold its tables twice.
func compactOnFullDisk(at string) error {
	if err := mount(at, 0, "size=96m"); err != nil {
		return err
	}
	path, o, ctx := filepath.Join(at, "g"), &db.Options{Memory: 64 << 20}, context.Background()
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	rest := filepath.Join(at, "rest")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 { // 5 MB that do not compress
		err := g.Update(ctx, func(tx *db.Tx) error {
			for j := range 50 {
				v := make([]float32, 1250)
				for k := range v {
					v[k] = rng.Float32()
				}
				if err := tx.PutNode(db.Node{Key: db.Int(int64(50*i + j)), Features: v}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := errors.Join(g.Close(), db.CompactDir(ctx, path, o), fill(rest)); err != nil {
		return err
	}
	if err := db.CompactDir(ctx, path, o); !errors.Is(err, db.ErrFull) {
		return fmt.Errorf("on a full disk: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err := errors.Join(err, os.Remove(rest), db.CompactDir(ctx, path, o)); err != nil {
		return fmt.Errorf("with room again: %w; %v", err, left)
	}
	if g, err = db.Open(path, o); err != nil {
		return err
	}
	return errors.Join(g.Check(ctx), g.Close())
}

func TestLoadOnSmallDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "load")
}

// loadOnSmallDisk loads a list that has no end.
func loadOnSmallDisk(at string) error {
	if err := mount(at, 0, "size=16m"); err != nil {
		return err
	}
	g, err := db.Open(filepath.Join(at, "g"), &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := g.Load(ctx, &endless{}, db.LoadOptions{}); !errors.Is(err, db.ErrFull) {
		return fmt.Errorf("a list without an end: %w", err)
	}
	return errors.Join(addDone(g, 1), edgesOfDone(g, 1), g.Check(ctx), g.Close())
}

func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	mounted(t, "readonly")
}

// openReadOnlyDisk opens a database on a read-only disk.
func openReadOnlyDisk(at string) error {
	if err := mount(at, 0, "size=96m"); err != nil {
		return err
	}
	path := filepath.Join(at, "g")
	unclosed := filepath.Join(at, "unclosed") // as a killed process leaves it
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	if err == nil {
		err = errors.Join(addDone(g, 1), os.CopyFS(unclosed, os.DirFS(path)), g.Close())
	}
	if err == nil {
		err = unix.Mount("none", at, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	if err != nil {
		return err
	}
	_, repairing := db.Repair(context.Background(), path, nil, db.RepairOptions{})
	_, making := db.Open(filepath.Join(at, "new"), nil)
	for what, err := range map[string]error{
		"open": openAndClose(path, nil), "open unclosed": openAndClose(unclosed, nil), "make": making, "repair": repairing,
		"compact": db.CompactDir(context.Background(), path, nil),
	} {
		if !errors.Is(err, syscall.EROFS) || what != "make" && !errors.Is(err, db.ErrReadOnly) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	reading := &db.Options{ReadOnly: true}
	if err := openAndClose(unclosed, reading); !errors.Is(err, db.ErrReadOnly) || !strings.Contains(err.Error(), "open a copy") {
		return fmt.Errorf("open unclosed for reading: %w", err)
	}
	if g, err = db.Open(path, reading); err != nil {
		return fmt.Errorf("open for reading: %w", err)
	}
	if err := addDone(g, 2); !errors.Is(err, db.ErrReadOnly) {
		return fmt.Errorf("a write: %w", err)
	}
	return errors.Join(edgesOfDone(g, 1), g.Close(), db.Diagnose(context.Background(), path, reading))
}

func openAndClose(path string, o *db.Options) error {
	g, err := db.Open(path, o)
	if err == nil {
		err = g.Close()
	}
	return err
}
