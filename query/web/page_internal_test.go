package web

import (
	"bytes"
	"io/fs"
	"regexp"
	"testing"
)

// The page is small, and has no script, style or handler outside of its files: the policy of the page would refuse them.
func TestAssets(t *testing.T) {
	t.Parallel()
	const most = 150 << 10
	total := 0
	inline := regexp.MustCompile(`<style|<script>|\sstyle=|\son[a-z]+=|javascript:|https?://[^w"]|//cdn`)
	err := fs.WalkDir(assets, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(assets, path)
		total += len(content)
		if found := inline.Find(content); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > 500 {
			t.Errorf("%s has %d lines", path, lines)
		}
		return err
	})
	if err != nil || total > most {
		t.Errorf("the page has %d bytes, want at most %d, error %v", total, most, err)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12": "12", "-9223372036854775808": "-9223372036854775808", "'ann'": "'ann'", "'o''neill'": "'o''neill'", "''": "''",
		"ann": "", "'": "", "'a'b'": "", "": "", "1.5": "", "'''": "", "9223372036854775808": "",
	} {
		key, err := parseKey(text)
		switch {
		case (err == nil) != (want != ""):
			t.Errorf("%s: %v, error %v", text, key, err)
		case err == nil && key.String() != want:
			t.Errorf("%s: %v, want %s", text, key, want)
		}
	}
}
