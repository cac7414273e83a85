//go:build !unix

package main

import "time"

var began = time.Now()

// cpuSeconds returns the time since the start, because this system does not tell the processor
// time.
func cpuSeconds() float64 { return time.Since(began).Seconds() }
