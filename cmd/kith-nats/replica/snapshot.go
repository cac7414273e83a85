package replica

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

// A snapshot is a backup in the object store. There are three objects, which are overwritten in
// turn, the oldest first, so the last two snapshots remain while one is written. The metadata of an
// object is written last; without it the object is no snapshot. The objects are read message by
// message, and not through the client's object store: its Get and List wait without end if an
// object is overwritten meanwhile.

const (
	snapshotVersion  = "kith-version"  // of the graph
	snapshotContents = "kith-contents" // see db.Tx.Contents
	slots            = 3
)

func slotName(slot int) string { return fmt.Sprint("snapshot-", slot) }

// snapshot describes an object. An object without contents is no snapshot.
type snapshot struct {
	slot     int
	version  uint64
	contents string
	bytes    uint64
	chunks   string // subject of its messages
	count    uint32 // number of its messages
	digest   string // of its data, as the client writes it
}

// listSlots returns the objects, the newest snapshots first.
func (l *changeLog) listSlots(ctx context.Context) (all []snapshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for slot := range slots {
		s := snapshot{slot: slot}
		o, err := l.snapshots.GetInfo(ctx, slotName(slot))
		switch {
		case err == nil:
			s.bytes, s.count, s.chunks, s.digest = o.Size, o.Chunks, l.chunkPrefix()+o.NUID, o.Digest
			if version, err := strconv.ParseUint(o.Metadata[snapshotVersion], 10, 64); err == nil {
				s.version, s.contents = version, o.Metadata[snapshotContents]
			}
		case !errors.Is(err, jetstream.ErrObjectNotFound):
			return nil, fmt.Errorf("the snapshots of database %s: %w", l.database, logError(err))
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b snapshot) int {
		if (a.contents == "") != (b.contents == "") {
			return strings.Compare(b.contents, a.contents)
		}
		return cmp.Compare(b.version, a.version)
	})
	return all, nil
}

// listSnapshots returns the snapshots, the newest first.
func (l *changeLog) listSnapshots(ctx context.Context) ([]snapshot, error) {
	all, err := l.listSlots(ctx)
	return slices.DeleteFunc(all, func(s snapshot) bool { return s.contents == "" }), err
}

// chunkPrefix is the beginning of the subjects on which the client stores objects.
func (l *changeLog) chunkPrefix() string { return "$O." + bucketOf(l.database) + ".C." }

// chunkStream returns the stream in which the client stores objects.
func (l *changeLog) chunkStream(ctx context.Context) (jetstream.Stream, error) {
	return l.js.Stream(ctx, "OBJ_"+bucketOf(l.database))
}

// takeSnapshot puts a backup of the database into the store. size is the size of its messages.
func (l *changeLog) takeSnapshot(ctx context.Context, g *db.DB, size int) (snapshot, error) {
	all, err := l.listSlots(ctx)
	if err != nil {
		return snapshot{}, err
	}
	s := snapshot{slot: all[slots-1].slot}
	r, w := io.Pipe()
	var b db.Backup
	written := make(chan struct{})
	go func() {
		defer close(written)
		var err error
		b, err = g.WriteTo(ctx, w)
		w.CloseWithError(err) // never fails; nil is io.EOF
	}()
	meta := jetstream.ObjectMeta{Name: slotName(s.slot), Opts: &jetstream.ObjectMetaOptions{ChunkSize: uint32(size)}}
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
	if err := l.snapshots.UpdateMeta(call, meta.Name, meta); err != nil {
		return s, fmt.Errorf("snapshot of database %s: %w", l.database, logError(err))
	}
	l.logger.Info("snapshot", "version", s.version, "bytes", s.bytes)
	return s, nil
}

// removeRemains deletes the data of objects whose publisher died before it had written all of them.
func (l *changeLog) removeRemains(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*callTime)
	defer cancel()
	objects, err := l.listSlots(ctx)
	if err != nil {
		return err
	}
	stream, err := l.chunkStream(ctx)
	if err != nil {
		return logError(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(l.chunkPrefix()+">"))
	if err != nil {
		return logError(err)
	}
	for subject := range info.State.Subjects {
		if !slices.ContainsFunc(objects, func(s snapshot) bool { return s.chunks == subject }) {
			err = errors.Join(err, stream.Purge(ctx, jetstream.WithPurgeSubject(subject)))
		}
	}
	return err
}

// restore makes a database from a snapshot. It returns db.ErrCorrupt for one whose data is not what
// was put into the store.
func (l *changeLog) restore(ctx context.Context, s snapshot, path string, o *db.Options) error {
	stream, err := l.chunkStream(ctx)
	if err != nil {
		return logError(err)
	}
	restored := *o
	restored.Follower = false // Restore writes
	data := &chunkReader{ctx: ctx, stream: stream, snapshot: s, sum: sha256.New()}
	err = db.Restore(ctx, path, &restored, data)
	if errors.Is(err, db.ErrMismatch) {
		if _, end := io.Copy(io.Discard, data); end != nil {
			err = end
		} else if jetstream.GetObjectDigestValue(data.sum) != s.digest {
			err = fmt.Errorf("%w: its digest does not match: %v", db.ErrCorrupt, err)
		}
	}
	if err != nil {
		return fmt.Errorf("snapshot of version %d: %w", s.version, err)
	}
	return nil
}

// chunkReader reads the messages of an object.
type chunkReader struct {
	ctx    context.Context
	stream jetstream.Stream
	snapshot
	read uint32 // number of messages so far
	last uint64 // sequence of the last one
	rest []byte // of the last one
	sum  hash.Hash
}

// Read implements io.Reader. If the object has been overwritten, the error is errOverwritten.
func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.read == r.count {
			return 0, io.EOF
		}
		ctx, cancel := context.WithTimeout(r.ctx, 4*callTime)
		m, err := r.stream.GetMsg(ctx, r.last+1, jetstream.WithGetMsgSubject(r.chunks))
		cancel()
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			err = errOverwritten
		}
		if err != nil {
			return 0, logError(err)
		}
		r.read, r.last, r.rest = r.read+1, m.Sequence, m.Data
		r.sum.Write(m.Data) // never fails
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// errOverwritten is the error of a snapshot with missing messages: a later one has taken
// its place, or it is damaged.
var errOverwritten = errors.New("replica: messages of the snapshot are missing")

// wholeReader is a reader that fills the buffer unless the input ends, so that the chunks of an
// object are large.
type wholeReader struct{ io.Reader }

func (r wholeReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.Reader, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
