package gorse

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// records returns a function that reads the next record of an export.
func records(in *bufio.Reader) (next func() (record, error), err error) {
	head, err := in.Peek(1)
	switch {
	case err == io.EOF:
		return nil, ErrExport
	case err != nil:
		return nil, err
	case head[0] == '[':
		return elements(in)
	case head[0] == '{':
		return lines(in), nil
	}
	return rows(in)
}

// nameOf returns the name that a member has in all versions, such as userid for user_id and UserId.
func nameOf(name string) string {
	name = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), "_", ""))
	if name == "description" {
		return "comment"
	}
	return name
}

// members returns the members of an object by name. It returns false for another value.
func members(value []byte) (m map[string]json.RawMessage, ok bool) {
	var given map[string]json.RawMessage
	if json.Unmarshal(value, &given) != nil || given == nil {
		return nil, false
	}
	m = make(map[string]json.RawMessage, len(given))
	for name, v := range given {
		if string(v) != "null" {
			m[nameOf(name)] = v
		}
	}
	return m, true
}

// maxLine is the maximal length of a line in bytes.
const maxLine = 1 << 20

// lines reads lines of JSON.
func lines(in *bufio.Reader) func() (record, error) {
	scan, n := bufio.NewScanner(in), int64(0)
	scan.Buffer(nil, maxLine)
	return func() (r record, err error) {
		if !scan.Scan() {
			if err := scan.Err(); err != nil {
				return r, fmt.Errorf("line %d: %w", n+1, err)
			}
			return r, io.EOF
		}
		n++
		r.line = n
		var ok bool
		if r.members, ok = members(scan.Bytes()); !ok {
			r.raw = append([]byte{}, scan.Bytes()...)
		}
		return r, nil
	}
}

// elements reads the elements of an array, whose numbers count as the numbers of lines.
func elements(in *bufio.Reader) (func() (record, error), error) {
	d, n := json.NewDecoder(in), int64(0)
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return func() (r record, err error) {
		if !d.More() {
			if _, err := d.Token(); err != nil {
				return r, fmt.Errorf("after element %d: %w", n, ended(err))
			}
			return r, io.EOF
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return r, fmt.Errorf("element %d: %w", n+1, ended(err))
		}
		n++
		r.line = n
		var ok bool
		if r.members, ok = members(value); !ok {
			r.raw = bytes.ReplaceAll(value, []byte("\n"), []byte(" "))
		}
		return r, nil
	}, nil
}

// ended returns the error for a file that ends too early instead of io.EOF.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// rows reads CSV. The first record has the names of the columns, and is a blank line. A row with
// more or fewer columns is no record.
func rows(in *bufio.Reader) (func() (record, error), error) {
	table := csv.NewReader(in)
	table.FieldsPerRecord, table.ReuseRecord, table.LazyQuotes = -1, true, true
	header, err := table.Read()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = nameOf(name)
	}
	first := true
	return func() (r record, err error) {
		fields := make([]string, len(names))
		if r.raw = []byte{}; !first {
			r.raw = nil
			if fields, err = table.Read(); err != nil {
				return r, err
			}
		}
		first = false
		line, _ := table.FieldPos(0)
		if r.line = int64(line); len(fields) != len(names) {
			r.raw = bytes.ReplaceAll([]byte(strings.Join(fields, ",")), []byte("\n"), []byte(" "))
			return r, nil
		}
		r.members = make(map[string]json.RawMessage, len(names))
		for i, name := range names {
			r.members[name] = field(name, fields[i])
		}
		return r, nil
	}, nil
}

// field returns a column as JSON.
func field(name, text string) json.RawMessage {
	if name == "ishidden" || name == "value" {
		if v := strings.ToLower(text); json.Valid([]byte(v)) {
			return json.RawMessage(v)
		}
	}
	return quoted(text)
}
