package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"kith/db"
)

// A snapshot is a backup in the object store. Its metadata is written last; without it the object is no snapshot.

const (
	snapshotVersion  = "kith-version"  // of the graph
	snapshotContents = "kith-contents" // see db.Tx.Contents
	keptSnapshots    = 2
)

// snapshot describes a snapshot.
type snapshot struct {
	name     string
	version  uint64
	contents string
	bytes    uint64
}

// listSnapshots returns the snapshots, the newest first, and the names of the objects that are none.
func (l *changeLog) listSnapshots(ctx context.Context) (all []snapshot, others []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	objects, err := l.snapshots.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil, fmt.Errorf("the snapshots of database %s: %w", l.database, logError(err))
	}
	for _, o := range objects {
		version, err := strconv.ParseUint(o.Metadata[snapshotVersion], 10, 64)
		if err != nil {
			others = append(others, o.Name)
			continue
		}
		all = append(all, snapshot{o.Name, version, o.Metadata[snapshotContents], o.Size})
	}
	slices.SortFunc(all, func(a, b snapshot) int { return cmp.Compare(b.version, a.version) })
	return all, others, nil
}

// takeSnapshot puts a backup of the database into the store. size is that of its messages.
func (l *changeLog) takeSnapshot(ctx context.Context, g *db.DB, size int) (snapshot, error) {
	s := snapshot{name: nuid.Next()}
	r, w := io.Pipe()
	var b db.Backup
	written := make(chan struct{})
	go func() {
		defer close(written)
		var err error
		b, err = g.WriteTo(ctx, w)
		w.CloseWithError(err) // never fails; nil is io.EOF
	}()
	meta := jetstream.ObjectMeta{Name: s.name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: uint32(size)}}
	info, err := l.snapshots.Put(ctx, meta, wholeReader{r})
	r.CloseWithError(context.Canceled) // so that the backup ends if Put has failed
	<-written
	if err != nil {
		return s, fmt.Errorf("snapshot of database %s: %w", l.database, logError(err))
	}
	s.version, s.contents, s.bytes = b.Graph, b.Contents, info.Size
	meta.Metadata = map[string]string{snapshotVersion: strconv.FormatUint(s.version, 10), snapshotContents: s.contents}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := l.snapshots.UpdateMeta(call, s.name, meta); err != nil {
		return s, fmt.Errorf("snapshot of database %s: %w", l.database, logError(err))
	}
	l.logger.Info("snapshot", "version", s.version, "bytes", s.bytes)
	if err := l.removeSnapshots(ctx); err != nil {
		l.logger.Warn("old snapshots remain", "err", err) // until the next one
	}
	return s, nil
}

// removeSnapshots deletes all snapshots but the newest, and objects that are incomplete.
func (l *changeLog) removeSnapshots(ctx context.Context) error {
	all, excess, err := l.listSnapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range all[min(keptSnapshots, len(all)):] {
		excess = append(excess, s.name)
	}
	for _, name := range excess {
		call, cancel := context.WithTimeout(ctx, callTime)
		err = errors.Join(err, l.snapshots.Delete(call, name))
		cancel()
	}
	return err
}

// removeRemains deletes the data of objects whose publisher died before it had written all of them.
func (l *changeLog) removeRemains(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*callTime)
	defer cancel()
	objects, err := l.snapshots.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	s, err := l.js.Stream(ctx, "OBJ_"+bucketOf(l.database))
	if err != nil {
		return err
	}
	prefix := "$O." + bucketOf(l.database) + ".C."
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		whole := slices.ContainsFunc(objects, func(o *jetstream.ObjectInfo) bool { return o.NUID == strings.TrimPrefix(subject, prefix) })
		if !whole {
			err = errors.Join(err, s.Purge(ctx, jetstream.WithPurgeSubject(subject)))
		}
	}
	return err
}

const (
	stallTime = 30 * time.Second // without a byte of a snapshot, after which reading it fails
	readTime  = 24 * time.Hour   // for a snapshot to be read; without a deadline the client allows seconds
)

// restore makes a database from a snapshot.
func (l *changeLog) restore(ctx context.Context, s snapshot, path string, o *db.Options) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	object, err := l.snapshots.Get(ctx, s.name)
	if err != nil {
		return fmt.Errorf("snapshot of version %d: %w", s.version, logError(err))
	}
	defer object.Close() // only read
	stalled := time.AfterFunc(stallTime, cancel)
	defer stalled.Stop()
	restored := *o
	restored.Follower = false // Restore writes
	read := readerFunc(func(p []byte) (int, error) {
		n, err := object.Read(p)
		if n > 0 {
			stalled.Reset(stallTime)
		}
		return n, err
	})
	if err := db.Restore(ctx, path, &restored, read); err != nil {
		return fmt.Errorf("snapshot of version %d: %w", s.version, err)
	}
	return nil
}

// readerFunc is an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// wholeReader is a reader that fills the buffer unless the input ends, so that the chunks of an object are large.
type wholeReader struct{ io.Reader }

func (r wholeReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.Reader, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
