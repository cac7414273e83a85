package edgelist

import (
	archive "archive/zip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
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

// besideNames returns the names of arrays with the weights and the times of edges.
func besideNames() [4][]string {
	return [4][]string{
		roleWeight: {"edge_weight", "edge_weights", "weight", "weights"},
		roleTime:   {"edge_time", "edge_times", "time", "times", "timestamp", "timestamps", "edge_timestamp", "edge_ts", "ts", "t", "edge_year", "year"},
	}
}

// newArrays reads the edges of an archive of arrays, with their weights and times. A note names the
// arrays that are not read.
func newArrays(z *archive.Reader, o Options) (*arrayEdges, error) {
	main, err := edgesOf(z)
	if err != nil {
		return nil, err
	}
	unread := slices.DeleteFunc(memberNames(z), func(n string) bool { return n == memberName(main) })
	var beside [4]*arrayRows
	for role, names := range besideNames() {
		at := slices.IndexFunc(z.File, func(f *archive.File) bool { return f != main && slices.Contains(names, strings.ToLower(memberName(f))) })
		if role < roleWeight || at < 0 || o.Columns != Auto && o.Columns.places()[role] < 0 {
			continue
		}
		in, err := openMember(z.File[at])
		if err == nil {
			beside[role], err = newMatrix(in, o)
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
		{"word/document.xml", "a text of Word", tableOfIt},
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
