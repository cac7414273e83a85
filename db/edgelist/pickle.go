package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// errPickle is the error for a pickle that cannot be read.
var errPickle = errors.New("edgelist: not a pickle of a kind that can be read")

// splitError is what the functions that read a split panic with. newSplit returns it.
type splitError struct{ error }

// fail ends the reading of a split with errPickle.
func fail(format string, args ...any) {
	panic(splitError{fmt.Errorf("%w: %w", errPickle, fmt.Errorf(format, args...))})
}

// check ends the reading of a split if there is an error.
func check(err error) {
	if err != nil {
		panic(splitError{fmt.Errorf("edgelist: split: %w", err)})
	}
}

// unpickler runs the few opcodes of Python's pickle machine (protocols 2 to 4) with which
// dictionaries of arrays and tensors are written. It has no classes: the name of a class is only a
// name, and call decides the result of calling it. Everything else is rejected, so a file can only
// describe values.
//
// Values are nil, bool, int64, string, []byte, []any (a tuple), *pickleList, map[string]any,
// global, *dtype, *tensor and *storage. Byte slices refer to the input and values are pushed by
// reference, so memory is a small multiple of the input.
type unpickler struct {
	in     []byte
	stack  []any
	marks  []int
	memo   map[uint32]any
	widths map[string]int // bytes of an element of each storage that a pickle named
}

// global is the name of a Python class or function, "module name".
type global string

// pickleList is a Python list.
type pickleList struct{ items []any }

// load runs the next pickle and returns its value.
func (u *unpickler) load() any {
	u.stack, u.marks, u.memo = nil, nil, make(map[uint32]any)
	for {
		op := u.take(1)[0]
		if op == '.' {
			return u.pop()
		}
		u.run(op)
	}
}

// run executes an opcode.
func (u *unpickler) run(op byte) {
	switch op {
	case 0x80: // PROTO
		u.take(1)
	case 0x95: // FRAME
		u.take(8)
	case 'N':
		u.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		u.push(op == 0x88)
	case 'K':
		u.push(int64(u.number(1)))
	case 'M':
		u.push(int64(u.number(2)))
	case 'J':
		u.push(int64(int32(u.number(4))))
	case 0x8a: // LONG1
		u.long()
	case 'X': // BINUNICODE
		u.text(4)
	case 0x8c: // SHORT_BINUNICODE
		u.text(1)
	case 'B': // BINBYTES
		u.push(u.counted(4))
	case 'C': // SHORT_BINBYTES
		u.push(u.counted(1))
	case 'q':
		u.memo[u.number(1)] = u.top()
	case 'r':
		u.memo[u.number(4)] = u.top()
	case 0x94: // MEMOIZE
		u.memo[uint32(len(u.memo))] = u.top()
	case 'h':
		u.recall(u.number(1))
	case 'j':
		u.recall(u.number(4))
	default:
		u.structure(op)
	}
}

// structure makes tuples, lists, dictionaries and objects.
func (u *unpickler) structure(op byte) {
	switch op {
	case '(':
		u.marks = append(u.marks, len(u.stack))
	case ')':
		u.push([]any{})
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		u.push(u.last(int(op) - 0x84))
	case 't':
		u.push(u.marked())
	case ']':
		u.push(&pickleList{})
	case 'a':
		u.extend(u.last(1))
	case 'e':
		u.extend(u.marked())
	case '}':
		u.push(map[string]any{})
	case 's':
		u.setItems(u.last(2))
	case 'u':
		u.setItems(u.marked())
	case 'c': // GLOBAL
		module := u.line()
		u.push(global(module + " " + u.line()))
	case 0x93: // STACK_GLOBAL
		names := u.last(2)
		u.push(global(fmt.Sprint(names[0], " ", names[1])))
	case 'R': // calls a class
		args, isTuple := u.pop().([]any)
		class, isClass := u.pop().(global)
		if !isClass || !isTuple {
			fail("a call of no class, or without arguments")
		}
		u.push(call(class, args))
	case 0x81: // NEWOBJ
		class, _ := u.last(2)[0].(global)
		failClass(class)
	case 'b': // sets the state of an object
		state := u.pop()
		build(u.top(), state)
	case 'Q': // resolves a persistent id
		u.push(u.open(u.pop()))
	default:
		fail("opcode %q", op)
	}
}

// long pushes an integer of up to 8 bytes as an int64, and a longer one as its bytes.
func (u *unpickler) long() {
	b := u.counted(1)
	if len(b) > 8 {
		u.push(b)
		return
	}
	var wide [8]byte
	if len(b) > 0 && b[len(b)-1] >= 0x80 {
		binary.LittleEndian.PutUint64(wide[:], math.MaxUint64)
	}
	copy(wide[:], b)
	u.push(int64(binary.LittleEndian.Uint64(wide[:])))
}

// text pushes a string that is preceded by its length, which has size bytes.
func (u *unpickler) text(size int) {
	b := u.counted(size)
	if !utf8.Valid(b) {
		fail("a string is not UTF-8")
	}
	u.push(string(b))
}

func (u *unpickler) extend(items []any) {
	l, ok := u.top().(*pickleList)
	if !ok {
		fail("an item of no list")
	}
	l.items = append(l.items, items...)
}

func (u *unpickler) setItems(items []any) {
	d, ok := u.top().(map[string]any)
	if !ok || len(items)%2 != 0 {
		fail("an item of no dictionary")
	}
	for i := 0; i < len(items); i += 2 {
		key, ok := items[i].(string)
		if !ok {
			fail("the key of an item is no string")
		}
		d[key] = items[i+1]
	}
}

// recall pushes a value of the memo.
func (u *unpickler) recall(key uint32) {
	value, ok := u.memo[key]
	if !ok {
		fail("memo %d is empty", key)
	}
	u.push(value)
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) pop() any { return u.last(1)[0] }

// last pops n values.
func (u *unpickler) last(n int) []any {
	at := len(u.stack) - n
	if at < 0 || len(u.marks) > 0 && at < u.marks[len(u.marks)-1] {
		fail("the stack is empty")
	}
	items := slices.Clone(u.stack[at:])
	u.stack = u.stack[:at]
	return items
}

// marked pops all values above the last mark, and the mark.
func (u *unpickler) marked() []any {
	if len(u.marks) == 0 {
		fail("no mark")
	}
	n := len(u.stack) - u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	return u.last(n)
}

// take reads n bytes.
func (u *unpickler) take(n int) []byte {
	if n < 0 || n > len(u.in) {
		fail("it ends before its time")
	}
	b := u.in[:n:n]
	u.in = u.in[n:]
	return b
}

// number reads an unsigned integer of up to 4 bytes.
func (u *unpickler) number(size int) uint32 {
	var wide [4]byte
	copy(wide[:], u.take(size))
	return binary.LittleEndian.Uint32(wide[:])
}

// counted reads bytes that are preceded by their number, which has size bytes.
func (u *unpickler) counted(size int) []byte { return u.take(int(u.number(size))) }

func (u *unpickler) line() string {
	at := bytes.IndexByte(u.in, '\n')
	if at < 0 || at > 200 {
		fail("a name without an end")
	}
	return string(u.take(at + 1)[:at])
}

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
