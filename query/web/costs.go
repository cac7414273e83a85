package web

import (
	"regexp"
	"sync"
	"time"
)

// costs remembers how long statements of the same shape have taken.
type costs struct {
	mu   sync.Mutex
	mean map[string]time.Duration // by shape, recent statements count more; guarded by mu
}

const (
	maxShapes = 1024 // number of shapes that costs remembers
	maxShape  = 256  // bytes of a statement that tell shapes apart
)

// values are the parts of a statement that do not belong to its shape.
var values = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'?|[0-9][0-9.]*`) })

// shapeOf returns a statement without its values.
func shapeOf(statement string) string {
	return values().ReplaceAllString(statement[:min(len(statement), maxShape)], "?")
}

// of returns how long a statement of a shape takes; 0 means unknown.
func (c *costs) of(shape string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mean[shape]
}

// exceeds records that a statement of a shape has run for a time and goes on.
func (c *costs) exceeds(shape string, time time.Duration) { c.set(shape, max(c.of(shape), time)) }

// ended records how long a statement of a shape has run.
func (c *costs) ended(shape string, took time.Duration) {
	if mean := c.of(shape); mean > 0 {
		took = mean + (took-mean)/4
	}
	c.set(shape, took)
}

func (c *costs) set(shape string, mean time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mean) >= maxShapes {
		clear(c.mean)
	}
	c.mean[shape] = mean
}
