package model

import (
	"reflect"
	"slices"

	"kith/model/nn"
)

// Same reports whether two scorers return bit-identical scores: they have the same options and weights, after the same
// number of rounds.
func Same(a, b *Scorer) bool {
	return reflect.DeepEqual(a.config, b.config) && reflect.DeepEqual(a.belief, b.belief) && reflect.DeepEqual(a.outlook, b.outlook) && a.basis == b.basis && a.round == b.round && a.weight == b.weight &&
		sameWeights(a.exploit, b.exploit) && sameWeights(a.explore, b.explore) && sameWeights(a.inverse, b.inverse) &&
		(a.weights == nil) == (b.weights == nil) && slices.EqualFunc(a.weights, b.weights, slices.Equal[[]float32])
}

func sameWeights(a, b *nn.Network) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Theta, b.Theta)
}
