#include "textflag.h"

// ROW adds the product of the number at off(SI) and the row of b in Y8 and Y9 to a row of the tile.
// The product is rounded before it is added: with a fused operation the bits would differ.
#define ROW(off, left, right) \
	VBROADCASTSS off(SI), Y10   \
	VMULPS       Y8, Y10, Y11   \
	VMULPS       Y9, Y10, Y12   \
	VADDPS       Y11, left, left \
	VADDPS       Y12, right, right

// func kernel(n int, a, b *float32, strideB int, c *float32, strideC int)
//
// The 4 rows of the tile are in Y0 to Y7 while the rows of b pass.
TEXT ·kernel(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ strideB+24(FP), DX
	MOVQ c+32(FP), R8
	MOVQ strideC+40(FP), R9
	SHLQ $2, DX               // in bytes
	SHLQ $2, R9
	LEAQ (R8)(R9*1), R10
	LEAQ (R10)(R9*1), R11
	LEAQ (R11)(R9*1), R12

	VMOVUPS (R8), Y0
	VMOVUPS 32(R8), Y1
	VMOVUPS (R10), Y2
	VMOVUPS 32(R10), Y3
	VMOVUPS (R11), Y4
	VMOVUPS 32(R11), Y5
	VMOVUPS (R12), Y6
	VMOVUPS 32(R12), Y7

next:
	VMOVUPS (DI), Y8
	VMOVUPS 32(DI), Y9
	ROW(0, Y0, Y1)
	ROW(4, Y2, Y3)
	ROW(8, Y4, Y5)
	ROW(12, Y6, Y7)
	ADDQ $16, SI
	ADDQ DX, DI
	DECQ CX
	JNZ  next

	VMOVUPS Y0, (R8)
	VMOVUPS Y1, 32(R8)
	VMOVUPS Y2, (R10)
	VMOVUPS Y3, 32(R10)
	VMOVUPS Y4, (R11)
	VMOVUPS Y5, 32(R11)
	VMOVUPS Y6, (R12)
	VMOVUPS Y7, 32(R12)
	VZEROUPPER
	RET
