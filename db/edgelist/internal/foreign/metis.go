package foreign

import (
	"bytes"
	"slices"
	"strconv"
)

// isMetis reports whether head is the start of a graph in the format of METIS (Karypis, "METIS: A
// software package for partitioning unstructured graphs", version 5.1.0, section 4.1.1): a line
// with the numbers of nodes and edges, and for each node a line with its neighbours, from 1. A file
// that could be an edge list, because all its lines have two or three columns, is not reported.
// Otherwise each node must be a neighbour of its neighbours, as far as head has their lines.
func isMetis(head []byte) bool {
	header, rows, whole := metisRows(head)
	if len(header) < 2 || len(header) > 4 || len(rows) < 2 || int64(len(rows)) > header[0] || whole && int64(len(rows)) < header[0] {
		return false
	}
	skip, step, ok := metisFormat(header[2:])
	if !ok {
		return false
	}
	ends, uneven := int64(0), false
	lists := make([][]int64, len(rows))
	for i, row := range rows {
		uneven = uneven || len(row) != len(rows[0])
		if len(row) < skip {
			return false
		}
		for j := skip; j < len(row); j += step {
			if row[j] < 1 || row[j] > header[0] || row[j] == int64(i+1) {
				return false
			}
			lists[i] = append(lists[i], row[j])
		}
		ends += int64(len(lists[i]))
	}
	return (uneven || len(rows[0]) > 3) && ends > 2 && (!whole || ends == 2*header[1]) && symmetric(lists)
}

// metisRows returns the numbers of the first line, and the numbers of all other complete lines that
// are no comments. Without such lines, or with other columns than numbers, it returns nothing.
// whole says that head is the whole file.
func metisRows(head []byte) (header []int64, rows [][]int64, whole bool) {
	whole = len(head) < Bytes
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole {
			break
		}
		if head = rest; len(line) > 0 && line[0] == '%' {
			continue
		}
		row := []int64{}
		for _, field := range bytes.Fields(line) {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil || n < 0 {
				return nil, nil, whole
			}
			row = append(row, n)
		}
		if header == nil {
			header = row
		} else {
			rows = append(rows, row)
		}
	}
	return header, rows, whole
}

// metisFormat returns the number of weights at the start of a row, and the numbers for each
// neighbour. given are the third and the fourth number of the header: the digits for sizes of
// nodes, weights of nodes and weights of edges, and the number of weights of a node.
func metisFormat(given []int64) (skip, step int, ok bool) {
	step = 1
	if len(given) == 0 {
		return 0, step, true
	}
	sizes, nodes, edges := given[0]/100, given[0]/10%10, given[0]%10
	if sizes > 1 || nodes > 1 || edges > 1 {
		return 0, 0, false
	}
	if nodes == 1 {
		skip = 1
		if len(given) > 1 && given[1] < 1<<20 {
			skip = int(given[1])
		}
	}
	return skip + int(sizes), step + int(edges), true
}

// symmetric reports whether each node is a neighbour of its neighbours, where lists has the
// neighbours of the nodes from 1.
func symmetric(lists [][]int64) bool {
	for i, list := range lists {
		for _, n := range list {
			if n <= int64(len(lists)) && !slices.Contains(lists[n-1], int64(i+1)) {
				return false
			}
		}
	}
	return true
}
