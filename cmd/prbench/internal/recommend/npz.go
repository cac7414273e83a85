package recommend

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"
)

// readMatrices reads the training and the test part of a split from two matrices of users by items,
// which scipy.sparse.save_npz wrote.
func readMatrices(train, test string) (*Split, error) {
	trained, shape, err := readMatrix(train)
	if err != nil {
		return nil, err
	}
	tested, other, err := readMatrix(test)
	if err != nil {
		return nil, err
	}
	if other != shape {
		return nil, fmt.Errorf("%s, array shape: %d x %d, but %s has %d x %d",
			test, other[0], other[1], train, shape[0], shape[1])
	}
	return newSplit(trained, tested), nil
}

// readMatrix returns the columns of the entries of each row of a sparse matrix, and its shape.
func readMatrix(name string) (lists [][]uint32, shape [2]int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, shape, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, shape, err
	}
	r, err := npz.NewReader(f, info.Size())
	if err != nil {
		return nil, shape, fmt.Errorf("%s: %w", name, err)
	}
	return archive{name, r}.matrix()
}

// archive is a .npz file with its name.
type archive struct {
	name string
	*npz.Reader
}

// matrix returns the columns of the entries of each row, without entries that are zero, and the
// shape of the matrix.
func (a archive) matrix() (lists [][]uint32, shape [2]int, err error) {
	sizes, err := a.integers("shape", mostNumber)
	if err == nil && len(sizes) != 2 {
		err = a.errorf("shape", "%d numbers, want rows and columns", len(sizes))
	}
	if err != nil {
		return nil, shape, err
	}
	shape = [2]int(sizes)
	row, col, err := a.places(shape[0], shape[1])
	if err != nil {
		return nil, shape, err
	}
	data, err := a.numbers("data")
	if err == nil && len(data) != len(row) {
		err = a.errorf("data", "%d numbers for %d entries", len(data), len(row))
	}
	if err != nil {
		return nil, shape, err
	}
	lists = make([][]uint32, shape[0])
	for i, u := range row {
		if data[i] != 0 {
			lists[u] = append(lists[u], uint32(col[i]))
		}
	}
	return lists, shape, nil
}

func (a archive) errorf(array, format string, args ...any) error {
	return fmt.Errorf("%s, array %s: %w", a.name, array, fmt.Errorf(format, args...))
}

// places returns the rows and columns of the entries of a matrix.
func (a archive) places(rows, cols int) (row, col []int, err error) {
	format, err := a.format()
	if err != nil {
		return nil, nil, err
	}
	switch format {
	case "csr":
		return a.compressed(rows, cols)
	case "csc":
		col, row, err = a.compressed(cols, rows)
		return row, col, err
	case "coo":
		if row, err = a.integers("row", rows-1); err != nil {
			return nil, nil, err
		}
		if col, err = a.integers("col", cols-1); err == nil && len(col) != len(row) {
			err = a.errorf("col", "%d numbers, but row has %d", len(col), len(row))
		}
		return row, col, err
	}
	return nil, nil, a.errorf("format", "%q (accepted: csr, csc, coo)", format)
}

// compressed returns the places of the entries of a matrix whose lines, its rows or its columns,
// are stored one after the other: the line of each entry, and its index there.
func (a archive) compressed(lines, most int) (line, index []int, err error) {
	if index, err = a.integers("indices", most-1); err != nil {
		return nil, nil, err
	}
	ends, err := a.integers("indptr", len(index))
	if err != nil {
		return nil, nil, err
	}
	if len(ends) != lines+1 || ends[0] != 0 || ends[lines] != len(index) {
		return nil, nil, a.errorf("indptr",
			"%d numbers, want %d from 0 to %d", len(ends), lines+1, len(index))
	}
	for l := range lines {
		if ends[l] > ends[l+1] {
			return nil, nil, a.errorf("indptr",
				"element %d is %d, and the next is %d", l, ends[l], ends[l+1])
		}
		for range ends[l+1] - ends[l] {
			line = append(line, l)
		}
	}
	return line, index, nil
}

// integers returns the elements of an array, which must be integers from 0 to most.
func (a archive) integers(array string, most int) (values []int, err error) {
	numbers, err := a.numbers(array)
	if err != nil {
		return nil, err
	}
	for i, v := range numbers {
		if v < 0 || v > float64(most) || v != float64(int(v)) {
			return nil, a.errorf(array,
				"element %d is %v, want an integer from 0 to %d", i, v, most)
		}
		values = append(values, int(v))
	}
	return values, nil
}

// numbers returns the elements of an array.
func (a archive) numbers(array string) (values []float64, err error) {
	err = a.read(array, func(r *npy.Reader, bytes int) error {
		element := npy.TypeFrom(r.Header.Descr.Type)
		n := 1
		for _, d := range r.Header.Descr.Shape {
			n *= d
		}
		if element == nil || n*int(element.Size()) != bytes {
			return fmt.Errorf("%d bytes of type %s for %d numbers", bytes, r.Header.Descr.Type, n)
		}
		list := reflect.New(reflect.SliceOf(element))
		if err := r.Read(list.Interface()); err != nil {
			return err
		}
		for i := range n {
			v, ok := numberOf(list.Elem().Index(i))
			if !ok {
				return fmt.Errorf("type %s is of no numbers", r.Header.Descr.Type)
			}
			values = append(values, v)
		}
		return nil
	})
	return values, err
}

// numberOf returns the value of a number or boolean.
func numberOf(v reflect.Value) (number float64, ok bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	case v.Kind() == reflect.Bool && v.Bool():
		return 1, true
	}
	return 0, v.Kind() == reflect.Bool
}

// format returns the format of the matrix, such as csr.
func (a archive) format() (format string, err error) {
	err = a.read("format", func(r *npy.Reader, _ int) error { return r.Read(&format) })
	return strings.ReplaceAll(format, "\x00", ""), err // characters have four bytes, or one
}

// read calls decode with a reader of an array and the number of bytes of its elements. The whole
// array is in memory, because package npy takes a short read for a complete one.
func (a archive) read(array string, decode func(r *npy.Reader, bytes int) error) (err error) {
	defer func() {
		if recover() != nil { // package npy does not check where a header ends
			err = a.errorf(array, "damaged header")
		}
	}()
	f, err := a.Open(array + ".npy")
	if err != nil {
		return a.errorf(array, "%w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return a.errorf(array, "%w", err)
	}
	in := bytes.NewReader(content)
	r, err := npy.NewReader(in)
	if err == nil {
		err = decode(r, in.Len())
	}
	if err != nil {
		return a.errorf(array, "%w", err)
	}
	return nil
}
