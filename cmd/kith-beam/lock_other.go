//go:build !unix

package main

import (
	"errors"
	"os"
)

// tryLock returns an error: a worker needs a system on which several processes can read one database.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
