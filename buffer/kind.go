package buffer

import (
	"errors"
	"strings"
)

// Kind says where an allocator's memory comes from and where it goes after Close. It is the
// value of a flag by way of flag.TextVar.
type Kind uint8

// The kinds.
const (
	// PooledHeap keeps the memory of closed Buffers for reuse, on the Go heap. The default.
	PooledHeap Kind = iota
	// PooledOffHeap does so outside of the Go heap, where the garbage collector neither
	// counts nor sees it.
	PooledOffHeap
	// UnpooledHeap leaves memory to the garbage collector.
	UnpooledHeap
	// UnpooledOffHeap maps memory from the system for each Buffer, in whole pages, and unmaps
	// it when the last Buffer that shares it is closed. That costs some microseconds: it is
	// there for comparison, and for few and large Buffers. A view of such memory that is used
	// after Close crashes the program; that of a pooled Buffer doesn't. Nor should it be kept:
	// on 32-bit systems the Go heap may come to lie there.
	UnpooledOffHeap
)

var kindNames = [...]string{"pooled", "pooled-offheap", "unpooled", "unpooled-offheap"}

var errKind = errors.New("want one of " + strings.Join(kindNames[:], ", "))

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{PooledHeap, PooledOffHeap, UnpooledHeap, UnpooledOffHeap} }

// ParseKind returns the kind of that name: pooled, pooled-offheap, unpooled or
// unpooled-offheap.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, errKind
}

// String returns the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(?)"
}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(name []byte) (err error) {
	*k, err = ParseKind(string(name))
	return err
}

// NewAllocator returns an allocator of kind k: a new pool with the default options, or the
// one unpooled allocator of its kind. Where the system can't map memory outside of the Go
// heap, or refuses to, it comes from there after all.
func NewAllocator(k Kind) Allocator {
	switch k {
	case UnpooledHeap:
		return Unpooled()
	case UnpooledOffHeap:
		return offHeapOnly
	}
	return NewPooled(PooledOptions{OffHeap: k == PooledOffHeap})
}
