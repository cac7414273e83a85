package edgelist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// joined is a text with a header. Each of its lines joins a line of each of several files, which
// have a column or more.
type joined struct {
	names []string
	files []io.Closer
	lines []*bufio.Reader
	rest  []byte
	n     int   // number of lines read
	err   error // of the next read, after rest
}

// join returns the edges of a file with the weights and times that other files have in the same
// order.
func (p Part) join(folder fs.FS, edges io.ReadCloser) (io.ReadCloser, error) {
	j := &joined{rest: []byte("source,target")}
	err := j.add(p.Name, edges)
	for role, name := range p.beside {
		if name == "" || err != nil {
			continue
		}
		var f io.ReadCloser
		if f, err = folder.Open(name); err == nil {
			err = j.add(name, f)
		}
		j.rest = append(append(j.rest, ','), map[int]string{roleWeight: "weight", roleTime: "year"}[role]...)
	}
	j.rest = append(j.rest, '\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("edgelist: %w", err), j.Close())
	}
	return j, nil
}

// add adds a file. It decompresses the file, and closes it if it cannot be read.
func (j *joined) add(name string, f io.ReadCloser) error {
	j.files = append(j.files, f)
	in, _, err := decompress(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	j.names, j.lines = append(j.names, name), append(j.lines, bufio.NewReaderSize(in, maxLine))
	return nil
}

// Read implements io.Reader.
func (j *joined) Read(b []byte) (int, error) {
	for len(j.rest) < len(b) && j.err == nil {
		j.err = j.next()
	}
	if len(j.rest) == 0 {
		return 0, j.err
	}
	n := copy(b, j.rest)
	j.rest = j.rest[:copy(j.rest, j.rest[n:])]
	return n, nil
}

// next appends the next line to rest. It returns io.EOF if all files end.
func (j *joined) next() error {
	ended := 0
	for i, in := range j.lines {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			err = errors.New("line is longer than 1 MiB")
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: line %d: %w", j.names[i], j.n+1, err)
		}
		if err == io.EOF && len(line) == 0 {
			ended++
		}
		if i > 0 && ended > 0 && ended <= i {
			return fmt.Errorf("%s and %s do not have the same number of lines: one has %d", j.names[0], j.names[i], j.n)
		}
		if i > 0 && ended == 0 {
			j.rest = append(j.rest, ',')
		}
		j.rest = append(j.rest, bytes.TrimRight(line, "\r\n")...)
	}
	if ended > 0 {
		return io.EOF
	}
	j.rest = append(j.rest, '\n')
	j.n++
	return nil
}

// Close implements io.Closer.
func (j *joined) Close() (err error) {
	for _, f := range j.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
