// Package record defines the documents that package db stores about learning: observations,
// decisions, and models with their versions. Package index stores the documents and does not look
// into them.
//
// An [Observation] is an outcome for a model to learn, with the contexts of its time. A [Decision]
// is a choice that waits for its reward. A model has a [Registry] of its versions, and a document
// for each [Version]. [OpenModel] makes a [Learner] of the registry and the document of the
// deployed version, and [Replay] makes the Learner learn what was observed since the document was
// stored. Documents are msgpack, and any bytes give a consistent record or an error.
//
// The package reads the store at one version by an [index.Reader], and knows nothing of
// transactions.
package record

import (
	"fmt"

	"kith/index"
)

// Decode decodes a stored document. It returns index.ErrCorrupt if the document is damaged.
func Decode[T any](doc index.Document) (*T, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	v := new(T)
	if err := index.Unmarshal(doc.Bytes, v); err != nil {
		return nil, fmt.Errorf("%w: %w", index.ErrCorrupt, err)
	}
	return v, nil
}
