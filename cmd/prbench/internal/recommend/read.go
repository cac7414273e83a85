package recommend

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostNumber is the largest number of a user or an item.
const mostNumber = 1<<24 - 1

// Read reads the split at a path. The path is a folder with train.txt and test.txt, with train.npz
// and test.npz, or with sequences.txt, or it is the path of files PATH_train.npz and PATH_test.npz
// without their ends.
//
// A line of a text has a user and its items. The items of sequences.txt are in the order of time:
// the last one is the test item of a user with three or more.
func Read(path string) (*Split, error) {
	in := func(name string) string { return filepath.Join(path, name) }
	for _, l := range []struct {
		train, test string
		read        func(train, test string) (*Split, error)
	}{
		{in("train.txt"), in("test.txt"), readLists},
		{in("train.npz"), in("test.npz"), readMatrices},
		{in("sequences.txt"), "", readSequences},
		{path + "_train.npz", path + "_test.npz", readMatrices},
	} {
		if _, err := os.Stat(l.train); err != nil {
			continue
		}
		s, err := l.read(l.train, l.test)
		if err == nil && s.Links() == 0 {
			err = fmt.Errorf("%s: no items", l.train)
		}
		return s, err
	}
	return nil, fmt.Errorf("%s: no split (accepted: a folder with train.txt and test.txt, with "+
		"train.npz and test.npz, or with sequences.txt; or PATH of PATH_train.npz and "+
		"PATH_test.npz)", path)
}

func readLists(train, test string) (*Split, error) {
	trained, err := readLines(train)
	if err != nil {
		return nil, err
	}
	tested, err := readLines(test)
	if err != nil {
		return nil, err
	}
	return newSplit(trained, tested), nil
}

func readSequences(name, _ string) (*Split, error) {
	train, err := readLines(name)
	if err != nil {
		return nil, err
	}
	test := make([][]uint32, len(train))
	for u, items := range train {
		if last := len(items) - 1; last >= 2 {
			train[u], test[u] = items[:last], items[last:]
		}
	}
	return newSplit(train, test), nil
}

// readLines returns the items of each user in the order of a file whose lines have a user and items
// of it.
func readLines(name string) (lists [][]uint32, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<30)
	for line := 1; lines.Scan(); line++ {
		var numbers []uint32
		for _, field := range strings.Fields(lines.Text()) {
			n, err := strconv.ParseUint(field, 10, 32)
			if err != nil || n > mostNumber {
				return nil, fmt.Errorf("%s, line %d: %q (accepted: a user and its items, numbers "+
					"from 0 to %d)", name, line, field, mostNumber)
			}
			numbers = append(numbers, uint32(n))
		}
		if len(numbers) > 0 {
			user := int(numbers[0])
			lists = grown(lists, user)
			lists[user] = append(lists[user], numbers[1:]...)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return lists, nil
}

// grown returns lists with an element for user, at least.
func grown(lists [][]uint32, user int) [][]uint32 {
	for len(lists) <= user {
		lists = append(lists, nil)
	}
	return lists
}
