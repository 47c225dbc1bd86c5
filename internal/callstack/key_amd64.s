//go:build !purego

#include "textflag.h"

// A frame pointer points to the one of the caller's frame, and above it is the address to
// return to. The bounds of a goroutine's stack are the first two words of its g.

// func key(raw []uintptr) int
TEXT ·key(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ raw_base+0(FP), DI
	MOVQ raw_len+8(FP), CX
	MOVQ (TLS), R8
	MOVQ 8(R8), R8  // the end of the stack
	MOVQ BP, BX
	MOVQ SP, SI     // below the next frame pointer
	XORQ AX, AX
loop:
	CMPQ AX, CX
	JGE  done
	CMPQ BX, SI
	JLS  done
	LEAQ 16(BX), DX
	CMPQ DX, R8
	JHI  done
	MOVQ 8(BX), DX
	MOVQ DX, (DI)(AX*8)
	INCQ AX
	MOVQ BX, SI
	MOVQ (BX), BX
	JMP  loop
done:
	MOVQ AX, ret+24(FP)
	RET
