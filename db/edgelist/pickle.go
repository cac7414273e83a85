package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// errPickle is the error for a pickle that cannot be read.
var errPickle = errors.New("edgelist: not a pickle of a kind that can be read")

// unpickler runs the few opcodes of Python's pickle machine (protocols 2 to 4) with which dictionaries of arrays and
// tensors are written. It has no classes: the name of a class is only a name, and the function call decides the result
// of calling it. Everything else is rejected, so a file can only describe values.
//
// Values are nil, bool, int64, string, []byte, []any (a tuple), *pickleList, map[string]any, global, and the results of
// call, build and persistent. Byte slices refer to the input and values are pushed by reference, so memory is a small
// multiple of the input.
type unpickler struct {
	in    []byte
	stack []any
	marks []int
	memo  map[uint32]any

	call       func(class global, args []any) (any, error)
	build      func(object, state any) error
	persistent func(id any) (any, error)
}

// global is the name of a Python class or function, "module name".
type global string

// pickleList is a Python list.
type pickleList struct{ items []any }

// load runs one pickle and returns its value and the bytes after it.
func (u *unpickler) load(in []byte) (value any, rest []byte, err error) {
	u.in, u.stack, u.marks, u.memo = in, nil, nil, make(map[uint32]any)
	for {
		op, err := u.take(1)
		if err != nil {
			return nil, nil, err
		}
		if op[0] == '.' {
			value, err := u.pop()
			return value, u.in, err
		}
		if err := u.run(op[0]); err != nil {
			return nil, nil, err
		}
	}
}

// run executes one opcode.
func (u *unpickler) run(op byte) (err error) {
	switch op {
	case 0x80: // PROTO
		_, err = u.take(1)
	case 0x95: // FRAME
		_, err = u.take(8)
	case 'N':
		u.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		u.push(op == 0x88)
	case 'K':
		err = u.integer(1, func(b []byte) int64 { return int64(b[0]) })
	case 'M':
		err = u.integer(2, func(b []byte) int64 { return int64(binary.LittleEndian.Uint16(b)) })
	case 'J':
		err = u.integer(4, func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) })
	case 0x8a: // LONG1
		err = u.long()
	case 'X': // BINUNICODE
		err = u.text(4)
	case 0x8c: // SHORT_BINUNICODE
		err = u.text(1)
	case 'B', 'C': // BINBYTES, SHORT_BINBYTES
		err = u.result(u.counted(map[byte]int{'B': 4, 'C': 1}[op]))
	case 'q', 'r', 'h', 'j':
		err = u.recall(op)
	case 0x94: // MEMOIZE
		u.memo[uint32(len(u.memo))] = u.top()
	default:
		err = u.structure(op)
	}
	return err
}

// structure makes tuples, lists, dictionaries and objects.
func (u *unpickler) structure(op byte) error {
	switch op {
	case '(':
		u.marks = append(u.marks, len(u.stack))
	case ')':
		u.push([]any{})
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		return u.result(u.last(int(op) - 0x84))
	case 't':
		return u.result(u.marked())
	case ']':
		u.push(&pickleList{})
	case 'a', 'e':
		return u.extend(op == 'e')
	case '}':
		u.push(map[string]any{})
	case 's', 'u':
		return u.setItems(op == 'u')
	case 'c': // GLOBAL
		module, err := u.line()
		if err != nil {
			return err
		}
		name, err := u.line()
		u.push(global(module + " " + name))
		return err
	case 0x93: // STACK_GLOBAL
		names, err := u.last(2)
		if err == nil {
			u.push(global(fmt.Sprint(names[0], " ", names[1])))
		}
		return err
	case 'R', 'b', 'Q':
		return u.object(op)
	default:
		return fmt.Errorf("%w: opcode %q", errPickle, op)
	}
	return nil
}

func (u *unpickler) integer(n int, decode func([]byte) int64) error {
	b, err := u.take(n)
	if err == nil {
		u.push(decode(b))
	}
	return err
}

// long pushes an integer of up to 8 bytes as an int64, and a longer one as its bytes.
func (u *unpickler) long() error {
	b, err := u.counted(1)
	if err != nil {
		return err
	}
	if len(b) > 8 {
		u.push(b)
		return nil
	}
	var wide [8]byte
	if len(b) > 0 && b[len(b)-1] >= 0x80 {
		binary.LittleEndian.PutUint64(wide[:], math.MaxUint64)
	}
	copy(wide[:], b)
	u.push(int64(binary.LittleEndian.Uint64(wide[:])))
	return nil
}

// text pushes a string that is preceded by its length, which has size bytes.
func (u *unpickler) text(size int) error {
	b, err := u.counted(size)
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("%w: a string is not UTF-8", errPickle)
	}
	u.push(string(b))
	return err
}

func (u *unpickler) extend(many bool) error {
	items, err := u.items(many, 1)
	if err != nil {
		return err
	}
	l, ok := u.top().(*pickleList)
	if !ok {
		return fmt.Errorf("%w: an item of no list", errPickle)
	}
	l.items = append(l.items, items...)
	return nil
}

func (u *unpickler) setItems(many bool) error {
	items, err := u.items(many, 2)
	if err != nil {
		return err
	}
	d, ok := u.top().(map[string]any)
	if !ok || len(items)%2 != 0 {
		return fmt.Errorf("%w: an item of no dictionary", errPickle)
	}
	for i := 0; i < len(items); i += 2 {
		key, ok := items[i].(string)
		if !ok {
			return fmt.Errorf("%w: the key of an item is no string", errPickle)
		}
		d[key] = items[i+1]
	}
	return nil
}

// items pops everything above the mark if many is set, otherwise n values.
func (u *unpickler) items(many bool, n int) ([]any, error) {
	if many {
		return u.marked()
	}
	return u.last(n)
}

// recall stores the top of the stack in the memo (q, r) or pushes a value of the memo (h, j).
func (u *unpickler) recall(op byte) error {
	b, err := u.take(map[byte]int{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op])
	if err != nil {
		return err
	}
	var wide [4]byte
	copy(wide[:], b)
	key := binary.LittleEndian.Uint32(wide[:])
	if op == 'q' || op == 'r' {
		u.memo[key] = u.top()
		return nil
	}
	value, ok := u.memo[key]
	if !ok {
		return fmt.Errorf("%w: memo %d is empty", errPickle, key)
	}
	u.push(value)
	return nil
}

// object calls a class (R), sets the state of an object (b) or resolves a persistent id (Q).
func (u *unpickler) object(op byte) error {
	above, err := u.pop()
	switch {
	case err != nil:
		return err
	case op == 'b':
		return u.build(u.top(), above)
	case op == 'Q':
		return u.result(u.persistent(above))
	}
	f, err := u.pop()
	if err != nil {
		return err
	}
	class, isClass := f.(global)
	args, isTuple := above.([]any)
	if !isClass || !isTuple {
		return fmt.Errorf("%w: a call of %T", errPickle, f)
	}
	return u.result(u.call(class, args))
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

// result pushes the result of a function unless the function failed.
func (u *unpickler) result(v any, err error) error {
	if err == nil {
		u.push(v)
	}
	return err
}

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) pop() (any, error) {
	items, err := u.last(1)
	if err != nil {
		return nil, err
	}
	return items[0], nil
}

// last pops n values.
func (u *unpickler) last(n int) ([]any, error) {
	at := len(u.stack) - n
	if at < 0 || len(u.marks) > 0 && at < u.marks[len(u.marks)-1] {
		return nil, fmt.Errorf("%w: the stack is empty", errPickle)
	}
	items := slices.Clone(u.stack[at:])
	u.stack = u.stack[:at]
	return items, nil
}

// marked pops all values above the last mark, and the mark.
func (u *unpickler) marked() ([]any, error) {
	if len(u.marks) == 0 {
		return nil, fmt.Errorf("%w: no mark", errPickle)
	}
	n := len(u.stack) - u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	return u.last(n)
}

// take reads n bytes.
func (u *unpickler) take(n int) ([]byte, error) {
	if n > len(u.in) {
		return nil, fmt.Errorf("%w: it ends before its time", errPickle)
	}
	b := u.in[:n:n]
	u.in = u.in[n:]
	return b, nil
}

// counted reads bytes that are preceded by their number, which has size bytes.
func (u *unpickler) counted(size int) ([]byte, error) {
	var wide [4]byte
	b, err := u.take(size)
	if err != nil {
		return nil, err
	}
	copy(wide[:], b)
	return u.take(int(binary.LittleEndian.Uint32(wide[:])))
}

func (u *unpickler) line() (string, error) {
	at := bytes.IndexByte(u.in, '\n')
	if at < 0 || at > 200 {
		return "", fmt.Errorf("%w: a name without an end", errPickle)
	}
	b, err := u.take(at + 1)
	return string(bytes.TrimSuffix(b, []byte("\n"))), err
}
