//go:build !purego

#include "textflag.h"

// A frame pointer points to the one of the caller's frame, just below that frame, and above it
// is the address to return to. The bounds of a goroutine's stack are the first two words of
// its g.

// func key(raw []uintptr) int
TEXT ·key(SB), NOSPLIT|NOFRAME, $0-32
	MOVD raw_base+0(FP), R0
	MOVD raw_len+8(FP), R1
	MOVD 8(g), R3    // the end of the stack
	MOVD R29, R4
	MOVD RSP, R5
	SUB  $16, R5, R5 // below the next frame pointer
	MOVD $0, R2
loop:
	CMP  R1, R2
	BGE  done
	CMP  R5, R4
	BLS  done
	ADD  $16, R4, R6
	CMP  R3, R6
	BHI  done
	MOVD 8(R4), R6
	MOVD R6, (R0)(R2<<3)
	ADD  $1, R2, R2
	MOVD R4, R5
	MOVD (R4), R4
	B    loop
done:
	MOVD R2, ret+24(FP)
	RET
