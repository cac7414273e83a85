package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"

	"kith/cmd/internal/cli"
	"kith/db/edgelist"
)

// download fetches a file into a temporary file, which is removed when it is closed. It returns the
// length of the file too. If a checksum is set, the file must have it.
func (l *load) download(ctx context.Context, from string) (io.ReadCloser, int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Accept-Encoding", "identity") // the checksum is of the file as it is stored
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close() // only read
	if answer.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("%s: %s", from, answer.Status)
	}
	f, err := os.CreateTemp("", "kith-*.download")
	if err != nil {
		return nil, 0, err
	}
	t := &temporary{f}
	n, err := l.receive(f, answer, from)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", from, err), t.Close())
	}
	return t, n, nil
}

// receive writes the body of an answer to w, shows how much of it has arrived, and checks it.
func (l *load) receive(w io.Writer, answer *http.Response, from string) (int64, error) {
	bar := cli.NewBar(l.stderr, l.progress)
	defer bar.End()
	body := &edgelist.Meter{R: answer.Body, Tell: func(done int64, _ bool) {
		bar.Show(cli.State{What: from, Units: progress.UnitsBytes, Done: done, Total: max(answer.ContentLength, 0)})
	}}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), body)
	if err != nil {
		return n, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); l.sha256 != "" && !strings.EqualFold(got, l.sha256) {
		return n, fmt.Errorf("SHA-256 is %s, expected %s", got, l.sha256)
	}
	return n, nil
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

// Close closes and removes the file.
func (t *temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }
