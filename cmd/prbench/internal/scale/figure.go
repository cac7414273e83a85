package scale

import (
	"math"
	"strconv"
)

// Names of the figures that phases measure.
const (
	Nodes        = "nodes"
	Disk         = "disk_bytes"
	Graph        = "graph_bytes" // memory of the rows and keys
	Load         = "load_seconds"
	LoadPeak     = "load_peak_bytes" // peak memory of the process
	Check        = "check_seconds"
	OpenCold     = "open_seconds"   // with no file in the page cache
	FirstCold    = "first_seconds"  // from then on until the first answer
	InMemory     = "loaded_seconds" // until all rows and keys are in memory
	Train        = "train_seconds"
	TrainPeak    = "train_peak_bytes"
	Near         = "near_seconds" // an answer among NEIGHBORS(2), by the trained default; the median
	NearP99      = "near_p99_seconds"
	Walk         = "walk_seconds" // an answer among PPR(100), whose states are not cached
	WalkP99      = "walk_p99_seconds"
	Listed       = "listed_seconds" // an answer among 100 candidates whose states are cached
	ListedP99    = "listed_p99_seconds"
	AnswerPeak   = "answer_peak_bytes"
	OnDemand     = "demand_seconds" // an answer among NEIGHBORS(2) by adamic_adar with the rows in the store
	ScoreSimple  = "score_simple_core_seconds"
	ScoreDefault = "score_default_core_seconds"
	ScoreWalk    = "score_walk_core_seconds" // by the trained default among PPR(100)
	Backup       = "backup_seconds"
	BackupBytes  = "backup_bytes"
	Restore      = "restore_seconds"
	Commits      = "commits_per_second"
	ChangeBytes  = "change_bytes"
	Applied      = "applied_per_second"
	CPU          = "cpu_seconds" // of a phase, in a process of its own
)

// unit says how a value is written.
type unit int

const (
	inCount unit = iota
	inBytes
	inSeconds
	inRate
)

// figure is a row of the table: a measured figure with its law, or one that is derived from others.
type figure struct {
	label  string
	unit   unit
	key    string // name of the measured figure
	law    law
	loaded bool // it is of a graph whose rows are in memory
	derive derived
}

// derived computes a figure for one size from others. at returns the value of a measured figure, or
// NaN if it is unknown; at("") is the number of edges.
type derived func(at func(key string) float64, c Cluster) float64

// multiple derives a figure that is factor times the figure named key.
func multiple(key string, factor float64) derived {
	return func(at func(string) float64, _ Cluster) float64 { return factor * at(key) }
}

// Cluster is the machines that score all nodes.
type Cluster struct {
	Machines int
	Cores    int   // of a machine
	Memory   int64 // of a machine, in bytes
}

// catchUpEdges is the number of edges that a replica which was away for an hour is behind, at 1,000
// edges a second.
const catchUpEdges = 3600 * 1000

// What a part of kith takes for an edge, in bytes, as its documentation says.
const (
	repairBytes  = 130 // memory of kith check --repair
	scratchBytes = 16  // temporary files of a load, without weights and times
)

// Memory that is needed even if rows and keys are on the disk, in bytes; see package index, "In
// memory".
const (
	blockSize      = 4096 // of a block of rows or keys on the disk
	directoryBytes = 20   // of a block in the directory
	degreeBytes    = 4    // of the degree of a node, once it was read
)

// figures returns the rows of the table.
func figures() []figure {
	return []figure{
		{label: "nodes", key: Nodes, law: power},
		{label: "on disk", unit: inBytes, key: Disk, law: affine},
		{label: "rows and keys in memory", unit: inBytes, key: Graph, law: affine, loaded: true},
		{label: "--memory for that", unit: inBytes, loaded: true, derive: required},
		{label: "always in memory", unit: inBytes, derive: resident},
		{label: "load", unit: inSeconds, key: Load, law: nLogN},
		{label: "load, temporary files", unit: inBytes, derive: multiple("", scratchBytes)},
		{label: "load, peak memory", unit: inBytes, key: LoadPeak, law: bounded},
		{label: "check", unit: inSeconds, key: Check, law: affine},
		{label: "repair, memory", unit: inBytes, derive: multiple("", repairBytes)},
		{label: "open, cold", unit: inSeconds, key: OpenCold, law: affine},
		{label: "first answer, cold", unit: inSeconds, key: FirstCold, law: power},
		{label: "rows and keys into memory", unit: inSeconds, key: InMemory, law: affine, loaded: true},
		{label: "TRAIN", unit: inSeconds, key: Train, law: affine, loaded: true},
		{label: "TRAIN, peak memory", unit: inBytes, key: TrainPeak, law: bounded, loaded: true},
		{label: "NEIGHBORS(2), median", unit: inSeconds, key: Near, law: power, loaded: true},
		{label: "NEIGHBORS(2), p99", unit: inSeconds, key: NearP99, law: power, loaded: true},
		{label: "PPR(100), median", unit: inSeconds, key: Walk, law: power, loaded: true},
		{label: "PPR(100), p99", unit: inSeconds, key: WalkP99, law: power, loaded: true},
		{label: "100 candidates, median", unit: inSeconds, key: Listed, law: power, loaded: true},
		{label: "100 candidates, p99", unit: inSeconds, key: ListedP99, law: power, loaded: true},
		{label: "answers, peak memory", unit: inBytes, key: AnswerPeak, law: bounded, loaded: true},
		{label: "NEIGHBORS(2), rows on disk", unit: inSeconds, key: OnDemand, law: power},
		{label: "score a source, adamic_adar", unit: inSeconds, key: ScoreSimple, law: power, loaded: true},
		{label: "score a source, default", unit: inSeconds, key: ScoreDefault, law: power, loaded: true},
		{label: "score a source, default, PPR(100)", unit: inSeconds, key: ScoreWalk, law: power, loaded: true},
		{label: "backup", unit: inSeconds, key: Backup, law: affine},
		{label: "backup, size", unit: inBytes, key: BackupBytes, law: affine},
		{label: "restore", unit: inSeconds, key: Restore, law: affine},
		{label: "commits of an edge", unit: inRate, key: Commits, law: constant},
		{label: "change of an edge", unit: inBytes, key: ChangeBytes, law: constant},
		{label: "changes applied by a replica", unit: inRate, key: Applied, law: constant},
		{label: "replica, an hour behind", unit: inSeconds, derive: func(at func(string) float64, _ Cluster) float64 {
			return catchUpEdges / at(Applied)
		}},
		{label: "replica, from a backup", unit: inSeconds, derive: multiple(Restore, 1)},
		{label: "network, backup to $m", unit: inBytes, derive: func(at func(string) float64, c Cluster) float64 {
			return float64(c.Machines) * at(BackupBytes)
		}},
		{label: "score all, adamic_adar, 1 machine", unit: inSeconds, loaded: true, derive: scoreAll(ScoreSimple, true)},
		{label: "score all, adamic_adar, $m", unit: inSeconds, loaded: true, derive: scoreAll(ScoreSimple, false)},
		{label: "score all, default, $m", unit: inSeconds, loaded: true, derive: scoreAll(ScoreDefault, false)},
		{label: "score all, default, PPR(100), $m", unit: inSeconds, loaded: true, derive: scoreAll(ScoreWalk, false)},
	}
}

// A database takes at least LeastMemory, and its graph at most graphShare of its memory.
const (
	LeastMemory = 64 << 20
	graphShare  = 0.45
)

// required returns the memory with which rows and keys are kept in memory.
func required(at func(string) float64, _ Cluster) float64 {
	bytes := at(Graph)
	if math.IsNaN(bytes) {
		return bytes
	}
	return max(LeastMemory, bytes/graphShare)
}

// resident returns the memory of the data that is never left on the disk.
func resident(at func(string) float64, _ Cluster) float64 {
	return at(Disk)*directoryBytes/blockSize + at(Nodes)*degreeBytes
}

// scoreAll returns how long it takes to score all nodes, by one machine that has the database, or
// by all machines of a cluster, after each has restored a backup. Cores are taken to be as fast as
// in the measurement, and not to hinder each other.
func scoreAll(source string, one bool) derived {
	return func(at func(string) float64, c Cluster) float64 {
		took := at(Nodes) * at(source) / float64(c.Cores)
		if one {
			return took
		}
		return took/float64(c.Machines) + at(Restore)
	}
}

// text writes a value with two or three digits.
func (u unit) text(x float64) string {
	switch u {
	case inBytes:
		return scaled(x, 1000, "B", "KB", "MB", "GB", "TB", "PB")
	case inRate:
		return scaled(x, 1000, "", "k", "M") + "/s"
	case inCount:
		return scaled(x, 1000, "", "k", "M", "G")
	}
	switch {
	case x < 1e-3:
		return digits(x*1e6) + " µs"
	case x < 1:
		return digits(x*1e3) + " ms"
	case x < 120:
		return digits(x) + " s"
	case x < 2*3600:
		return digits(x/60) + " min"
	case x < 2*86400:
		return digits(x/3600) + " h"
	case x < 730*86400:
		return digits(x/86400) + " d"
	}
	return digits(x/86400/365) + " y"
}

// scaled writes a number with the largest unit that leaves at least 1.
func scaled(x, step float64, units ...string) string {
	i := 0
	for ; i < len(units)-1 && x >= step; i++ {
		x /= step
	}
	if units[i] == "" {
		return digits(x)
	}
	return digits(x) + " " + units[i]
}

// digits writes a number with two digits, or as a whole number from 10.
func digits(x float64) string {
	if x >= 9.95 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}
