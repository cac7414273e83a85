package edgelist

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"
)

// ErrChecksum is returned for a download with a wrong checksum.
var ErrChecksum = errors.New("edgelist: wrong checksum")

// Download fetches one file over HTTP. After a broken connection it resumes, unless the file has
// changed or the server cannot tell; then it starts from the beginning.
type Download struct {
	URL    string
	SHA256 string       // in hexadecimal; empty means not checked
	Client *http.Client // nil means http.DefaultClient
	// Pause is the time before the second attempt, doubled before each further one. Zero means a
	// second. Six consecutive attempts without progress end the download.
	Pause time.Duration
	// Idle is the time without data after which a connection counts as broken. Zero means a minute.
	Idle time.Duration
	// Progress, if not nil, is called regularly with the bytes received and the total; a total of 0
	// means unknown.
	Progress func(done, total int64)
}

const attempts = 6

// To writes the file to w, from the beginning, and returns its length. It overwrites what w held;
// bytes beyond the length are meaningless.
func (d Download) To(ctx context.Context, w io.WriterAt) (int64, error) {
	f := fetch{Download: d, to: w, sum: sha256.New()}
	f.Client, f.Idle = cmp.Or(f.Client, http.DefaultClient), cmp.Or(max(f.Idle, 0), time.Minute)
	pause := cmp.Or(max(d.Pause, 0), time.Second)
	wait := pause
	for left := attempts; ; {
		before := f.done
		err := f.attempt(ctx)
		if err == nil {
			return f.done, f.check()
		}
		if f.done > before {
			left, wait = attempts, pause
		}
		left--
		if !errors.As(err, new(*brokenError)) || left == 0 || ctx.Err() != nil {
			return f.done, fmt.Errorf("edgelist: %s: %w", d.URL, err)
		}
		select {
		case <-ctx.Done():
			return f.done, ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}

// fetch is the state of a download.
type fetch struct {
	Download
	to      io.WriterAt
	sum     hash.Hash // digest of the received bytes
	done    int64
	total   int64
	version string      // server's identifier of this version of the file; empty means none
	watch   *time.Timer // ends an attempt after Idle without data
	failed  error       // of the destination
}

var errIdle = errors.New("the server sends nothing any more")

// brokenError is an error that may not recur in another attempt.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// attempt requests the missing bytes.
func (f *fetch) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.watch = time.AfterFunc(f.Idle, func() { cancel(errIdle) })
	defer f.watch.Stop()
	err := f.get(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return &brokenError{errIdle}
	}
	return err
}

func (f *fetch) get(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges are of the stored, uncompressed file
	if f.version == "" {
		f.restart()
	}
	if f.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.done))
		req.Header.Set("If-Range", f.version)
	}
	answer, err := f.Client.Do(req)
	if err != nil {
		return &brokenError{err}
	}
	defer answer.Body.Close() // only read
	if err := f.accept(answer); err != nil {
		return err
	}
	if answer.ContentLength >= 0 {
		f.total = f.done + answer.ContentLength
	}
	if _, err := io.Copy(f, answer.Body); err != nil {
		return cmp.Or(f.failed, error(&brokenError{err}))
	}
	return nil
}

// accept checks the header of an answer: the body must be the missing bytes, or the whole file.
func (f *fetch) accept(a *http.Response) error {
	switch {
	case a.StatusCode == http.StatusOK:
		f.restart()
		f.version = versionOf(a.Header)
		return nil
	case a.StatusCode == http.StatusPartialContent && strings.HasPrefix(a.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", f.done)):
		return nil
	case a.StatusCode == http.StatusRequestedRangeNotSatisfiable, a.StatusCode == http.StatusPartialContent:
		f.version = "" // request the whole file next
		return &brokenError{errors.New(a.Status)}
	case a.StatusCode >= 500, a.StatusCode == http.StatusTooManyRequests:
		return &brokenError{errors.New(a.Status)}
	}
	return errors.New(a.Status)
}

// versionOf returns a value for If-Range: a strong tag, or a date.
func versionOf(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

func (f *fetch) restart() {
	f.done, f.total = 0, 0
	f.sum.Reset()
}

// Write implements io.Writer.
func (f *fetch) Write(b []byte) (int, error) {
	f.watch.Reset(f.Idle)
	n, err := f.to.WriteAt(b, f.done)
	f.sum.Write(b[:n])
	f.done += int64(n)
	if f.failed = err; err != nil {
		return n, err
	}
	if f.Progress != nil {
		f.Progress(f.done, f.total)
	}
	return n, nil
}

func (f *fetch) check() error {
	got := hex.EncodeToString(f.sum.Sum(nil))
	if f.SHA256 != "" && !strings.EqualFold(got, f.SHA256) {
		return fmt.Errorf("%w: %s: SHA-256 is %s, expected %s", ErrChecksum, f.URL, got, f.SHA256)
	}
	return nil
}
