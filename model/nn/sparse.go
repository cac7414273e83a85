package nn

import "gonum.org/v1/gonum/blas/blas32"

// Sparse holds the entries of a vector that are not zero.
type Sparse struct {
	At    []uint32 // ascending
	Value []float32
}

// Append adds an entry at the end.
func (a *Sparse) Append(at int, value float32) {
	a.At, a.Value = append(a.At, uint32(at)), append(a.Value, value)
}

// AppendVector adds the entries of a vector that are not zero at the end.
func (a *Sparse) AppendVector(v []float32) {
	for i, x := range v {
		if x != 0 {
			a.Append(i, x)
		}
	}
}

// Times returns the scalar product with a vector. Entries that the vector lacks count as zeros.
func (a Sparse) Times(v []float32) (sum float64) {
	for i, at := range a.At {
		if int(at) >= len(v) {
			break
		}
		sum += float64(a.Value[i]) * float64(v[at])
	}
	return sum
}

// Combine adds to sum the linear combination of the rows of b whose coefficients are the entries of
// a times by.
func (a Sparse) Combine(by float32, b blas32.General, sum []float32) {
	for i, at := range a.At {
		Axpy(by*a.Value[i], Row(b, int(at)), sum)
	}
}
