package edgelist

import (
	archive "archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"kith/db/edgelist/internal/foreign"
)

// newArchive reads a file that is not a single array: an archive of arrays, or a file of PyTorch,
// which is also an archive in later versions.
func newArchive(in io.Reader, o Options) (source, error) {
	at, size, err := o.place(in)
	if err != nil {
		return nil, err
	}
	z, err := archive.NewReader(at, size)
	if o.Format == Torch || err == nil && slices.ContainsFunc(z.File, isPickle) {
		return newSplit(at, size, o)
	}
	if err != nil {
		return nil, fmt.Errorf("edgelist: npz: %w", err)
	}
	return newArrays(z, o)
}

func isPickle(f *archive.File) bool { return path.Base(f.Name) == "data.pkl" }

// newArrays reads the edges of an archive of arrays, with their weights and times. A note names the
// arrays that are not read.
func newArrays(z *archive.Reader, o Options) (*arrayEdges, error) {
	main, err := edgesOf(z)
	if err != nil {
		return nil, err
	}
	unread := slices.DeleteFunc(memberNames(z), func(n string) bool { return n == memberName(main) })
	var beside [roleCount]*arrayRows
	for r := range roles {
		at := slices.IndexFunc(z.File, func(f *archive.File) bool {
			return f != main && slices.Contains(roles[r].arrays, strings.ToLower(memberName(f)))
		})
		if at < 0 || !o.reads(role(r)) {
			continue
		}
		in, err := openMember(z.File[at])
		if err == nil {
			beside[r], err = newMatrix(in, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", z.File[at].Name, err)
		}
		unread = slices.DeleteFunc(unread, func(n string) bool { return n == memberName(z.File[at]) })
	}
	in, err := openMember(main)
	if err != nil {
		return nil, err
	}
	a, err := newArrayEdges(in, o, memberName(main), beside)
	if err == nil && len(unread) > 0 {
		a.note("arrays not read: %s", strings.Join(unread, ", "))
	}
	return a, err
}

// memberName returns the name of an array in an archive.
func memberName(f *archive.File) string { return strings.TrimSuffix(f.Name, ".npy") }

func memberNames(z *archive.Reader) (names []string) {
	for _, f := range z.File {
		names = append(names, memberName(f))
	}
	return names
}

// foreignArchives returns formats that are archives too, with a file that each of them has, and
// what to do.
func foreignArchives() []struct{ has, name, do string } {
	return []struct{ has, name, do string }{
		{"xl/workbook.xml", "a sheet of Excel", "save the sheet as CSV"},
		{"xl/workbook.bin", "a sheet of Excel", "save the sheet as CSV"},
		{"content.xml", "a sheet of OpenDocument", "save the sheet as CSV"},
		{"word/document.xml", "a text of Word", foreign.TableOfIt},
		{"Project_xml", "a project of Gephi", "export the spreadsheet of edges from Gephi as CSV"},
		{"indptr.npy", "a sparse matrix of scipy", "write it with scipy.io.mmwrite('edges.mtx', scipy.sparse.load_npz(...))"},
		{"adj_indptr.npy", "a sparse matrix in parts", "make it a scipy.sparse.csr_matrix of adj_data, adj_indices and adj_indptr, and write that with scipy.io.mmwrite"},
		{"row.npy", "a sparse matrix of scipy", "write it with scipy.io.mmwrite('edges.mtx', scipy.sparse.load_npz(...))"},
	}
}

// edgesOf returns the array of edges of an archive: the one called edge_index, edges or edge, or
// the only one.
func edgesOf(z *archive.Reader) (*archive.File, error) {
	names := memberNames(z)
	for _, name := range []string{"edge_index", "edges", "edge"} {
		if i := slices.Index(names, name); i >= 0 && z.File[i].Name != name {
			return z.File[i], nil
		}
	}
	for _, f := range foreignArchives() {
		if slices.ContainsFunc(z.File, func(m *archive.File) bool { return m.Name == f.has }) {
			return nil, fmt.Errorf("%w: this looks like %s; %s", errArray, f.name, f.do)
		}
	}
	arrays := slices.DeleteFunc(slices.Clone(z.File), func(f *archive.File) bool { return !strings.HasSuffix(f.Name, ".npy") })
	switch {
	case len(arrays) == 0:
		return nil, fmt.Errorf("%w: the archive holds %s, and no array; unpack it first", errArray, listed(names))
	case len(arrays) == 1:
		return arrays[0], nil
	}
	return nil, fmt.Errorf("%w: the archive holds %s, expected edge_index, edges or edge, or a single array", errArray, listed(names))
}

// listed quotes up to 10 names, for a message.
func listed(names []string) string {
	const most = 10
	text := fmt.Sprintf("%q", names[:min(len(names), most)])
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

func openMember(f *archive.File) (io.Reader, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("edgelist: npz: %s: %w", f.Name, err)
	}
	return buffered(in), nil
}

// errArray is the error for an array that holds no edges.
var errArray = errors.New("edgelist: not an array of edges")

// arrayEdges reads edges from a NumPy array. An array of shape (m, 2) or (m, 3) has an edge a row,
// one of shape (2, m) or (3, m) an edge a column: source, target, and optionally weight or time. If
// both shapes match, a row is an edge, unless the array is called edge_index. An array of shape (n,
// k, 2) has k edges in each of n rows.
type arrayEdges struct {
	*arrayRows
	Detected
	roles     [roleCount]arrayColumn // where the ends and the other values of an edge are
	relations nameSet
	signed    bool // weights may be negative
}

// arrayColumn is a column of an array. Without an array there is no such column.
type arrayColumn struct {
	*arrayRows
	column int
}

// newArrayEdges reads the array in. beside are the weights and times in other arrays, by role.
func newArrayEdges(in io.Reader, o Options, name string, beside [roleCount]*arrayRows) (*arrayEdges, error) {
	h, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	a := &arrayEdges{Detected: Detected{Format: o.Format}, signed: o.Negative != ""}
	n, fields, byColumn, err := a.shape(h.Descr.Shape, h.Descr.Fortran, isEdgeIndex(name), o.Columns.count())
	if err != nil {
		return nil, err
	}
	if a.arrayRows, err = newArrayRows(in, h.Descr.Type, n, fields, byColumn, o); err != nil {
		return nil, err
	}
	for r, in := range beside {
		if in == nil {
			continue
		}
		if in.rows != n || in.cols != 1 {
			return nil, fmt.Errorf("%w: %d edges, and an array of %d x %d %ss", errArray, n, in.rows, in.cols, roles[r].name)
		}
		a.roles[r] = arrayColumn{in, 0}
	}
	return a, a.chooseColumns(o)
}

// isEdgeIndex reports whether an array with this name has an edge a column, as PyTorch Geometric
// has it.
func isEdgeIndex(name string) bool {
	name = strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	return strings.HasPrefix(name, "edge_index") || strings.HasPrefix(name, "edge_label_index")
}

// shape returns the number of edges, and of numbers of each, and whether the array has the first
// numbers of all edges before the second ones. asked is the number of columns that the options ask
// for, which may be more than three.
func (a *arrayEdges) shape(shape []int, fortran, index bool, asked int) (n, fields int, byColumn bool, err error) {
	given := shape
	if len(shape) == 3 && shape[2] == 2 && min(shape[0], shape[1]) >= 0 && max(shape[0], shape[1]) <= math.MaxInt32 && !fortran {
		shape = []int{shape[0] * shape[1], 2}
	}
	edge := func(n int) bool { return n == 2 || n == 3 || n == asked }
	if len(shape) != 2 || !edge(shape[0]) && !edge(shape[1]) || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > math.MaxInt/32 {
		return 0, 0, false, fmt.Errorf("%w: shape %v, expected (m, 2), (m, 3), (2, m), (3, m) or (n, k, 2)", errArray, given)
	}
	rows, columns := shape[0], shape[1]
	switch {
	case index && rows == 2, !edge(columns):
		return columns, rows, !fortran, nil
	case edge(rows) && len(given) == 2 && !index:
		a.note("an array of %d x %d: each row was taken for an edge; in an array called edge_index each column is one", rows, columns)
	}
	return rows, columns, fortran, nil
}

// chooseColumns decides which columns are read: the columns that the options name, or all columns.
// A third number is then a weight, unless the first numbers say that it is a time.
func (a *arrayEdges) chooseColumns(o Options) error {
	has := func(r role) bool { return a.roles[r].arrayRows != nil }
	own := SrcDst // the roles of the array's own columns
	switch third := (arrayColumn{a.arrayRows, SrcDst.count()}); {
	case a.cols < SrcDstWeight.count():
	case o.Columns == Auto && third.holdsTimes() && !has(roleTime):
		own = SrcDstTime
	case o.Columns == Auto && !has(roleWeight):
		own = SrcDstWeight
	}
	if o.Columns != Auto && a.cols >= o.Columns.count() {
		own = o.Columns
	}
	for r, at := range own.places() {
		if at >= 0 && (!has(role(r)) || own == o.Columns) {
			a.roles[r] = arrayColumn{a.arrayRows, at}
		}
	}
	var at places
	for r := range at {
		if at[r] = -1; has(role(r)) && o.reads(role(r)) {
			at[r] = r
		} else if a.roles[r] = (arrayColumn{}); o.Columns != Auto && o.Columns.has(role(r)) {
			return fmt.Errorf("%w: the array has no %ss, expected %v", errArray, roles[r].name, o.Columns)
		}
	}
	if a.Columns = at.columns(); o.Columns != Auto {
		a.Columns = o.Columns
	}
	if times := a.roles[roleTime]; times.arrayRows != nil {
		if a.Times = o.Times; a.Times == AnyTime {
			a.Times = times.timeFormat()
		}
		if times.element == (element{'f', 4, times.element.order}) {
			a.note("the times have 32 bits, which rounds times of today to two minutes; times of 64 bits are exact")
		}
	}
	return nil
}

// first returns the first numbers of the column, before any row was read.
func (c arrayColumn) first() (all []number) {
	n, size := min(c.rows, guessLines), c.element.size
	buf := make([]byte, n*size)
	if c.at != nil {
		if _, err := c.at.ReadAt(buf, int64(c.column*c.rows*size)); err != nil {
			return nil // reading the rows reports it
		}
	} else if in, ok := c.in.(*bufio.Reader); ok {
		head, _ := in.Peek(n * c.cols * size)
		for i := range min(n, len(head)/(c.cols*size)) {
			copy(buf[i*size:], head[(i*c.cols+c.column)*size:][:size])
		}
		buf = buf[:min(n, len(head)/(c.cols*size))*size]
	}
	for ; len(buf) >= size; buf = buf[size:] {
		all = append(all, c.element.decode(buf))
	}
	return all
}

// holdsTimes reports whether all of the first numbers are rather times than weights.
func (c arrayColumn) holdsTimes() bool {
	if c.arrayRows == nil {
		return false
	}
	first := c.first()
	for _, n := range first {
		if isTime, _ := looksLikeTime([]byte(n.String())); !isTime {
			return false
		}
	}
	return len(first) > 0
}

// timeFormat guesses the format of a column of times.
func (c arrayColumn) timeFormat() TimeFormat {
	var forms timeForms
	for _, n := range c.first() {
		forms.add([]byte(n.String()))
	}
	return forms.best("")
}

// value returns the number of the current edge.
func (c arrayColumn) value() number { return c.number(c.column) }

func (a *arrayEdges) next(e *Edge) error {
	err := a.arrayRows.next()
	for _, c := range a.roles {
		if c.arrayRows != nil && c.arrayRows != a.arrayRows {
			err = cmp.Or(err, c.next())
		}
	}
	e.Line = int64(a.row)
	if err != nil {
		return err
	}
	src, dst := a.roles[roleSrc].value(), a.roles[roleDst].value()
	if !src.isInt || !dst.isInt {
		return a.bad("key is not an integer of 64 bits, or one that floating point rounds")
	}
	e.Src, e.Dst = Token{Int: src.whole, IsInt: true}, Token{Int: dst.whole, IsInt: true}
	if c := a.roles[roleRelation]; c.arrayRows != nil {
		n, ok := c.value(), false
		if e.Relation, ok = a.relations.number(n); !ok {
			return a.bad(a.relations.faultOf(n))
		}
	}
	if c := a.roles[roleWeight]; c.arrayRows != nil {
		ok := false
		if e.Weight, ok = validWeight(float32(c.value().real), a.signed); !ok {
			return a.bad("weight is not a finite number above 0 (32 bits)").ofWeight(c.value().real)
		}
	}
	if c := a.roles[roleTime]; c.arrayRows != nil {
		ok := false
		if e.Time, ok = a.Times.ofNumber(c.value()); !ok {
			msg, form := a.Times.wrongTime([]byte(c.value().String()))
			if err := a.bad(msg); form != AnyTime {
				return err.help("times", form.String())
			}
			return a.bad(msg)
		}
	}
	return nil
}

// bad returns the error for the current edge.
func (a *arrayEdges) bad(msg string) *LineError {
	var text []string
	for i := range a.cols {
		text = append(text, a.number(i).String())
	}
	for _, c := range a.roles {
		if c.arrayRows != nil && c.arrayRows != a.arrayRows {
			text = append(text, c.value().String())
		}
	}
	return &LineError{Line: int64(a.row), Text: strings.Join(text, " "), Msg: msg}
}
