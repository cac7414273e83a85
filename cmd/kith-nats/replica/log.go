package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

const (
	streamPrefix = "KITH_"         // of the name of a stream, before the identity of the database
	callTime     = 5 * time.Second // for the log server to answer
)

func streamOf(database string) string  { return streamPrefix + database }
func subjectOf(database string) string { return "kith." + database }
func bucketOf(database string) string  { return "kith_" + database }

// changeLog is the log of a database: the stream of its changes, and the object store of its
// snapshots.
type changeLog struct {
	js        jetstream.JetStream
	database  string // identity
	stream    jetstream.Stream
	snapshots jetstream.ObjectStore
	logger    *slog.Logger
}

// makeLog opens the log of a database, makes its missing parts, and gives it the options.
func makeLog(ctx context.Context, js jetstream.JetStream, database string, o *Options) (*changeLog, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	l := &changeLog{js: js, database: database, logger: o.Logger}
	about := map[string]string{"kith-database": database}
	replicas := cmp.Or(o.Replicas, 1)
	before, err := js.Stream(ctx, streamOf(database))
	if err == nil && o.Replicas == 0 {
		replicas = before.CachedInfo().Config.Replicas
	}
	l.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: streamOf(database), Subjects: []string{subjectOf(database)}, Description: "changes of a kith database", Metadata: about,
		Storage: jetstream.FileStorage, Compression: jetstream.S2Compression, Discard: jetstream.DiscardOld,
		MaxBytes: o.StreamBytes, Replicas: replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", streamOf(database), logError(err))
	}
	l.snapshots, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: bucketOf(database), Description: "snapshots of a kith database", Metadata: about,
		Storage: jetstream.FileStorage, Replicas: replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("object store %s: %w", bucketOf(database), logError(err))
	}
	return l, nil
}

// openLog opens the log of a database, or the only log of the server if database is "".
func openLog(ctx context.Context, js jetstream.JetStream, database string, logger *slog.Logger) (*changeLog, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if database == "" {
		var err error
		if database, err = onlyDatabase(ctx, js); err != nil {
			return nil, err
		}
	}
	l := &changeLog{js: js, database: database, logger: logger}
	var err error
	if l.stream, err = js.Stream(ctx, streamOf(database)); err == nil {
		l.snapshots, err = js.ObjectStore(ctx, bucketOf(database))
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, fmt.Errorf("%w: database %s", ErrNoLog, database)
	}
	if err != nil {
		return nil, fmt.Errorf("the log of database %s: %w", database, logError(err))
	}
	return l, nil
}

// onlyDatabase returns the database of the only log of the server.
func onlyDatabase(ctx context.Context, js jetstream.JetStream) (string, error) {
	var all []string
	names := js.StreamNames(ctx)
	for name := range names.Name() {
		if database, ok := strings.CutPrefix(name, streamPrefix); ok {
			all = append(all, database)
		}
	}
	switch err := names.Err(); {
	case err != nil && !errors.Is(err, jetstream.ErrEndOfData):
		return "", logError(err)
	case len(all) == 0:
		return "", fmt.Errorf("%w: no database is published", ErrNoLog)
	case len(all) > 1:
		slices.Sort(all)
		return "", fmt.Errorf("%w: %d databases are published; name one of %s", db.ErrInput, len(all), strings.Join(all, ", "))
	}
	return all[0], nil
}

// logError returns an error of the log server, in plainer words where it is a common one.
func logError(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("the NATS server has no JetStream, unless it has just started; --jetstream enables it: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the NATS server does not answer, or its user may not use JetStream: %w", err)
	}
	return err
}

// position is a place in the log.
type position struct {
	version   uint64    // of a database that has applied all complete frames up to here
	contents  string    // of this database
	sequence  uint64    // of the last message; 0 means none
	publisher string    // that wrote it
	made      time.Time // when the log was made
}

// end returns the position after the last message.
func (l *changeLog) end(ctx context.Context) (position, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return position{}, logError(err)
	}
	at := position{sequence: info.State.LastSeq, made: info.Created}
	if info.State.Msgs == 0 {
		return at, nil
	}
	h, err := l.header(ctx, info.State.LastSeq)
	if err != nil {
		return position{}, err
	}
	at.publisher = h.publisher
	at.version, at.contents = h.complete()
	return at, nil
}

// header returns what the headers of a message say.
func (l *changeLog) header(ctx context.Context, sequence uint64) (header, error) {
	m, err := l.stream.GetMsg(ctx, sequence)
	if err != nil {
		return header{}, fmt.Errorf("message %d of stream %s: %w", sequence, streamOf(l.database), err)
	}
	h, err := readHeader(m.Header)
	if err != nil {
		return h, fmt.Errorf("message %d of stream %s: %w", sequence, streamOf(l.database), err)
	}
	return h, nil
}

// place says where a version is in the log.
type place int

const (
	inLog   place = iota // it is there, or the next message has it
	fallen               // it has fallen off the log, as the oldest do, or was never there because of a gap
	ahead                // the log ends before the version that precedes it
	nothing              // the log has no message
)

// find returns where a version is in the log, and the sequence of the first message of its frame
// or, unless it is inLog, of the next message to come.
func (l *changeLog) find(ctx context.Context, version uint64) (sequence uint64, at place, err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*callTime)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, 0, logError(err)
	}
	low, end := info.State.FirstSeq, info.State.LastSeq+1
	if info.State.Msgs == 0 {
		return end, nothing, nil
	}
	var h, last header // last is the header of the message before high, h the header of high
	high := end
	for low < high { // the messages before low have earlier versions, that at high has this or a later one
		middle := low + (high-low)/2
		m, err := l.header(ctx, middle)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound): // it has fallen off since
			low = middle + 1
		case err != nil:
			return 0, 0, err
		case m.last < version:
			low, last = middle+1, m
		default:
			high, h = middle, m
		}
	}
	switch {
	case high < end && h.first <= version && h.part == 1:
		return high, inLog, nil
	case high < end:
		return end, fallen, nil
	case last.last == version-1:
		return end, inLog, nil
	}
	return end, ahead, nil
}

// retry waits before another attempt, longer after each. It returns false when ctx has ended.
func retry(ctx context.Context, attempt int) bool {
	wait := min(50*time.Millisecond<<min(attempt, 10), 5*time.Second)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// isFinal reports whether an error remains whatever the log server does: one of the database or of
// the contents of the log.
func isFinal(err error) bool {
	return slices.ContainsFunc([]error{
		db.ErrClosed, db.ErrCorrupt, db.ErrMismatch, db.ErrInput, db.ErrReadOnly, db.ErrTooLarge, db.ErrLocked, errDamaged, ErrOther,
	}, func(e error) bool { return errors.Is(err, e) })
}

// orLogger returns l, or a logger that discards everything.
func orLogger(l *slog.Logger) *slog.Logger { return cmp.Or(l, slog.New(slog.DiscardHandler)) }
