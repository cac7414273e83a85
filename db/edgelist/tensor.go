package edgelist

import (
	"encoding/binary"
	"strings"
)

// tensor is an array with one or two dimensions: a NumPy array with its data, or a tensor with the
// key of its storage. An element of kind 0 means any other array.
type tensor struct {
	rows, cols int64 // cols is 1 for a vector
	vector     bool
	// step and stride are the numbers of elements from a row to the next, and from a column to the
	// next.
	step, stride int64
	offset       int64
	element      element
	data         []byte
	key          string
}

// storage refers to a block of numbers outside the pickle.
type storage struct {
	key     string
	element element
}

// dtype is NumPy's type of an element, which has kind 0 if it is not a number that is read.
type dtype struct{ element }

// call returns the result of calling one of the accepted functions.
func call(class global, args []any) any {
	switch class {
	case "_codecs encode": // how protocol 2 writes bytes
		return latin1(args)
	case "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct":
		return &tensor{}
	case "numpy dtype":
		d := &dtype{}
		if name, ok := append(args, nil)[0].(string); ok {
			d.element, _ = elementOf("<" + name) // kind 0 for other types
		}
		return d
	case "collections OrderedDict":
		return map[string]any{}
	case "torch._utils _rebuild_tensor_v2":
		return makeTensor(args)
	}
	failClass(class)
	return nil
}

// failClass ends the reading of a pickle with an object of a class that is not known.
func failClass(class global) {
	name := strings.ReplaceAll(string(class), " ", ".")
	if strings.HasPrefix(name, "torch_geometric.") || strings.HasPrefix(name, "dgl.") {
		fail("it holds an object of class %s; write its edges as in numpy.save('edge_index.npy', data.edge_index.numpy())", name)
	}
	fail("it calls %q", name)
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

// build sets the state of an array, (version, shape, dtype, column major, bytes), or the byte order
// of a dtype.
func build(object, state any) {
	s, _ := state.([]any)
	switch o := object.(type) {
	case *dtype:
		if o.kind > 0 && o.size > 1 && (len(s) < 2 || s[1] != "<") {
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
	if len(shape) < 1 || len(shape) > 2 || kind.kind == 0 {
		return
	}
	data, isBytes := state[4].([]byte)
	if !isBytes {
		fail("an array of numbers without its bytes")
	}
	a.setShape(integers(shape, len(shape)))
	a.element, a.data = kind.element, data
	a.step, a.stride = a.cols, 1
	if column {
		a.step, a.stride = 1, a.rows
	}
}

// setShape sets the shape of a vector or a matrix.
func (a *tensor) setShape(size []int64) {
	a.rows, a.cols, a.vector = size[0], 1, true
	if len(size) == 2 {
		a.cols, a.vector = size[1], false
	}
}

// makeTensor makes a tensor from (storage, offset, size, stride, ...). One of other dimensions or
// of other elements has kind 0.
func makeTensor(args []any) *tensor {
	if len(args) < 4 {
		fail("a tensor of %d parts", len(args))
	}
	s, isStorage := args[0].(*storage)
	if !isStorage {
		fail("a tensor without a storage")
	}
	shape, _ := args[2].([]any)
	if len(shape) < 1 || len(shape) > 2 || s.element.kind == 0 {
		return &tensor{}
	}
	a := &tensor{element: s.element, key: s.key, offset: integers(args[1:2], 1)[0]}
	a.setShape(integers(args[2], len(shape)))
	stride := integers(args[3], len(shape))
	a.step = stride[0]
	if !a.vector {
		a.stride = stride[1]
	}
	return a
}

// storageElements returns the type of an element of each class of storages. Kind 0 means that the
// elements are not read.
func storageElements() map[global]element {
	little := binary.LittleEndian
	return map[global]element{
		"torch LongStorage": {'i', 8, little}, "torch DoubleStorage": {'f', 8, little}, "torch IntStorage": {'i', 4, little},
		"torch FloatStorage": {'f', 4, little}, "torch ShortStorage": {'i', 2, little}, "torch CharStorage": {'i', 1, little},
		"torch ByteStorage": {'u', 1, little}, "torch HalfStorage": {0, 2, nil}, "torch BFloat16Storage": {0, 2, nil}, "torch BoolStorage": {0, 1, nil},
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
	e, known := storageElements()[class]
	switch {
	case !ok:
		fail("a storage without a key")
	case !known:
		fail("a storage of class %q", string(class))
	}
	u.widths[key] = e.size
	return &storage{key, e}
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

// resolve loads the elements of the array. storage returns the bytes of the storage with a key.
func (a *tensor) resolve(storage func(key string) []byte) {
	if a.element.kind == 0 {
		fail("not an array of numbers of one or two dimensions")
	}
	if a.data == nil && a.key != "" {
		a.data = storage(a.key)
	}
	n := int64(len(a.data) / a.element.size)
	if a.rows != 0 && a.cols != 0 && !a.within(n) {
		fail("%d x %d elements of an array of %d", a.rows, a.cols, n)
	}
}

// within reports whether all elements are inside an array of n elements, and are not more than the
// array has.
func (a *tensor) within(n int64) bool {
	for _, v := range []int64{a.rows, a.cols, a.step, a.stride, a.offset} {
		if v < 0 || v > n {
			return false
		}
	}
	return a.rows <= n/a.cols && a.offset+(a.rows-1)*a.step+(a.cols-1)*a.stride < n
}

// at returns the element of a row and a column.
func (a *tensor) at(row, col int64) number {
	return a.element.decode(a.data[(a.offset+row*a.step+col*a.stride)*int64(a.element.size):])
}

// transposed returns the array with its rows as columns.
func (a *tensor) transposed() *tensor {
	t := *a
	t.rows, t.cols, t.step, t.stride, t.vector = a.cols, a.rows, a.stride, a.step, false
	return &t
}
