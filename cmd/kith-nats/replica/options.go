package replica

import (
	"errors"
	"fmt"
	"log/slog"

	"kith/db"
)

// Options are the options of Publish. The zero value of each field is a good default.
type Options struct {
	// StreamBytes is the size of the stream; beyond it the oldest changes fall off. A follower that
	// needs one of them begins again with a snapshot. Default: 1 GB. It must be at least 1 MB.
	StreamBytes int64
	// SnapshotBytes is the number of bytes of changes after which a snapshot is put into the object
	// store. The last two are kept. Default: a quarter of StreamBytes. It must be at most half of
	// StreamBytes. While the newest snapshot is so old that the stream could lose a change after
	// it, nothing is published.
	SnapshotBytes int64
	// Replicas is the number of servers of a JetStream cluster that store the log. Default: as many
	// as before; 1 for a new log.
	Replicas int
	// MessageBytes is the maximum size of the data of a message. Default: 512 KB, or less if the
	// server accepts less. A change that is larger becomes several messages.
	MessageBytes int
	// Logger logs interruptions as warnings and snapshots. Default: no log.
	Logger *slog.Logger
	// Ready is called when the log exists, so that followers find it; nil means nothing is called.
	Ready func()
}

const (
	defaultStreamBytes  = 1 << 30
	leastStreamBytes    = 1 << 20
	defaultMessageBytes = 512 << 10
	leastMessageBytes   = 1 << 10
	headerRoom          = 4 << 10 // of the maximum size of a message
)

// resolve returns the options with their defaults. payload is the maximum size of a message that
// the server accepts.
func (o Options) resolve(payload int64) (Options, error) {
	if o.StreamBytes == 0 {
		o.StreamBytes = defaultStreamBytes
	}
	if o.SnapshotBytes == 0 {
		o.SnapshotBytes = o.StreamBytes / 4
	}
	if o.MessageBytes == 0 {
		o.MessageBytes = int(min(defaultMessageBytes, payload-headerRoom, o.StreamBytes/16))
	}
	o.Logger = orLogger(o.Logger)
	switch {
	case o.StreamBytes < leastStreamBytes:
		return o, fmt.Errorf("%w: StreamBytes must be at least %d, got %d", db.ErrInput, leastStreamBytes, o.StreamBytes)
	case o.SnapshotBytes < 1 || o.SnapshotBytes > o.StreamBytes/2:
		return o, fmt.Errorf("%w: SnapshotBytes must be from 1 to half of StreamBytes, %d, got %d", db.ErrInput, o.StreamBytes/2, o.SnapshotBytes)
	case o.Replicas < 0 || o.Replicas > 5:
		return o, fmt.Errorf("%w: Replicas must be from 1 to 5, or 0 for as many as before, got %d", db.ErrInput, o.Replicas)
	case o.MessageBytes < leastMessageBytes || int64(o.MessageBytes) > payload-headerRoom:
		return o, fmt.Errorf("%w: MessageBytes must be from %d to %d, the server's limit without room for headers, got %d",
			db.ErrInput, leastMessageBytes, payload-headerRoom, o.MessageBytes)
	}
	return o, nil
}

// Errors to test for with errors.Is.
var (
	// ErrNoLog is returned for a database that is not published on the server.
	ErrNoLog = errors.New("replica: there is no log")
	// ErrNoSnapshot is returned when no snapshot joins the changes of the log. The publisher takes
	// one soon.
	ErrNoSnapshot = errors.New("replica: no snapshot joins the changes of the log")
	// ErrOther is returned by Publish when another publisher has written to the log since.
	ErrOther = errors.New("replica: another publisher of the database writes to the log")
)
