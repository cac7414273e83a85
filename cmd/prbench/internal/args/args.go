// Package args checks the arguments of experiments.
package args

import (
	"fmt"
	"os"
)

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
