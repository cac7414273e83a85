package main

import (
	"os"
	"os/signal"
)

// holdInterrupts keeps Ctrl-C from ending the process until it is called back.
func holdInterrupts() (release func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return func() { signal.Stop(c) }
}
