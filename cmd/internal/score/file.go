package score

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"kith/cmd/internal/cli"
	"kith/db"
)

// Output is a file to write.
type Output struct {
	Name  string // its extension is the extension of a format
	Force bool   // replaces a file of that name, and an unfinished run of a different question
}

// Files of an unfinished run, next to the output.
const (
	partial = ".partial" // rows
	state   = ".state"   // a record, which says how many bytes of the rows are valid
)

// record describes a run that is not finished.
type record struct {
	Question question  `json:"question"`
	Now      time.Time `json:"now"` // the present time of all runs
	Done     Report    `json:"done"`
	Bytes    int64     `json:"bytes"` // length of the partial file
}

// question identifies the rows of a run. Two runs with the same question write the same rows.
type question struct {
	Among, Using, Where, Label string
	Relation                   string
	Inverse, RankAll           bool
	At                         string // seconds since 1970; "" means none
	Top, Shard, Shards         int
	Listed                     string // checksum of the given nodes or pairs
	Contents                   string // of the database; see db.Tx.Contents
	Memory                     int64  // on which the answers of models depend
	Build                      string
}

// saveEvery is the time between two saves of the record.
const saveEvery = 2 * time.Second

// File writes the links to a file, which appears when it is complete. A run that is interrupted or
// killed leaves its links and a record of them next to the file. The next run of the same question
// on the same version of the database continues there, and its file has the same bytes as without
// the interruption. If the question or the version differs, File returns an error. resumed is the
// number of sources that earlier runs have scored. If File returns an error, the next run continues
// after done.
func File(ctx context.Context, g *db.DB, o Options, out Output, progress Progress) (done Report, resumed int64, err error) {
	name, err := FormatOf(out.Name)
	if err != nil {
		return done, 0, err
	}
	if info, err := os.Lstat(out.Name); err == nil && info.IsDir() {
		return done, 0, fmt.Errorf("%s is a directory: give the name of a file", out.Name)
	} else if err == nil && !out.Force {
		return done, 0, fmt.Errorf("%s: %w; --force replaces it", out.Name, fs.ErrExist)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		t, err := newTask(ctx, tx, o)
		if err != nil {
			return err
		}
		f, err := openSpool(out, name, record{Question: t.identify(), Now: cmp.Or(o.Now, time.Now())})
		if err != nil {
			return err
		}
		t.question.Now = f.now.Now
		resumed = f.now.Done.Sources
		err = f.fill(ctx, t, progress)
		if done = f.now.Done; err != nil {
			return errors.Join(err, f.leave())
		}
		return f.finish(ctx, tx, name)
	})
	return done, resumed, err
}

// identify returns the question of a task.
func (t *task) identify() question {
	s := t.tx.Stats()
	q := question{
		Among: t.Among, Using: t.Using, Where: t.Where, Label: t.Label, Relation: t.Relation, Inverse: t.Inverse, RankAll: t.RankAll, Top: t.most(), Shard: t.Shard, Shards: t.Shards,
		Contents: s.Contents, Memory: s.AnswerBytes, Build: runtime.GOARCH,
	}
	if !t.At.IsZero() {
		q.At = strconv.FormatInt(t.At.Unix(), 10)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		q.Build += " " + cli.Revision(info)
	}
	if t.listed != nil {
		sum := sha256.New()
		for _, k := range t.listed.sources {
			fmt.Fprintf(sum, "%#v %#v\n", k, t.listed.targets[k])
		}
		q.Listed = fmt.Sprintf("%x", sum.Sum(nil))
	}
	return q
}

// difference says in what q differs from the question of an earlier run.
func (q question) difference(earlier question) string {
	before, now := reflect.ValueOf(earlier), reflect.ValueOf(q)
	var all []string
	for i := range now.NumField() {
		if a, b := before.Field(i).Interface(), now.Field(i).Interface(); a != b {
			all = append(all, fmt.Sprintf("%s was %#v, now it is %#v", strings.ToLower(now.Type().Field(i).Name), a, b))
		}
	}
	return strings.Join(all, "; ")
}

// spool is the partial file of an output.
type spool struct {
	*os.File
	out Output
	to  *textWriter
	now record
}

// openSpool opens the partial file of an output, or creates it. It has the format of the output, or
// lines of JSON if the output is Parquet, which cannot be continued.
func openSpool(out Output, format string, begin record) (s *spool, err error) {
	s = &spool{out: out, now: begin}
	if s.File, err = os.OpenFile(out.Name+partial, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	held, err := cli.TryLock(s.File)
	if err == nil && !held {
		err = fmt.Errorf("%s: another run writes it", s.Name())
	}
	if err == nil {
		err = s.resume()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.to = newLines(s.File)
	if format == "csv" {
		s.to = newCSV(s.File, s.now.Bytes == 0 && begin.Question.Shard == 0)
	}
	return s, nil
}

// resume continues an unfinished run. It drops the rows that were written after the last save.
func (s *spool) resume() error {
	if err := s.load(); err != nil {
		if !s.out.Force {
			return fmt.Errorf("%w; --force begins from the start", err)
		}
		s.now.Done, s.now.Bytes = Report{}, 0
	}
	if err := s.Truncate(s.now.Bytes); err != nil {
		return err
	}
	_, err := s.Seek(s.now.Bytes, io.SeekStart)
	return err
}

// load reads the record of an unfinished run, if there is one. A run that has no rows has nothing
// to continue.
func (s *spool) load() error {
	info, err := s.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	text, err := os.ReadFile(s.out.Name + state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is a file, but no %s that says what it has", s.Name(), s.out.Name+state)
	case err != nil:
		return err
	}
	var earlier record
	if err := json.Unmarshal(text, &earlier); err != nil {
		return fmt.Errorf("%s: %w", s.out.Name+state, err)
	}
	switch {
	case earlier.Question != s.now.Question:
		return fmt.Errorf("%s: an unfinished run has another question: %s", s.Name(), s.now.Question.difference(earlier.Question))
	case info.Size() < earlier.Bytes:
		return fmt.Errorf("%s: %d bytes of the %d that %s counts", s.Name(), info.Size(), earlier.Bytes, s.out.Name+state)
	}
	s.now = earlier
	return nil
}

// fill writes the rows that are missing. It saves the record every saveEvery, and when the run ends
// early.
func (s *spool) fill(ctx context.Context, t *task, progress Progress) error {
	// The record precedes the bytes of the partial file, so that the file never lacks a record.
	if err := s.writeRecord(); err != nil {
		return err
	}
	done, last := s.now.Done, time.Now()
	saved := func(rows []Row) error {
		if time.Since(last) > saveEvery {
			if err := s.save(done); err != nil {
				return err
			}
			last = time.Now()
		}
		return s.to.Write(rows)
	}
	err := t.run(ctx, &done, saved, progress)
	if err != nil && ctx.Err() == nil {
		return err
	}
	return errors.Join(err, s.save(done))
}

// leave closes the partial file, and removes it if there is nothing to continue.
func (s *spool) leave() error {
	err := s.Close()
	if s.now.Done.Sources == 0 {
		_ = os.Remove(s.out.Name + state) // it is missing if it could not be written
		err = errors.Join(err, os.Remove(s.Name()))
	}
	return err
}

// save makes the rows so far durable, and then the record of them.
func (s *spool) save(done Report) error {
	if err := errors.Join(s.to.Close(), s.Sync()); err != nil {
		return err
	}
	at, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	s.now.Done, s.now.Bytes = done, at
	return s.writeRecord()
}

func (s *spool) writeRecord() error {
	text, err := json.Marshal(s.now)
	if err != nil {
		return err
	}
	return cli.WriteFile(context.Background(), s.out.Name+state, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// finish turns the complete partial file into the output. If that fails, the next run tries again.
func (s *spool) finish(ctx context.Context, tx *db.Tx, format string) (err error) {
	isTable := format == "parquet"
	if isTable {
		err = cli.WriteFile(ctx, s.out.Name, func(w io.Writer) error { return s.convert(w, tx) })
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if isTable {
		err = errors.Join(os.Chmod(s.out.Name, 0o644), os.Remove(s.Name())) // as the partial file
	} else {
		err = os.Rename(s.Name(), s.out.Name)
	}
	if err != nil {
		return err
	}
	return os.Remove(s.out.Name + state)
}

// convert writes the rows, which are lines of JSON, as a table.
func (s *spool) convert(w io.Writer, tx *db.Tx) error {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := newTable(w, tx)
	if err != nil {
		return err
	}
	from := json.NewDecoder(bufio.NewReader(s.File))
	for row := make([]Row, 1); ; {
		row[0] = Row{}
		if err := from.Decode(&row[0]); err == io.EOF {
			return to.Close()
		} else if err != nil {
			return err
		}
		if err := to.Write(row); err != nil {
			return err
		}
	}
}
