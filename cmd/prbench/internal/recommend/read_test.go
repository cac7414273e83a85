package recommend

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
)

// write writes a file and returns its folder.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// text returns the split as text.
func (s *Split) text() string { return fmt.Sprintf("%v %v %d", s.Train, s.Test, s.Items) }

func TestReadLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ train, test, want string }{
		{"0 3 1\n1 2\n", "0 2\n1\n", "[[1 3] [2]] [[2] []] 4"},
		{"0 1\n\n2\t5 4 5\n0 0\n", "\n3 6\n", "[[0 1] [] [4 5] []] [[] [] [] [6]] 7"},
		{"0 1", "", "[[1]] [[]] 2"},
		{"0 x\n", "", "train.txt, line 1: \"x\""},
		{"0 1\n1 -2\n", "", "train.txt, line 2: \"-2\""},
		{"-1 1\n", "", "train.txt, line 1: \"-1\""},
		{"0 1\n", "0 1.5\n", "test.txt, line 1: \"1.5\""},
		{"0 16777216\n", "", "numbers from 0 to 16777215"},
		{"0\n", "0 1\n", "train.txt: no items"},
	} {
		dir := write(t, write(t, t.TempDir(), "train.txt", c.train), "test.txt", c.test)
		checkRead(t, dir, c.want)
	}
	checkRead(t, write(t, t.TempDir(), "train.txt", "0 1\n"), "test.txt: no such file")
	checkRead(t, t.TempDir(), "no split (accepted: a folder with train.txt")
}

// checkRead reads the split at a path, and wants a text or an error that contains it.
func checkRead(t *testing.T, path, want string) {
	t.Helper()
	s, err := Read(path)
	switch {
	case err != nil && !strings.Contains(err.Error(), want):
		t.Errorf("error %v, want %s", err, want)
	case err == nil && s.text() != want:
		t.Errorf("read %s, want %s", s.text(), want)
	}
}

// The last item of a user is its test item if there are at least three.
func TestReadSequences(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), "sequences.txt", "1 3 2 5\n2 4 1\n3 2 2 2 0\n")
	checkRead(t, dir, "[[] [2 3] [1 4] [2]] [[] [5] [] [0]] 6")
	dir = write(t, t.TempDir(), "sequences.txt", "1 2\n3 a\n")
	checkRead(t, dir, "sequences.txt, line 2: \"a\"")
}

// arrays are the arrays of a .npz file by their names.
type arrays map[string]any

// with returns a copy with other arrays.
func (a arrays) with(other arrays) arrays {
	all := arrays{}
	for _, from := range []arrays{a, other} {
		for name, v := range from {
			all[name] = v
		}
	}
	return all
}

// raw is the content of the file of an array.
type raw string

// write writes the arrays that are not nil.
func (a arrays) write(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, v := range a {
		if v == nil {
			continue
		}
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if content, ok := v.(raw); ok {
			_, err = w.Write([]byte(content))
		} else {
			err = npy.Write(w, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(path), filepath.Base(path), b.String())
}

func TestReadMatrices(t *testing.T) {
	t.Parallel()
	csr := arrays{
		"format": "csr", "shape": []int32{3, 5}, "indptr": []int32{0, 2, 2, 4},
		"indices": []int32{4, 1, 0, 3}, "data": []float64{1, 2, 1, 0},
	}
	csc := arrays{
		"format": []string{"csc"}, "shape": []int64{3, 5}, "indptr": []int64{0, 1, 2, 2, 2, 3},
		"indices": []int64{2, 0, 0}, "data": []bool{true, true, true},
	}
	coo := arrays{
		"format": "coo", "shape": []int64{3, 5}, "row": []int32{2, 0, 0, 0},
		"col": []int32{0, 4, 1, 4}, "data": []uint8{1, 1, 1, 1},
	}
	const train = "[[1 4] [] [0]]"
	for _, c := range []struct {
		train, test arrays
		want        string
	}{
		{csr, csc, train + " " + train + " 5"},
		{csc, coo, train + " " + train + " 5"},
		{coo, csr, train + " " + train + " 5"},
		{csr.with(arrays{"indices": []int32{4, -1, 0, 3}}), csr,
			"train.npz, array indices: element 1 is -1, want an integer from 0 to 4"},
		{csr, csr.with(arrays{"indices": []int32{4, 5, 0, 3}}),
			"test.npz, array indices: element 1 is 5, want an integer from 0 to 4"},
		{csr, csr.with(arrays{"shape": []int32{3, 6}}),
			"test.npz, array shape: 3 x 6, but "},
		{csr.with(arrays{"shape": []int32{3}}), csr, "array shape: 1 numbers"},
		{csr.with(arrays{"shape": []int32{-3, 5}}), csr, "array shape: element 0 is -3"},
		{csr.with(arrays{"indptr": []int32{0, 2, 4}}), csr,
			"array indptr: 3 numbers, want 4 from 0 to 4"},
		{csr.with(arrays{"indptr": []int32{0, 3, 2, 4}}), csr,
			"array indptr: element 1 is 3, and the next is 2"},
		{csr.with(arrays{"indptr": nil}), csr, "array indptr: "},
		{csr.with(arrays{"data": []float64{1}}), csr, "array data: 1 numbers for 4 entries"},
		{csr.with(arrays{"data": "four"}), csr, "array data: "},
		{csr.with(arrays{"indices": []float64{4, 1.5, 0, 3}}), csr,
			"array indices: element 1 is 1.5"},
		{csr.with(arrays{"format": "bsr"}), csr, `array format: "bsr" (accepted: csr, csc, coo)`},
		{coo.with(arrays{"col": []int32{1}}), csr, "array col: 1 numbers, but row has 4"},
		{coo.with(arrays{"row": []int32{3, 0, 0, 0}}), csr, "array row: element 0 is 3"},
	} {
		dir := t.TempDir()
		c.train.write(t, filepath.Join(dir, "train.npz"))
		c.test.write(t, filepath.Join(dir, "test.npz"))
		checkRead(t, dir, c.want)
	}
	dir := t.TempDir()
	csr.write(t, filepath.Join(dir, "shop_train.npz"))
	checkRead(t, filepath.Join(dir, "shop"), "shop_test.npz: no such file")
	csr.write(t, filepath.Join(dir, "shop_test.npz"))
	checkRead(t, filepath.Join(dir, "shop"), train+" "+train+" 5")
	write(t, dir, "shop_test.npz", "no archive")
	checkRead(t, filepath.Join(dir, "shop"), "shop_test.npz: npz: ")
}

// A text as NumPy writes it is read, and one that is cut or has a damaged header is an error.
func TestReadDamagedArray(t *testing.T) {
	t.Parallel()
	header := "{'descr': '|S3', 'fortran_order': False, 'shape': (), }"
	numpy := fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\ncsr", header)
	for _, c := range []struct{ format, want string }{
		{numpy, "[[0]] [[0]] 1"},
		{strings.Replace(numpy, "csr", "cs", 1), `array format: "cs"`},
		{strings.Replace(numpy, "descr", "typed", 1), "array format: "},
		{strings.Replace(numpy, "}", ")", 1), "array format: damaged header"},
		{"", "array format: "},
	} {
		one := arrays{
			"format": raw(c.format), "shape": []int32{1, 1}, "indptr": []int32{0, 1},
			"indices": []int32{0}, "data": []int8{1},
		}
		path := filepath.Join(t.TempDir(), "one")
		one.write(t, path+"_train.npz")
		one.write(t, path+"_test.npz")
		checkRead(t, path, c.want)
	}
}
