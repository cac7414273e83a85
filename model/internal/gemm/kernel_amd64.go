package gemm

import "golang.org/x/sys/cpu"

var hasKernel = cpu.X86.HasAVX2

// kernel adds to a tile of c, whose rows are strideC numbers apart, the product of a packed part of
// op(a) and of n rows of b, which are strideB numbers apart.
//
//go:noescape
func kernel(n int, a, b *float32, strideB int, c *float32, strideC int)
