package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"

	"kith/index/internal/huge"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
)

// run is a part of the edges and the nodes of a bulk load, in the order of their addition. Their
// ids are the numbers of their keys in the dictionary of the run.
type run struct {
	edges  spill.Edges
	values []spill.Values // by property
	// stored is the memory of the values in bytes, and longest the memory for sorting the longest
	// list.
	stored, longest int
	full            bool // one of values can have no more
	keys            runKeys
	// last is the previous source and lastID its number: lists are often grouped by source.
	last   Key
	lastID ID
}

// bytes returns the approximate memory of the run.
func (r *run) bytes() int64 {
	return r.edges.Bytes() + int64(r.stored+r.longest) + r.keys.bytes()
}

// add adds the stored form of a value.
func (r *run) add(id ID, property uint16, stored []byte) {
	if missing := int(property) + 1 - len(r.values); missing > 0 {
		r.values = append(r.values, make([]spill.Values, missing)...)
	}
	l := &r.values[property]
	r.stored -= l.Bytes()
	l.Add(spill.Value{ID: id, Stored: stored})
	r.stored += l.Bytes()
	r.longest = max(r.longest, l.SortBytes())
	r.full = r.full || l.Full()
}

// source returns the number of the key of a source.
func (r *run) source(k Key) (id ID, err error) {
	if r.edges.Len() > 0 && k == r.last {
		return r.lastID, nil
	}
	if id, err = r.keys.id(k); err == nil {
		r.last, r.lastID = k, id
	}
	return id, err
}

// clear removes all edges, values and keys.
func (r *run) clear() {
	r.edges.Clear()
	r.last = Key{}
	for i := range r.values {
		r.values[i].Clear()
	}
	r.stored, r.longest, r.full = 0, 0, false
	r.keys.clear()
}

// storedRun is a run in the scratch file. Until it is sorted, its ids are the numbers of its keys.
type storedRun struct {
	edges  spill.Section
	ranks  int64 // where the ranks of the keys start, by number, 4 bytes each
	table  int64 // where the final ids of the keys start, by rank, 4 bytes each
	keys   keySection
	values []spill.ValueSection // by property
}

// write appends a run to the scratch file.
func (r *run) write(f *spill.File) (to storedRun, err error) {
	rank := make([]ID, r.keys.len())
	to.edges = spill.SectionOf(f.Size, &r.edges)
	to.ranks = f.Size + to.edges.Size()
	to.table = to.ranks + 4*int64(len(rank))
	out := writeKeys(f, to.table+4*int64(len(rank)), len(rank))
	for k, id := range r.keys.ascending {
		rank[id] = ID(out.to.keys)
		out.add(k)
	}
	if to.keys, err = out.finish(); err != nil {
		return to, err
	}
	f.Size = to.keys.at + to.keys.size
	if err := cmp.Or(f.WriteEdges(to.edges, &r.edges), f.WriteIDs(to.ranks, rank)); err != nil {
		return to, err
	}
	for i := range r.values {
		section, err := f.WriteValues(&r.values[i])
		if err != nil {
			return to, err
		}
		to.values = append(to.values, section)
	}
	return to, nil
}

// runWriter writes runs to the scratch file, one at a time, in the background.
type runWriter struct {
	file spill.File
	runs []storedRun
	idle *run       // the last run that was written, which is empty now
	done chan error // receives the result of the present write; nil if no run is being written
	err  error
}

// wait waits until the last run is written, and returns the first error.
func (w *runWriter) wait() error {
	if w.done != nil {
		w.err = <-w.done
		w.done = nil
	}
	return w.err
}

// start starts to write a run, after the previous one has been written, and returns an empty one.
func (w *runWriter) start(r *run) (empty *run, err error) {
	if err := w.wait(); err != nil {
		return nil, err
	}
	if w.err = w.file.Open(); w.err != nil {
		return nil, w.err
	}
	if empty = w.idle; empty == nil {
		empty = new(run)
	}
	w.done = make(chan error, 1)
	go func() {
		stored, err := r.write(&w.file)
		r.clear()
		w.runs, w.idle = append(w.runs, stored), r
		w.done <- err
	}()
	return empty, nil
}

// makeRoom spills the run if it has no room for an edge that adds the given number of bytes.
func (b *Bulk) makeRoom(edge int64) error {
	full := b.o.Memory > 0 && b.run.bytes()+edge > b.o.Memory/2 || b.run.full
	if full && b.run.keys.len() > 0 {
		return b.spill()
	}
	return nil
}

// spill starts to write the run to the scratch file, and begins the next run.
func (b *Bulk) spill() error {
	next, err := b.writer.start(b.run)
	if err == nil {
		b.run = next
	}
	return err
}

// sort gives all keys their final ids and sorts the edges and the values of all runs by them.
func (b *Bulk) sort(ctx context.Context) error {
	b.sorted = spill.Sorted{Directed: b.directed, Buffers: b.o.Memory / 4}
	b.numbers = numbering{s: b.s, nodes: b.s.nodes, counts: map[uint16]int64{}, by: new(pages.Owner)}
	if b.strict {
		b.numbers.fits = b.fits
	}
	if b.writer.done == nil && len(b.writer.runs) == 0 && b.writer.err == nil {
		return b.sortInMemory()
	}
	if b.run.keys.len() > 0 {
		if err := b.spill(); err != nil {
			return err
		}
	}
	if err := b.writer.wait(); err != nil {
		return err
	}
	b.run, b.writer.idle = nil, nil
	if err := b.number(ctx); err != nil {
		return err
	}
	b.sorted.File = b.writer.file
	for _, r := range b.writer.runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.rewrite(r); err != nil {
			return err
		}
	}
	b.sorted.Forget()
	b.loaded, b.sorter = spill.Values{}, spill.ValueSorter{}
	return nil
}

// sortInMemory is sort for the only run.
func (b *Bulk) sortInMemory() error {
	r, first := b.run, ID(b.s.Graph.nodes)
	b.numbers.fresh = func(labelledKey) {}
	final := huge.Make[ID](r.keys.len())
	for k, id := range r.keys.ascending {
		var err error
		if final[id], err = b.numbers.id(k); err != nil {
			return err
		}
	}
	b.newKeys = func(yield func(Key, error) bool) {
		for k, id := range r.keys.ascending {
			if final[id] >= first && !yield(k.Key, nil) {
				return
			}
		}
	}
	b.inMemory, b.final, b.run = r.values, final, nil
	edges := r.edges
	r.edges = spill.Edges{}
	return b.sorted.Take(edges, final)
}

// number gives the keys of the stored runs their final ids, and writes the table of each run.
func (b *Bulk) number(ctx context.Context) error {
	f, runs := &b.writer.file, b.writer.runs
	buffer := spill.MergeBuffer(b.o.Memory/4, len(runs))
	var readErr error
	var lists []func() (labelledKey, bool)
	var tables []*bufio.Writer
	for _, r := range runs {
		lists = append(lists, readKeys(f, r.keys, buffer, &readErr))
		tables = append(tables, f.Writer(r.table, buffer))
	}
	added := writeKeys(f, f.Size, spill.WholeBuffer)
	b.numbers.fresh = added.add
	in := spill.NewMerger(lists, func(a, b *labelledKey) bool { return a.Compare(b.Key) < 0 })
	n := 0
	for k, list, ok := in.Next(); ok; k, list, ok = in.Next() {
		if n++; n%edgesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := b.numbers.id(k)
		if err != nil {
			return err
		}
		// Flush returns the error.
		_, _ = tables[list].Write(binary.LittleEndian.AppendUint32(tables[list].AvailableBuffer(), id))
	}
	if readErr != nil {
		return readErr
	}
	for _, t := range tables {
		if err := t.Flush(); err != nil {
			return spill.Error(err)
		}
	}
	section, err := added.finish()
	f.Size += section.size
	b.newKeys = keysOf(f, section)
	return err
}

// rewrite gives the edges and the values of a stored run their final ids and adds the run to the
// sorted lists.
func (b *Bulk) rewrite(r storedRun) error {
	f := &b.sorted.File
	ids, err := f.ReadIDs(r.table, r.keys.keys)
	if err != nil {
		return err
	}
	final, err := f.ReadIDs(r.ranks, r.keys.keys)
	if err != nil {
		return err
	}
	for i, rank := range final {
		if int(rank) >= len(ids) {
			return spill.Error(spill.ErrOther)
		}
		final[i] = ids[rank]
	}
	if err := b.sorted.Rewrite(r.edges, final); err != nil {
		return err
	}
	for property, section := range r.values {
		to, err := b.sorter.Rewrite(f, section, &b.loaded, final)
		if err != nil {
			return err
		}
		if missing := property + 1 - len(b.stored); missing > 0 {
			b.stored = append(b.stored, make([][]spill.ValueSection, missing)...)
		}
		b.stored[property] = append(b.stored[property], to)
	}
	return nil
}
