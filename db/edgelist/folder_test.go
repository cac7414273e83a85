package edgelist

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// folderOf returns a folder of files.
func folderOf(files map[string]string) fs.FS {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

// describeLast reads the edges of the last part of a folder, and the notes about the folder.
func describeLast(folder fs.FS, o Options) string {
	parts, err := Parts(folder, "")
	if err != nil {
		return err.Error()
	}
	p := parts[len(parts)-1]
	f, err := p.Open(folder)
	if err != nil {
		return err.Error()
	}
	o.Relations = p.Relations
	l, err := NewReader(f, o)
	if err != nil {
		return err.Error()
	}
	list := []string{l.Names.String()}
	for e, err := range l.Edges() {
		if err != nil {
			list = append(list, err.Error())
		} else {
			list = append(list, show(e))
		}
	}
	if err := f.Close(); err != nil {
		list = append(list, err.Error())
	}
	for _, n := range slices.Concat(l.Notes, p.Notes) {
		list = append(list, n.String())
	}
	return strings.Join(list, "; ")
}

// The edges of a folder have the weights and years of the files beside them. Files that are not
// read are named.
func TestFolderOfWeightsAndYears(t *testing.T) {
	t.Parallel()
	edges, weights, years := string(zip("0,1\n1,2\n")), string(zip("5\n0.5\n")), string(zip("2001\n2002\n"))
	for _, c := range []struct {
		name  string
		files map[string]string
		o     Options
		want  string
	}{
		{"weights and years", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": weights, "raw/edge_year.csv.gz": years, "raw/num-edge-list.csv.gz": "", "README.txt": ""}, Options{},
			"src=source,dst=target,weight=weight,time=year; 0>1 w=5 t=978307200; 1>2 w=0.5 t=1009843200"},
		{"years in the folder raw", map[string]string{"edge.csv.gz": edges, "edge_year.csv.gz": string(zip("2001\r\n2002"))}, Options{},
			"src=source,dst=target,time=year; 0>1 t=978307200; 1>2 t=1009843200"},
		{"not asked for", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": weights, "raw/edge_year.csv.gz": years}, Options{Columns: SrcDst}, "src=source,dst=target; 0>1; 1>2"},
		{"one weight", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": string(zip("5\n"))}, Options{},
			"edgelist: raw/edge.csv.gz and raw/edge_weight.csv.gz do not have the same number of lines: one has 1"},
		{"three years", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": weights, "raw/edge_year.csv.gz": string(zip("2001\n2002\n2003\n"))}, Options{},
			"edgelist: raw/edge.csv.gz and raw/edge_year.csv.gz do not have the same number of lines: one has 2"},
		{"a bad weight", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": string(zip("5\n-1\n"))}, Options{},
			`src=source,dst=target,weight=weight; 0>1 w=5; edgelist: line 3: weight is not a finite number above 0 (32 bits): a list with signs can be read without its weights, or its negative edges as another relation with option negative: "1,2,-1"; try columns = 'src=source,dst=target'`},
		{"damaged weights", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_weight.csv.gz": "\x1f\x8bx"}, Options{}, "edgelist: raw/edge_weight.csv.gz: edgelist: unexpected EOF"},
		{"other files", map[string]string{
			"raw/edge.csv.gz": edges, "raw/edge_feat.csv.gz": "", "raw/node_year.csv.gz": "", "raw/notes.txt": "", "mapping/nodeidx2paperid.csv.gz": "", "split/time/train.pt": "",
		}, Options{}, "src,dst; 0>1; 1>2; files not read: raw/edge_feat.csv.gz, raw/node_year.csv.gz, mapping/nodeidx2paperid.csv.gz"},
		{"relations", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_reltype.csv.gz": string(zip("7\n0\n"))}, Options{},
			"src=source,relation=relation,dst=target; 0>1 r=7; 1>2 r=0"},
		{"relations with names", map[string]string{
			"raw/edge.csv.gz": edges, "raw/edge_reltype.csv.gz": string(zip("7\n0\n")), "mapping/reltype2relid.csv.gz": string(zip("reltype,rel id\n0,P31\n7,\"a, b\"\n8,P31\n")), "mapping/README.md": "",
		}, Options{}, "src=source,relation=relation,dst=target; 0>1 r=a, b; 1>2 r=P31"},
		{"no names of relations", map[string]string{"raw/edge.csv.gz": edges, "mapping/reltype2relid.csv": "reltype\n0\n"}, Options{},
			"edgelist: mapping/reltype2relid.csv: line 1: columns: found 1, expected the number of a relation and its name"},
		{"damaged names", map[string]string{"raw/edge.csv.gz": edges, "mapping/nodeidx2entityid.csv.gz": "\x1f\x8bx"}, Options{},
			"edgelist: mapping/nodeidx2entityid.csv.gz: edgelist: unexpected EOF"},
		{"relations that are not asked for", map[string]string{"raw/edge.csv.gz": edges, "raw/edge_reltype.csv.gz": string(zip("7\n0\n"))}, Options{Related: true},
			"src=source,dst=target; 0>1; 1>2"},
		{"types without their numbers", map[string]string{"raw/relations/drug___treats___disease/edge.csv.gz": edges}, Options{},
			"edgelist: raw/num-node-dict.csv.gz: open raw/num-node-dict.csv.gz: file does not exist"},
		{"types with a number missing", map[string]string{"raw/relations/a___b___c/edge.csv.gz": edges, "raw/num-node-dict.csv.gz": string(zip("a,c\n1\n"))}, Options{},
			"edgelist: raw/num-node-dict.csv.gz: 2 types and 1 numbers"},
		{"types of another name", map[string]string{"raw/relations/a-b-c/edge.csv.gz": edges, "raw/num-node-dict.csv.gz": string(zip("a,c\n1,2\n"))}, Options{},
			"edgelist: not a folder of the Open Graph Benchmark: the folder raw/relations/a-b-c is not called SOURCE___RELATION___TARGET"},
	} {
		if got := strings.TrimPrefix(describeLast(folderOf(c.files), c.o), "; "); got != strings.TrimPrefix(c.want, "src,dst; ") {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The folder mapping says what the columns of a list with the names of nodes mean.
func TestFolderOfNames(t *testing.T) {
	t.Parallel()
	edges := string(zip("0,1\n"))
	untyped := map[string]string{
		"raw/num-node-list.csv.gz": string(zip("2\n")), "raw/edge.csv.gz": edges, "mapping/labelidx2category.csv.gz": "",
		"mapping/nodeidx2entityid.csv.gz": string(zip("node idx,Entity id,kind\r\n0,Q1,a\r\n")), "mapping/drug_entidx2name.csv": "ent idx,ent name\n",
	}
	typed := map[string]string{
		"raw/num-node-dict.csv.gz": string(zip("drug\n2\n")), "raw/relations/drug___with___drug/edge.csv.gz": edges,
		"mapping/drug_entidx2name.csv.gz": string(zip("ent idx,ent name\n0,aspirin\n")), "mapping/gene_entidx2name.csv.gz": "", "mapping/relidx2relname.csv.gz": "",
	}
	for want, files := range map[string]map[string]string{
		"raw/num-node-list.csv.gz  map[]; mapping/nodeidx2entityid.csv.gz  map[Entity id:entity_id kind:kind node idx:node]; raw/edge.csv.gz  map[]; " +
			"[files not read: mapping/drug_entidx2name.csv, mapping/labelidx2category.csv.gz]": untyped,
		"raw/num-node-dict.csv.gz (drug) drug map[]; mapping/drug_entidx2name.csv.gz drug map[ent idx:node ent name:name]; raw/relations/drug___with___drug/edge.csv.gz  map[]; " +
			"[files not read: mapping/gene_entidx2name.csv.gz, mapping/relidx2relname.csv.gz]": typed,
	} {
		parts, err := Parts(folderOf(files), "")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range parts {
			got += fmt.Sprintf("%s %s %v; ", p.Name, p.Label, map[string]string(p.Columns))
		}
		if got += fmt.Sprint(parts[len(parts)-1].Notes); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The notes about a split do not miss the files of the edges that it replaces.
func TestNotesOfASplit(t *testing.T) {
	t.Parallel()
	folder := folderOf(map[string]string{"raw/edge.csv.gz": "", "raw/edge_weight.csv.gz": "", "raw/edge_feat.csv.gz": "", "raw/node_year.csv.gz": "", "split/time/train.pt": ""})
	parts, err := Parts(folder, "train")
	if err != nil || len(parts) != 1 || len(parts[0].Notes) != 1 || parts[0].Notes[0].String() != "files not read: raw/node_year.csv.gz" {
		t.Errorf("%+v, %v", parts, err)
	}
}

// A folder of nodes of several types says which labels and relations the files have. A split names
// relations by the numbers that the folder raw has.
func TestFolderOfTypes(t *testing.T) {
	t.Parallel()
	edges := string(zip("0,1\n1,0\n"))
	folder := folderOf(map[string]string{
		"raw/num-node-dict.csv.gz":                               string(zip("disease,drug,gene\n2,3,0\n")),
		"raw/triplet-type-list.csv.gz":                           "",
		"raw/node-feat/drug/node-feat.csv.gz":                    "",
		"raw/node-label/drug/node-label.csv.gz":                  "",
		"raw/relations/drug___treats___disease/edge.csv.gz":      edges,
		"raw/relations/drug___with_x___drug/edge.csv.gz":         edges,
		"raw/relations/drug___with_x___drug/edge_reltype.csv.gz": string(zip("12\n12\n")),
		"split/random/train.pt":                                  "",
	})
	describe := func(split string) (list []string) {
		parts, err := Parts(folder, split)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			list = append(list, fmt.Sprintf("%s %s%s>%s %s %v %v", p.Name, p.Label, p.SrcLabel, p.DstLabel, p.Relation, p.Relations, p.Notes))
		}
		return list
	}
	nodes := []string{"raw/num-node-dict.csv.gz (disease) disease>  map[] []", "raw/num-node-dict.csv.gz (drug) drug>  map[] []", "raw/node-feat/drug/node-feat.csv.gz drug>  map[] []"}
	const unread = "[files not read: raw/node-label/drug/node-label.csv.gz]"
	for split, want := range map[string][]string{
		"":      {"raw/relations/drug___treats___disease/edge.csv.gz drug>disease treats map[] []", "raw/relations/drug___with_x___drug/edge.csv.gz drug>drug with_x map[12:with_x] " + unread},
		"train": {"split/random/train.pt >  map[12:with_x] " + unread},
	} {
		if got := describe(split); !slices.Equal(got, append(slices.Clone(nodes), want...)) {
			t.Errorf("split %q:\n%s", split, strings.Join(got, "\n"))
		}
	}
}
