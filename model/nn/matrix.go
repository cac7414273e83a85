package nn

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/gemm"
)

// NewMatrix returns a matrix of rows of the given length that are views of data.
func NewMatrix(data []float32, cols int) blas32.General {
	return blas32.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

// Rows returns a view of the rows from:to of m.
func Rows(m blas32.General, from, to int) blas32.General {
	m.Rows, m.Data = to-from, m.Data[from*m.Stride:(to-1)*m.Stride+m.Cols]
	return m
}

// Resize returns a matrix of the given size that reuses the memory of m. Its contents are
// undefined.
func Resize(m blas32.General, rows, cols int) blas32.General {
	if n := rows * cols; cap(m.Data) < n {
		m.Data = NewVector(n)
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: m.Data[:rows*cols]}
}

// NewVector returns a vector of n zeros that begins at a multiple of 16 bytes: Go aligns
// allocations whose size is a multiple of 16 like this. Kernels that add four numbers at a time
// then always add in the same order.
func NewVector(n int) []float32 { return make([]float32, (n+3)&^3)[:n:n] }

// Row returns a view of row i of m.
func Row(m blas32.General, i int) []float32 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// AddProduct adds a op(b) to c. The order of summation does not depend on the number of processors.
func AddProduct(a, b blas32.General, tb blas.Transpose, c blas32.General) {
	gemm.Add(blas.NoTrans, tb, 1, a, b, c)
}

// addOuter adds by xᵀy to sum, which has one row for each column of x.
func addOuter(x, y blas32.General, by float32, sum []float32) {
	if x.Rows > 0 {
		gemm.Add(blas.Trans, blas.NoTrans, by, x, y, NewMatrix(sum, y.Cols))
	}
}

// addRows adds by times the sum of the rows of m to sum.
func addRows(m blas32.General, by float32, sum []float32) {
	for i := range m.Rows {
		for j, v := range Row(m, i) {
			sum[j] += by * v
		}
	}
}

// Dot is the scalar product. Its bits depend on where b begins, modulo 16 bytes: see NewVector.
func Dot(a, b []float32) float32 {
	return blas32.Dot(vector(a), vector(b[:len(a)]))
}

// Times computes y = mx.
func Times(m blas32.General, x, y []float32) {
	blas32.Gemv(blas.NoTrans, 1, m, vector(x), 0, vector(y))
}

// Dot64 sums in a fixed order. The kernels do not: their order depends on the memory alignment of
// the vectors.
func Dot64[T float32 | float64](a, b []T) (sum float64) {
	b = b[:len(a)]
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// Product64 is the scalar product, summed in float64.
func Product64(a, b []float32) float64 {
	return blas32.DDot(vector(a), vector(b))
}

// AddTo adds v to sum.
func AddTo(sum, v []float32) { Axpy(1, v, sum) }

// Axpy adds by times x to the vector to.
func Axpy(by float32, x, to []float32) { blas32.Axpy(by, vector(x), vector(to[:len(x)])) }

func vector(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }

// Scale brings v to the given Euclidean length; zeros stay zeros. For vectors near zero the factor
// exceeds float32.
func Scale(v []float32, length float64) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	by := length / math.Sqrt(sum)
	for i, x := range v {
		if by > math.MaxFloat32 {
			v[i] = float32(float64(x) * by)
			continue
		}
		v[i] = x * float32(by)
	}
}

// Narrow converts numbers to float32.
func Narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// UnitRows returns a copy with rows of length 1.
func UnitRows(x blas32.General) blas32.General {
	y := Resize(blas32.General{}, x.Rows, x.Cols)
	copy(y.Data, x.Data)
	for u := range y.Rows {
		Scale(Row(y, u), 1)
	}
	return y
}

// Sigmoid returns the probability that has the log-odds x.
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Standardise scales the columns of x to mean 0 and variance 1: (x - mean) factor. It returns mean
// and factor.
func Standardise(x blas32.General) (mean, factor []float32) {
	mean, factor = make([]float32, x.Cols), make([]float32, x.Cols)
	for j := range x.Cols {
		sum, squares := 0.0, 0.0
		for i := range x.Rows {
			v := float64(x.Data[i*x.Stride+j])
			sum += v
			squares += v * v
		}
		n := float64(x.Rows)
		mean[j] = float32(sum / n)
		if sd := math.Sqrt(math.Max(squares/n-sum/n*sum/n, 0)); sd > 1e-6 {
			factor[j] = float32(1 / sd)
		}
	}
	Apply(x, mean, factor)
	return mean, factor
}

// Apply scales the columns of x in place: (x - mean) factor.
func Apply(x blas32.General, mean, factor []float32) { Scaled(x, x.Data, mean, factor) }

// Scaled sets x to rows whose columns are scaled: (rows - mean) factor.
func Scaled(x blas32.General, rows []float32, mean, factor []float32) {
	mean, factor = mean[:x.Cols], factor[:x.Cols]
	for i := range x.Rows {
		to, from := Row(x, i)[:len(mean)], rows[i*x.Stride:][:len(mean)]
		for j, v := range from {
			to[j] = (v - mean[j]) * factor[j]
		}
	}
}
