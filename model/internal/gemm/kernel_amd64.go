package gemm

import "golang.org/x/sys/cpu"

var (
	hasKernel     = cpu.X86.HasAVX2
	hasWideKernel = cpu.X86.HasAVX512F
)

// kernel adds to a tile of c the product of tileRows rows and n columns of op(a), which are down
// and right numbers apart, and of n rows of b. The rows of b and c are strideB and strideC numbers
// apart.
//
//go:noescape
func kernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int)

// wideKernel is kernel for a tile of wideRows rows.
//
//go:noescape
func wideKernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int)
