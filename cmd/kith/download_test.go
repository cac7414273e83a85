package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A download is the file of the server, with the checksum that was asked for, or an error that
// names the URL.
func TestDownload(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("one two\n", 1000)
	sum := sha256.Sum256([]byte(text))
	right := hex.EncodeToString(sum[:])
	serve := func(status, length int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if length > 0 {
				w.Header().Set("Content-Length", "8000")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text[:max(length, 0)]) // the client sees what is missing
		}
	}
	for _, c := range []struct {
		name   string
		server http.HandlerFunc
		sum    string
		want   string // in the error; empty: none
	}{
		{"whole", serve(http.StatusOK, len(text)), "", ""},
		{"checked", serve(http.StatusOK, len(text)), strings.ToUpper(right), ""},
		{"other contents", serve(http.StatusOK, len(text)), "00", "SHA-256 is " + right + ", expected 00"},
		{"cut", serve(http.StatusOK, 3000), "", "unexpected EOF"},
		{"missing", serve(http.StatusNotFound, 0), "", "404"},
	} {
		s := httptest.NewServer(c.server)
		f, n, err := (&load{stderr: io.Discard, sha256: c.sum}).download(t.Context(), s.URL+"/a.txt")
		s.Close()
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != text || n != int64(len(text)) {
			t.Errorf("%s: %d bytes of %d, %v", c.name, len(got), n, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
