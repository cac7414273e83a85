package record

import (
	"fmt"
	"slices"

	"kith/index"
	"kith/model"
)

// maxVersions is the maximal number of versions of a model. Beyond that, the oldest versions are
// deleted that are neither deployed nor the target of Rollback.
const maxVersions = 8

// How versions of a model are made.
const (
	Created      = "create"
	TrainedEdges = "edges"   // trained on the edges
	Refreshed    = "refresh" // trained in the background; see db.Options.NoRefresh
	TrainedLog   = "log"     // trained on observations
	Imported     = "import"
)

// Registry is the stored information about a model in addition to the documents of its versions.
// Its slices are replaced, never changed.
type Registry struct {
	Born     uint64    `msgpack:"born"`     // version of the database that made the model
	Deployed uint64    `msgpack:"deployed"` // version of the database that deployed its version
	Since    int64     `msgpack:"since"`    // time of that, in nanoseconds since 1970; 0 means unknown
	Version  int       `msgpack:"version"`  // number of the deployed version
	Frozen   bool      `msgpack:"frozen"`
	Before   []int     `msgpack:"before"`   // versions that were deployed before, the latest last
	Versions []Version `msgpack:"versions"` // versions that are kept, including the deployed one, ascending
}

// Version describes a version of a model. For the deployed version Trained, Rounds and Bytes are
// as of its last checkpoint; the learner has the live values.
type Version struct {
	Number  int    `msgpack:"number"`
	From    string `msgpack:"from"`
	Parent  int    `msgpack:"parent"`
	Made    int64  `msgpack:"made"`   // nanoseconds since 1970; 0 means unknown
	Serial  uint64 `msgpack:"serial"` // serial number of its document
	Trained bool   `msgpack:"trained"`
	Rounds  int    `msgpack:"rounds"`
	Bytes   int    `msgpack:"bytes"`
	// LeftOut is the share of the edges that its training did not see: the edges with the
	// lowest hash values.
	LeftOut float64 `msgpack:"left_out"`
	Graph   uint64  `msgpack:"graph"` // version of the graph that it was trained on; 0 means unknown, or not trained on edges
	Edges   int64   `msgpack:"edges"` // number of edges of that graph
	// Relation is the name of the relation whose edges it was trained on; "" means all.
	Relation string `msgpack:"relation,omitempty"`
	// Vectors is the serial number of the document with the vectors of the nodes, which a
	// checkpoint does not write again. 0 means no vectors, or that they are in the document of the
	// version.
	Vectors uint64 `msgpack:"vectors,omitempty"`
}

// Changes returns the number of edges that have changed since the training or, if the log does not
// reach back that far, at least the difference of the numbers of edges.
func (v Version) Changes(s *index.Snapshot) int64 {
	n := s.Meta.EdgesOf(v.Relation) - v.Edges
	changes := s.NumChangesOf(v.Relation, v.Graph)
	return max(n, -n, int64(changes))
}

// StoredAs returns the version with the state of a model, whose document has a serial
// number.
func (v Version) StoredAs(serial uint64, m *model.Model) Version {
	v.Serial, v.Trained, v.Rounds, v.Bytes = serial, m.Trained(), m.Rounds(), m.Bytes()
	return v
}

// Consistent returns an error unless the registry belongs to a model whose deployed version has the
// given number, and refers to documents with exactly the serial numbers kept.
func (r *Registry) Consistent(number int, kept []uint64) error {
	ascending := true
	for i, n := range r.Numbers() {
		ascending = ascending && n > 0 && (i == 0 || n > r.Versions[i-1].Number)
	}
	if _, ok := r.Find(r.Version); !ok || !ascending || !slices.Equal(r.Kept(), kept) {
		return fmt.Errorf("versions %v with documents %v, %d deployed", r.Numbers(), kept, r.Version)
	}
	if r.Version != number {
		return fmt.Errorf("its document is that of version %d, not of %d", number, r.Version)
	}
	return nil
}

// Find returns the version with a number, and whether there is one.
func (r *Registry) Find(n int) (Version, bool) {
	for _, v := range r.Versions {
		if v.Number == n {
			return v, true
		}
	}
	return Version{}, false
}

// Numbers returns the numbers of the versions, ascending.
func (r *Registry) Numbers() (all []int) {
	for _, v := range r.Versions {
		all = append(all, v.Number)
	}
	return all
}

// Next returns the number of a new version.
func (r *Registry) Next() int { return r.Versions[len(r.Versions)-1].Number + 1 }

// With returns the registry with v added, or with v in place of the version with its number.
func (r Registry) With(v Version) Registry {
	r.Versions = slices.Clone(r.Versions)
	for i := range r.Versions {
		if r.Versions[i].Number == v.Number {
			r.Versions[i] = v
			return r
		}
	}
	r.Versions = append(r.Versions, v)
	return r
}

// History returns the versions that were deployed before, and the present one.
func (r *Registry) History() []int { return append(slices.Clone(r.Before), r.Version) }

// Deploying returns the registry with version n deployed, and others before it.
func (r Registry) Deploying(n int, before []int, at uint64, now int64) Registry {
	r.Version, r.Before, r.Deployed, r.Since = n, before, at, now
	return r
}

// Trimmed returns the registry with at most maxVersions versions.
func (r Registry) Trimmed() Registry {
	r.Versions = slices.Clone(r.Versions)
	needed := r.Before[max(len(r.Before)-1, 0):] // the target of a Rollback
	for len(r.Versions) > maxVersions {
		i := slices.IndexFunc(r.Versions, func(v Version) bool { return v.Number != r.Version && !slices.Contains(needed, v.Number) })
		r.Versions = slices.Delete(r.Versions, i, i+1)
	}
	r.Before = r.rollbackTargets()
	return r
}

// rollbackTargets returns up to maxVersions versions in Before that still exist, without
// consecutive repetitions.
func (r *Registry) rollbackTargets() (all []int) {
	after := r.Version
	for _, n := range slices.Backward(r.Before) {
		if _, kept := r.Find(n); kept && n != after && len(all) < maxVersions {
			all, after = append(all, n), n
		}
	}
	slices.Reverse(all)
	return all
}

// Kept returns the serial numbers of the documents that the registry refers to, without the
// document of the deployed version.
func (r *Registry) Kept() (serials []uint64) {
	for _, v := range r.Versions {
		if v.Number != r.Version {
			serials = append(serials, v.Serial)
		}
		if v.Vectors != 0 {
			serials = append(serials, v.Vectors)
		}
	}
	return serials
}
