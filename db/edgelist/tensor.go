package edgelist

import "fmt"

// storage refers to a block of numbers outside the pickle.
type storage struct {
	key   string
	width int // bytes of an integer; 0 means not integers
}

// storages maps each storage that a pickle names to the size of its elements in bytes.
type storages map[string]int

// dtype is NumPy's type of an element. width is the size of an integer in bytes, or 0 for any other type.
type dtype struct{ width int }

// arrays returns an unpickler that supports only NumPy arrays and tensors, and records the storages in seen. Arrays
// that are not matrices of integers become a tensor of width 0.
func arrays(seen storages) *unpickler {
	return &unpickler{call: makeArray, build: fillArray, persistent: seen.open}
}

// makeArray returns the result of calling one of the accepted functions.
func makeArray(class global, args []any) (any, error) {
	switch class {
	case "_codecs encode": // how protocol 2 writes bytes
		return latin1(args)
	case "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct":
		return &tensor{}, nil
	case "numpy dtype":
		return makeDtype(args)
	case "collections OrderedDict":
		return map[string]any{}, nil
	case "torch._utils _rebuild_tensor_v2":
		return makeTensor(args)
	}
	return nil, fmt.Errorf("%w: it calls %q", errPickle, string(class))
}

// latin1 returns the bytes that are encoded as the characters of a string.
func latin1(args []any) (any, error) {
	var text string
	if len(args) == 2 && args[1] == "latin1" {
		text, _ = args[0].(string)
	}
	b := make([]byte, 0, len(text)/2)
	for _, c := range text {
		if c > 0xff {
			return nil, fmt.Errorf("%w: a character above 255 in bytes", errPickle)
		}
		b = append(b, byte(c))
	}
	return b, nil
}

func makeDtype(args []any) (any, error) {
	if len(args) > 0 {
		switch args[0] {
		case "i8":
			return &dtype{8}, nil
		case "i4":
			return &dtype{4}, nil
		}
	}
	return &dtype{}, nil
}

// fillArray sets the state of an array, (version, shape, dtype, column major, bytes), or the byte order of a dtype.
func fillArray(object, state any) error {
	s, _ := state.([]any)
	switch o := object.(type) {
	case *dtype:
		if o.width > 0 && (len(s) < 2 || s[1] != "<") {
			return fmt.Errorf("%w: elements that are not little-endian", errPickle)
		}
		return nil
	case *tensor:
		return o.fill(s)
	}
	return fmt.Errorf("%w: a state of %T", errPickle, object)
}

func (a *tensor) fill(state []any) error {
	if len(state) != 5 {
		return fmt.Errorf("%w: an array's state of %d parts", errPickle, len(state))
	}
	shape, isShape := state[1].([]any)
	kind, isType := state[2].(*dtype)
	column, isBool := state[3].(bool)
	data, isBytes := state[4].([]byte)
	switch {
	case !isShape || !isType || !isBool:
		return fmt.Errorf("%w: an array without a shape, a type or an order", errPickle)
	case len(shape) != 2 || kind.width == 0:
		return nil
	}
	var size [2]int64
	if !integers(shape, size[:]) || !isBytes {
		return fmt.Errorf("%w: an array that is not a matrix of integers", errPickle)
	}
	a.rows, a.cols, a.width, a.data = size[0], size[1], kind.width, data
	a.step, a.stride = a.cols, 1
	if column {
		a.step, a.stride = 1, a.rows
	}
	return nil
}

// makeTensor makes a tensor from (storage, offset, size, stride, ...).
func makeTensor(args []any) (any, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("%w: a tensor of %d parts", errPickle, len(args))
	}
	s, isStorage := args[0].(*storage)
	if shape, ok := args[2].([]any); ok && isStorage && (len(shape) != 2 || s.width == 0) {
		return &tensor{}, nil
	}
	var offset [1]int64
	var size, stride [2]int64
	if !isStorage || !integers(args[1:2], offset[:]) || !integers(args[2], size[:]) || !integers(args[3], stride[:]) {
		return nil, fmt.Errorf("%w: a tensor that is not a matrix", errPickle)
	}
	return &tensor{
		rows: size[0], cols: size[1], step: stride[0], stride: stride[1], offset: offset[0], width: s.width, key: s.key,
	}, nil
}

// open resolves the persistent id ("storage", class, key, device, length, ...).
func (seen storages) open(id any) (any, error) {
	parts, _ := id.([]any)
	if len(parts) < 3 || parts[0] != "storage" {
		return nil, fmt.Errorf("%w: a persistent id of no storage", errPickle)
	}
	class, _ := parts[1].(global)
	key, ok := parts[2].(string)
	if !ok {
		return nil, fmt.Errorf("%w: a storage without a key", errPickle)
	}
	s := &storage{key: key}
	switch class {
	case "torch LongStorage":
		s.width, seen[key] = 8, 8
	case "torch IntStorage":
		s.width, seen[key] = 4, 4
	case "torch DoubleStorage":
		seen[key] = 8
	case "torch FloatStorage":
		seen[key] = 4
	case "torch HalfStorage", "torch BFloat16Storage", "torch ShortStorage":
		seen[key] = 2
	case "torch ByteStorage", "torch CharStorage", "torch BoolStorage":
		seen[key] = 1
	default:
		return nil, fmt.Errorf("%w: a storage of class %q", errPickle, string(class))
	}
	return s, nil
}

// integers stores a tuple of exactly len(into) integers in into.
func integers(tuple any, into []int64) bool {
	t, ok := tuple.([]any)
	if !ok || len(t) != len(into) {
		return false
	}
	for i, v := range t {
		n, ok := v.(int64)
		if !ok {
			return false
		}
		into[i] = n
	}
	return true
}
