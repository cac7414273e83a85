// Package args checks the arguments of experiments.
package args

import (
	"cmp"
	"fmt"
	"os"
)

// Within returns an error unless the value of a flag is between two others, which are accepted too.
func Within[T cmp.Ordered](flag string, value, least, most T) error {
	if value >= least && value <= most { // false for NaN
		return nil
	}
	return fmt.Errorf("--%s must be from %v to %v, got %v", flag, least, most, value)
}

// Readable returns an error unless all files exist and are not directories. The name - means
// standard input.
func Readable(files []string) error {
	for _, file := range files {
		if file == "-" {
			continue
		}
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
