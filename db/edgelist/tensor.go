package edgelist

import (
	"encoding/binary"
	"math"
)

// tensor is a two-dimensional array of integers: a NumPy array with its data, or a tensor with the key of its storage.
// A width of 0 means any other array.
type tensor struct {
	rows, cols   int64
	step, stride int64 // number of elements from one row to the next, and from one column to the next
	offset       int64
	width        int // bytes of an element
	data         []byte
	key          string
}

// storage refers to a block of numbers outside the pickle.
type storage struct {
	key   string
	width int // bytes of an integer; 0 means not integers
}

// dtype is NumPy's type of an element. width is the size of an integer in bytes, or 0 for any other type.
type dtype struct{ width int }

// call returns the result of calling one of the accepted functions.
func call(class global, args []any) any {
	switch class {
	case "_codecs encode": // how protocol 2 writes bytes
		return latin1(args)
	case "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct":
		return &tensor{}
	case "numpy dtype":
		switch {
		case len(args) > 0 && args[0] == "i8":
			return &dtype{8}
		case len(args) > 0 && args[0] == "i4":
			return &dtype{4}
		}
		return &dtype{}
	case "collections OrderedDict":
		return map[string]any{}
	case "torch._utils _rebuild_tensor_v2":
		return makeTensor(args)
	}
	fail("it calls %q", string(class))
	return nil
}

// latin1 returns the bytes that are encoded as the characters of a string.
func latin1(args []any) []byte {
	var text string
	if len(args) == 2 && args[1] == "latin1" {
		text, _ = args[0].(string)
	}
	b := make([]byte, 0, len(text)/2)
	for _, c := range text {
		if c > 0xff {
			fail("a character above 255 in bytes")
		}
		b = append(b, byte(c))
	}
	return b
}

// build sets the state of an array, (version, shape, dtype, column major, bytes), or the byte order of a dtype.
func build(object, state any) {
	s, _ := state.([]any)
	switch o := object.(type) {
	case *dtype:
		if o.width > 0 && (len(s) < 2 || s[1] != "<") {
			fail("elements that are not little-endian")
		}
	case *tensor:
		o.fill(s)
	default:
		fail("a state of %T", object)
	}
}

func (a *tensor) fill(state []any) {
	if len(state) != 5 {
		fail("an array's state of %d parts", len(state))
	}
	shape, isShape := state[1].([]any)
	kind, isType := state[2].(*dtype)
	column, isBool := state[3].(bool)
	if !isShape || !isType || !isBool {
		fail("an array without a shape, a type or an order")
	}
	if len(shape) != 2 || kind.width == 0 {
		return
	}
	data, isBytes := state[4].([]byte)
	if !isBytes {
		fail("an array that is not a matrix of integers")
	}
	size := integers(shape, 2)
	a.rows, a.cols, a.width, a.data = size[0], size[1], kind.width, data
	a.step, a.stride = a.cols, 1
	if column {
		a.step, a.stride = 1, a.rows
	}
}

// makeTensor makes a tensor from (storage, offset, size, stride, ...). One that is not a matrix of integers has width 0.
func makeTensor(args []any) *tensor {
	if len(args) < 4 {
		fail("a tensor of %d parts", len(args))
	}
	s, isStorage := args[0].(*storage)
	if !isStorage {
		fail("a tensor without a storage")
	}
	if shape, ok := args[2].([]any); ok && (len(shape) != 2 || s.width == 0) {
		return &tensor{}
	}
	offset, size, stride := integers(args[1:2], 1), integers(args[2], 2), integers(args[3], 2)
	return &tensor{
		rows: size[0], cols: size[1], step: stride[0], stride: stride[1], offset: offset[0], width: s.width, key: s.key,
	}
}

// storageWidths returns the bytes of an element of each class of storages.
func storageWidths() map[global]int {
	return map[global]int{
		"torch LongStorage": 8, "torch DoubleStorage": 8, "torch IntStorage": 4, "torch FloatStorage": 4,
		"torch HalfStorage": 2, "torch BFloat16Storage": 2, "torch ShortStorage": 2,
		"torch ByteStorage": 1, "torch CharStorage": 1, "torch BoolStorage": 1,
	}
}

// open resolves the persistent id ("storage", class, key, device, length, ...).
func (u *unpickler) open(id any) *storage {
	parts, _ := id.([]any)
	if len(parts) < 3 || parts[0] != "storage" {
		fail("a persistent id of no storage")
	}
	class, _ := parts[1].(global)
	key, ok := parts[2].(string)
	width := storageWidths()[class]
	switch {
	case !ok:
		fail("a storage without a key")
	case width == 0:
		fail("a storage of class %q", string(class))
	}
	u.widths[key] = width
	if class != "torch LongStorage" && class != "torch IntStorage" {
		width = 0
	}
	return &storage{key, width}
}

// integers returns a tuple of exactly n integers.
func integers(tuple any, n int) (list []int64) {
	t, _ := tuple.([]any)
	for _, v := range t {
		if i, ok := v.(int64); ok {
			list = append(list, i)
		}
	}
	if len(t) != n || len(list) != n {
		fail("%v in the place of %d integers", tuple, n)
	}
	return list
}

// pairs returns the rows as pairs. storage returns the elements of the storage with a key.
func (a *tensor) pairs(storage func(key string) []byte) [][2]uint32 {
	if a.width == 0 {
		fail("not a matrix of integers of 32 or 64 bits")
	}
	data := a.data
	if data == nil {
		data = storage(a.key)
	}
	n := int64(len(data) / a.width)
	if a.cols != 2 || a.rows != 0 && !a.within(n) {
		fail("%d x %d elements of an array of %d", a.rows, a.cols, n)
	}
	pairs := make([][2]uint32, a.rows)
	for i := range pairs {
		for j := range 2 {
			v := a.at(data, a.offset+int64(i)*a.step+int64(j)*a.stride)
			if v < 0 || v > math.MaxUint32 {
				fail("row %d holds node %d", i, v)
			}
			pairs[i][j] = uint32(v)
		}
	}
	return pairs
}

// within reports whether all rows are inside an array of n elements, and have no more elements than the array.
func (a *tensor) within(n int64) bool {
	for _, v := range []int64{a.rows, a.step, a.stride, a.offset} {
		if v < 0 || v > n {
			return false
		}
	}
	return a.rows <= n/2 && a.offset+(a.rows-1)*a.step+a.stride < n
}

func (a *tensor) at(data []byte, i int64) int64 {
	if a.width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(data[8*i:]))
}
