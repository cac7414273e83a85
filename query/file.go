package query

import (
	"fmt"
	"io"

	"kith/db/edgelist"
	"kith/db/words"
	"kith/query/fileio"
	"kith/query/parse"
)

// readFile opens the file that a statement names and calls read with it, unless there is an error.
// An error gets the position of the name.
func (r *run) readFile(file parse.Value, read func(io.Reader) error) {
	name := r.text(file)
	if r.err != nil {
		return
	}
	f, err := fileio.Open(r.ctx, name)
	if err != nil {
		r.fileError(file, err)
		return
	}
	defer f.Close()  // read only
	size := int64(0) // unknown
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	r.failIn(file, read(&edgelist.Meter{R: f, Tell: func(done int64, _ bool) { r.progress(Bytes, done, size) }}))
}

// writeFile writes the file that a statement names, unless there is an error. An error gets the
// position of the name.
func (r *run) writeFile(file parse.Value, write func(name string, w io.Writer) error) {
	if name := r.text(file); r.err == nil {
		r.fileError(file, fileio.Write(r.ctx, name, fileMode, func(w io.Writer) error { return write(name, w) }))
	}
}

// fileMode is the mode of the files that statements write.
const fileMode = 0o644

// failIn is failAt for an error in the contents of a file.
func (r *run) failIn(file parse.Value, err error) {
	if err != nil {
		r.failAt(file, fmt.Errorf("%s: %w", r.value(file), err))
	}
}

// fileError is failAt for an error of a file system. An error of the context gets no position.
func (r *run) fileError(file place, err error) {
	if err != nil && r.ctx.Err() == nil {
		err = &Error{Pos: file.Position(), Msg: words.Plain(err), Err: err}
	}
	r.fail(err)
}
