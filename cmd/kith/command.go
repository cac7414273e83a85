package main

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"

	"kith/query/parse"
)

// command is a statement or a dot command of a script. The text of a statement may turn out not to be one when it is
// parsed.
type command struct {
	parse.Fragment
	dot bool // the fragment is the line of a dot command
}

const (
	pieceLen = 64 << 10 // number of bytes read at a time
	longest  = 1 << 20  // maximum length of a statement, so there is no point in waiting for the end of a longer one
)

// commands splits a script into statements and dot commands, and yields each as soon as its line has been read. A dot
// command is a line that begins with a dot, outside of a statement. An error is one of the reader, and is the last
// pair.
func commands(r io.Reader) iter.Seq2[command, error] {
	return func(yield func(command, error) bool) {
		in := bufio.NewReaderSize(r, pieceLen)
		s := script{at: parse.Pos{Line: 1, Col: 1}}
		for {
			piece, err := in.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				err = nil
			}
			if !s.take(piece, err != nil, yield) {
				return
			}
			if err != nil {
				if err != io.EOF {
					yield(command{}, err)
				}
				return
			}
		}
	}
}

// script is the part of a script that has been read and not yet yielded.
type script struct {
	pending []byte
	at      parse.Pos // position of pending
}

// take adds a piece of the script and yields the commands that are complete, or everything if the piece is the last.
func (s *script) take(piece []byte, last bool, yield func(command, error) bool) bool {
	if bytes.HasPrefix(piece, []byte(".")) && s.lineBegins() && blank(s.pending) {
		s.drop(len(s.pending))
		c := command{parse.Fragment{Pos: s.at, Text: string(bytes.TrimSpace(piece))}, true}
		s.pending = append(s.pending, piece...)
		s.drop(len(piece))
		return yield(c, nil)
	}
	s.pending = append(s.pending, piece...)
	if !last && !bytes.Contains(piece, []byte(";")) && len(s.pending) <= longest {
		return true
	}
	return s.hand(last, yield)
}

// lineBegins reports whether the next piece begins a line.
func (s *script) lineBegins() bool {
	if len(s.pending) == 0 {
		return s.at.Col == 1
	}
	return bytes.HasSuffix(s.pending, []byte("\n"))
}

// hand yields the statements that are complete or too long, and if last the final one in any case.
func (s *script) hand(last bool, yield func(command, error) bool) bool {
	text, end := string(s.pending), 0
	at, reached := s.at, 0                                // at is the position of byte reached
	for f := range parse.Split(strings.NewReader(text)) { // reading a string never fails
		closed := parse.Complete(f.Text)
		if !closed && !last && len(f.Text) <= longest {
			break
		}
		end = f.Offset + len(f.Text)
		at, reached = at.After(text[reached:f.Offset]), f.Offset
		f.Pos = at
		if !yield(command{Fragment: f}, nil) {
			return false
		}
		if len(f.Text) > longest {
			end = len(text) // f has only the beginning of the statement
		}
	}
	s.drop(end)
	return true
}

// drop removes the first n bytes.
func (s *script) drop(n int) {
	s.at = s.at.After(string(s.pending[:n]))
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

// blank reports whether text holds no statement and no beginning of one.
func blank(text []byte) bool {
	for range parse.Split(bytes.NewReader(text)) {
		return false
	}
	return true
}
