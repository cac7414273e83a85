package model

import (
	"kith/model/column"
)

// prior estimates how likely a link is from the structural block alone. An untrained model ranks by it.
func prior(s []float32) (sum float64) {
	for col, v := range s {
		sum += priorWeight(col) * float64(v)
	}
	return sum
}

// priorWeight is the factor of a column of the structural block.
func priorWeight(col int) float64 {
	switch col {
	case column.ColTo, column.ColFrom:
		return 0.25
	case column.ColAdamic:
		return 0.1
	case column.ColResource:
		return 0.2
	}
	return 0
}
