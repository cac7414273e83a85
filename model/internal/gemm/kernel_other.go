//go:build !amd64

package gemm

const hasKernel, hasWideKernel = false, false

func kernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int) {}

func wideKernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int) {
}
