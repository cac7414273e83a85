package shell

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kith/query"
)

// maxOffered is the maximum number of files that are offered.
const maxOffered = 100

// completed returns the last word of text, the text before the cursor, and the values that complete
// it.
func completed(text string, n query.Vocabulary) (word string, values []string) {
	if strings.HasPrefix(text, ".") {
		return completeDot(text)
	}
	n.Files = filesBeginning
	return query.Complete(context.Background(), text, n)
}

// filesBeginning returns the files whose names begin with prefix, with a slash after directories.
// Hidden files are included only if prefix begins with a dot.
func filesBeginning(prefix string) (all []string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if !strings.HasPrefix(e.Name(), base) || hidden || len(all) == maxOffered {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		all = append(all, name)
	}
	return all
}

// completeDot completes a dot command.
func completeDot(text string) (word string, values []string) {
	command, arg, found := strings.Cut(text, " ")
	for _, d := range dotCommands() {
		switch {
		case !found:
			values = append(values, d.name)
		case d.name == command && d.values != nil:
			values = d.values(arg)
		}
	}
	if !found {
		arg = text
	}
	return arg, slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, arg) })
}
