package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

const (
	window       = 64               // messages that are sent and not yet stored
	maxRead      = 16               // changes that are read and not yet sent; one may be large
	storeTime    = 10 * time.Second // for the server to store a message
	lookTime     = 5 * time.Second  // between two looks at the log
	messageExtra = 600              // bytes that a message takes in the stream besides its data, about
)

// session publishes from a position until something fails. Each message states the sequence of the
// message before it, and the server refuses it if the last message is a different one. So the log
// has the order of the changes, whatever is lost.
type session struct {
	*publisher
	position
	first   uint64          // sequence of the position when the session began
	outer   context.Context // of the publisher
	ctx     context.Context // of the session
	fail    context.CancelCauseFunc
	acks    chan jetstream.PubAckFuture
	stored  chan struct{} // closed when all messages are stored after acks was closed
	changes chan change
	next    *change // has been received, and is not yet sent
}

// change is a change with its binary form, or an error.
type change struct {
	db.Change
	bytes []byte
	err   error
}

func newSession(ctx context.Context, p *publisher, at position) *session {
	s := &session{publisher: p, position: at, first: at.sequence, outer: ctx}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	s.acks, s.changes, s.stored = make(chan jetstream.PubAckFuture, window), make(chan change, maxRead), make(chan struct{})
	return s
}

func (s *session) run() error {
	var all sync.WaitGroup
	all.Go(s.read)
	all.Go(s.confirm)
	all.Go(s.watch)
	all.Go(func() { s.fail(s.send()) })
	all.Wait()
	return context.Cause(s.ctx)
}

// read reads the changes of the database.
func (s *session) read() {
	for c, err := range s.db.Changes(s.ctx, s.version) {
		next := change{Change: c, err: err}
		if err == nil {
			next.bytes, next.err = c.MarshalBinary()
		}
		select {
		case s.changes <- next:
		case <-s.ctx.Done():
			return
		}
		if next.err != nil {
			return
		}
	}
}

// confirm waits for the server to store each message.
func (s *session) confirm() {
	limit := time.NewTimer(storeTime)
	defer limit.Stop()
	for {
		var ack jetstream.PubAckFuture
		more := false
		select {
		case ack, more = <-s.acks:
			if !more {
				close(s.stored)
				return
			}
		case <-s.ctx.Done():
			return
		}
		limit.Reset(storeTime)
		select {
		case <-ack.Ok():
			s.wrote.Store(true)
		case err := <-ack.Err():
			s.fail(err)
			return
		case <-limit.C:
			s.fail(errors.New("the NATS server does not confirm a message"))
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// watch looks from time to time whether the log is still there and no other publisher writes to it,
// which otherwise only the next message would tell.
func (s *session) watch() {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		end, err := s.log.end(s.ctx)
		if err == nil && end.publisher != "" && end.publisher != s.id && end.sequence > s.first {
			err = fmt.Errorf("another publisher writes to the log of database %s", s.log.database)
		}
		if err == nil {
			err = s.hasSnapshot(s.ctx)
		}
		if err != nil {
			s.fail(err)
			return
		}
	}
}

// send sends the changes, as many in a message as there are and fit.
func (s *session) send() error {
	for {
		f, err := s.frame()
		if err != nil {
			close(s.acks)
			select {
			case <-s.stored:
			case <-s.ctx.Done():
			}
			return err
		}
		if most := s.options.StreamBytes / 2; int64(len(f.data)) > most {
			return fmt.Errorf("%w: the change of version %d has %d bytes, and StreamBytes allows %d", db.ErrTooLarge, f.first, len(f.data), most)
		}
		f.publisher = s.id
		for _, m := range f.messages(subjectOf(s.log.database), s.options.MessageBytes) {
			if err := s.makeRoom(int64(len(m.Data) + messageExtra)); err != nil {
				return err
			}
			ack, err := s.log.js.PublishMsgAsync(m, jetstream.WithExpectLastSequence(s.sequence))
			if err != nil {
				return fmt.Errorf("message of version %d: %w", f.first, err)
			}
			s.sequence++
			select {
			case s.acks <- ack:
			case <-s.ctx.Done():
				return s.ctx.Err()
			}
		}
	}
}

// frame returns the next frame: of one change, and of further changes that are there already, as
// far as they fit into one message.
func (s *session) frame() (*frame, error) {
	f := &frame{}
	for {
		empty := len(f.data) == 0
		if s.next == nil {
			c, ok := receiveFrom(s.ctx, s.changes, empty)
			switch {
			case ok:
				s.next = &c
			case empty:
				return nil, s.ctx.Err()
			default:
				return f, nil
			}
		}
		if !empty && (s.next.err != nil || len(f.data)+len(s.next.bytes)+binary.MaxVarintLen64 > s.options.MessageBytes) {
			return f, nil
		}
		if s.next.err != nil {
			return nil, s.next.err
		}
		f.add(s.next.Change, s.next.bytes)
		s.next = nil
	}
}
