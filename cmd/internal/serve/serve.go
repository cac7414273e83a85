// Package serve is the HTTP server of the command-line tools: its flags, its token, and the limits
// that protect it.
package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	headerTime     = 10 * time.Second // time for the headers of a request to arrive
	headerBytes    = 16 << 10         // size of the headers of a request
	idleTime       = 2 * time.Minute  // time to wait for the next request of a connection
	farewellTime   = 5 * time.Second  // time for running requests to finish at the end
	maxConnections = 1024
)

// Serve answers requests at an address until ctx ends. It calls announce with its URL when it
// listens.
func Serve(ctx context.Context, h http.Handler, address string, announce func(url string) error) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if err := announce("http://" + l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ConnState: newConnections(maxConnections).note,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	if err := s.Shutdown(farewell); err != nil {
		return s.Close() // close the remaining connections, which ends their statements
	}
	return nil
}
