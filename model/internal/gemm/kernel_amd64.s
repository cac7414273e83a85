#include "textflag.h"

// ROW adds the product of a number of op(a) and the row of b in Y8 and Y9 to a row of the tile. The
// product is rounded before it is added: with a fused operation the bits would differ.
#define ROW(a, left, right) \
	VBROADCASTSS a, Y10         \
	VMULPS       Y8, Y10, Y11   \
	VMULPS       Y9, Y10, Y12   \
	VADDPS       Y11, left, left \
	VADDPS       Y12, right, right

// func kernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int)
//
// The 4 rows of the tile are in Y0 to Y7 while the rows of b pass.
TEXT ·kernel(SB), NOSPLIT, $0-64
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ down+16(FP), R13
	MOVQ right+24(FP), BX
	MOVQ b+32(FP), DI
	MOVQ strideB+40(FP), DX
	MOVQ c+48(FP), R8
	MOVQ strideC+56(FP), R9
	SHLQ $2, R13               // in bytes
	SHLQ $2, BX
	SHLQ $2, DX
	SHLQ $2, R9
	LEAQ (R13)(R13*2), AX
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
	ROW((SI), Y0, Y1)
	ROW((SI)(R13*1), Y2, Y3)
	ROW((SI)(R13*2), Y4, Y5)
	ROW((SI)(AX*1), Y6, Y7)
	ADDQ BX, SI
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

// WIDE adds the product of a number of op(a) and the row of b in Z8 to a row of the tile.
#define WIDE(a, row) \
	VMULPS.BCST a, Z8, Z9  \
	VADDPS      Z9, row, row

// func wideKernel(n int, a *float32, down, right int, b *float32, strideB int, c *float32, strideC int)
//
// The 8 rows of the tile are in Z0 to Z7.
TEXT ·wideKernel(SB), NOSPLIT, $0-64
	MOVQ n+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ down+16(FP), R13
	MOVQ right+24(FP), BX
	MOVQ b+32(FP), DI
	MOVQ strideB+40(FP), DX
	MOVQ c+48(FP), R8
	MOVQ strideC+56(FP), R9
	SHLQ $2, R13               // in bytes
	SHLQ $2, BX
	SHLQ $2, DX
	SHLQ $2, R9
	LEAQ (R13)(R13*2), AX
	LEAQ (SI)(R13*4), R12      // row 4 of op(a)
	LEAQ (R9)(R9*2), R10
	LEAQ (R8)(R9*4), R11       // row 4 of c

	VMOVUPS (R8), Z0
	VMOVUPS (R8)(R9*1), Z1
	VMOVUPS (R8)(R9*2), Z2
	VMOVUPS (R8)(R10*1), Z3
	VMOVUPS (R11), Z4
	VMOVUPS (R11)(R9*1), Z5
	VMOVUPS (R11)(R9*2), Z6
	VMOVUPS (R11)(R10*1), Z7

next:
	VMOVUPS (DI), Z8
	WIDE((SI), Z0)
	WIDE((SI)(R13*1), Z1)
	WIDE((SI)(R13*2), Z2)
	WIDE((SI)(AX*1), Z3)
	WIDE((R12), Z4)
	WIDE((R12)(R13*1), Z5)
	WIDE((R12)(R13*2), Z6)
	WIDE((R12)(AX*1), Z7)
	ADDQ BX, SI
	ADDQ BX, R12
	ADDQ DX, DI
	DECQ CX
	JNZ  next

	VMOVUPS Z0, (R8)
	VMOVUPS Z1, (R8)(R9*1)
	VMOVUPS Z2, (R8)(R9*2)
	VMOVUPS Z3, (R8)(R10*1)
	VMOVUPS Z4, (R11)
	VMOVUPS Z5, (R11)(R9*1)
	VMOVUPS Z6, (R11)(R9*2)
	VMOVUPS Z7, (R11)(R10*1)
	VZEROUPPER
	RET
