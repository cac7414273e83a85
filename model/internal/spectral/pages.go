package spectral

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// The rows of the nodes are stored in pages of pageNodes consecutive nodes: a crc32c of the rest of
// the page, and the rows of each matrix of perNode, as appendRows packs them. A page is read when
// one of its rows is first used, and stays in memory: a question reads the rows of a few hundred
// nodes.
const (
	pageNodes = 32
	sumLen    = 4 // bytes of a checksum
)

// Stored is where the pages are: a file, or a part of one.
type Stored interface {
	io.ReaderAt
	Size() int64
}

// pages reads the rows of a spectrum. It is safe for concurrent use.
type pages struct {
	of     *Vectors // without the rows; has no profile, or all rows are read at once
	nodes  int
	stored Stored
	bytes  int                    // of a page; the last one may be shorter
	read   []atomic.Pointer[rows] // by page; nil: not read
	whole  atomic.Pointer[Vectors]
	err    atomic.Pointer[error]

	mu     sync.Mutex // held while pages are read; protects buffer
	buffer []byte
}

// AppendPages appends the pages to b. It reads all rows that are not in memory.
func (v *Vectors) AppendPages(b []byte) ([]byte, error) {
	v, err := v.Load()
	if err != nil {
		return nil, err
	}
	b = slices.Grow(b, int(v.storedBytes(v.Nodes())))
	for first := 0; first < v.Nodes(); first += pageNodes {
		begin := len(b)
		b = append(b, make([]byte, sumLen)...)
		for _, x := range v.perNode() {
			b = appendRows(b, nn.Rows(*x.General, first, min(first+pageNodes, v.Nodes())))
		}
		binary.LittleEndian.PutUint32(b[begin:], Checksum(b[begin+sumLen:]))
	}
	return b, nil
}

// Checksum returns the crc32c of stored bytes.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// nodeBytes returns the stored size of the rows of a node.
func (v *Vectors) nodeBytes() (n int) {
	for _, x := range v.perNode() {
		n += packedLen(x.cols)
	}
	return n
}

// storedBytes returns the size of the pages of n nodes.
func (v *Vectors) storedBytes(n int) int64 {
	return int64(n)*int64(v.nodeBytes()) + int64((n+pageNodes-1)/pageNodes)*sumLen
}

// open gives v, which has no rows, the pages of n nodes.
func (v *Vectors) open(stored Stored, n int) error {
	for _, x := range v.perNode() {
		if n > 0 && x.cols == 0 {
			return errors.New("rows without numbers")
		}
	}
	if want := v.storedBytes(n); stored.Size() != want {
		return fmt.Errorf("%d bytes of rows of %d nodes, which take %d", stored.Size(), n, want)
	}
	p := &pages{of: v, nodes: n, stored: stored, bytes: sumLen + pageNodes*v.nodeBytes(), read: make([]atomic.Pointer[rows], (n+pageNodes-1)/pageNodes)}
	v.spectrum.pages = p
	return nil
}

// Load returns the vectors with all rows in memory, or the first error of reading rows.
func (v *Vectors) Load() (*Vectors, error) {
	if v == nil || v.spectrum.pages == nil {
		return v, nil
	}
	return v.spectrum.pages.load(), v.Err()
}

// Err returns the first error of reading rows, or nil. Rows that cannot be read have undefined
// numbers, which are finite.
func (v *Vectors) Err() error {
	if v == nil || v.spectrum.pages == nil {
		return nil
	}
	if err := v.spectrum.pages.err.Load(); err != nil {
		return *err
	}
	return nil
}

// load returns the vectors with all rows in memory.
func (p *pages) load() *Vectors {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.whole.Load(); v != nil {
		return v
	}
	v := p.blank(0, p.nodes)
	for no := range p.read {
		p.fill(v, no)
	}
	p.whole.Store(v)
	for no := range p.read {
		p.read[no].Store(nil) // its rows are in v
	}
	return v
}

// rows returns the page that has the rows of a node.
func (p *pages) rows(u ID) *rows {
	no := int(u) / pageNodes
	if r := p.known(no); r != nil {
		return r
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.known(no); r != nil {
		return r
	}
	v := p.blank(no*pageNodes, min((no+1)*pageNodes, p.nodes))
	p.fill(v, no)
	p.read[no].Store(&v.spectrum.rows)
	return &v.spectrum.rows
}

// known returns rows in memory with those of a page, or nil.
func (p *pages) known(no int) *rows {
	if v := p.whole.Load(); v != nil {
		return &v.spectrum.rows
	}
	return p.read[no].Load()
}

// blank returns vectors like p.of with rows, all zeros, of the nodes from first up to but not
// including end.
func (p *pages) blank(first, end int) *Vectors {
	s := *p.of.spectrum
	s.pages, s.first, s.targets = nil, ID(first), make([]rowNumbers, end-first)
	v := &Vectors{spectrum: &s, profile: p.of.profile}
	for _, x := range v.perNode() {
		*x.General = nn.Resize(blas32.General{}, end-first, x.cols)
	}
	if !s.directed {
		s.out = s.in
	}
	return v
}

// fill reads a page into the rows of v. The caller holds mu.
func (p *pages) fill(v *Vectors, no int) {
	first := no * pageNodes
	end := min(first+pageNodes, p.nodes)
	if err := p.unpack(v, first, end); err != nil {
		err = fmt.Errorf("vectors of the nodes from %d on: %w", first, err)
		p.err.CompareAndSwap(nil, &err)
	}
}

// unpack reads the page of the nodes from first up to but not including end into the rows of v.
func (p *pages) unpack(v *Vectors, first, end int) error {
	size := p.bytes - (first+pageNodes-end)*v.nodeBytes()
	p.buffer = slices.Grow(p.buffer[:0], size)[:size]
	b := p.buffer
	if n, err := p.stored.ReadAt(b, int64(first/pageNodes)*int64(p.bytes)); n < size {
		return err
	}
	if binary.LittleEndian.Uint32(b) != Checksum(b[sumLen:]) {
		return errors.New("checksum")
	}
	b = b[sumLen:]
	s := v.spectrum
	from, to := first-int(s.first), end-int(s.first)
	for _, x := range v.perNode() {
		var err error
		if b, err = unpackRows(b, nn.Rows(*x.General, from, to)); err != nil {
			return err
		}
	}
	s.readTargets(from, to)
	return nil
}
