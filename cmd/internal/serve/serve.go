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

// Serve answers requests at an address, and at further listeners, until ctx ends. It calls announce
// with its URL when it listens. It closes the listeners.
func Serve(ctx context.Context, h http.Handler, address string, announce func(url string) error, listeners ...net.Listener) error {
	l, err := net.Listen("tcp", address)
	if err == nil {
		listeners = append(listeners, l)
		err = announce("http://" + l.Addr().String())
	}
	if err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ConnState: newConnections(maxConnections).note,
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- s.Serve(l) }() // closes l
	}
	running := len(listeners)
	select {
	case err = <-ended:
		running--
		err = errors.Join(err, s.Close())
	case <-ctx.Done():
		err = shutDown(ctx, s)
	}
	for range running {
		<-ended
	}
	return err
}

// shutDown ends a server after its running requests, if they end soon.
func shutDown(ctx context.Context, s *http.Server) error {
	farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	if err := s.Shutdown(farewell); err != nil {
		return s.Close() // close the remaining connections, which ends their statements
	}
	return nil
}
