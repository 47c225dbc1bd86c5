package callstack

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// Stack is a call stack with a label. It doesn't change, and is shared by all that were
// captured at the same place with the same label and came there by the same calls.
type Stack struct {
	key         []uintptr // what it is recognised by,
	skip, depth int       // besides what was asked for
	label       string
	hash        uintptr   // of all these
	pcs         []uintptr // as runtime.Callers returns them
}

// MaxDepth is the most frames that a Stack has.
const MaxDepth = 16

const (
	maxSkip = 8
	maxKey  = MaxDepth + maxSkip + 2
	slots   = 2048 // power of two
)

// table has the stacks that were captured lately, each in the one place that its key hashes
// to. What it pushes out is garbage once nobody has it any more: so it is bounded, and needs
// no lock.
var table [slots]atomic.Pointer[Stack]

// Capture returns up to depth ≤ MaxDepth frames of the goroutine's stack, from skip ≤ 8
// frames up, where 0 is Capture's caller, with a label that may be empty. It doesn't allocate
// in the long run. Any goroutine may call it.
func Capture(label string, skip, depth int) *Stack {
	var room [maxKey]uintptr
	// A function that was inlined has no frame of its own, so that so many return addresses
	// cover all that is asked for; the first two are those of key and Capture.
	raw := room[:min(skip+depth+2, maxKey)]
	raw = raw[:key(raw)]
	return intern(raw, label, skip, depth)
}

// intern returns the stack of that key. Its caller is Capture.
func intern(raw []uintptr, label string, skip, depth int) *Stack {
	h := hash(raw, label, uintptr(skip<<8|depth))
	place := &table[h%slots]
	if s := place.Load(); s != nil && s.skip == skip && s.depth == depth && s.label == label && slices.Equal(s.key, raw) {
		return s
	}
	s := &Stack{key: slices.Clone(raw), skip: skip, depth: depth, label: label, hash: h, pcs: make([]uintptr, depth)}
	s.pcs = s.pcs[:runtime.Callers(skip+3, s.pcs)]
	place.Store(s)
	return s
}

// hash is fast rather than good: the multiplications don't wait for each other.
func hash(raw []uintptr, label string, h uintptr) uintptr {
	if n := len(label); n > 0 {
		h += uintptr(n)<<16 | uintptr(label[0])<<12 | uintptr(label[n-1])<<24
	}
	for i, pc := range raw {
		h ^= (pc + uintptr(i)) * (2*uintptr(i) + 0x9e3779b1)
	}
	return h ^ h>>15
}

// Label returns what Capture was told; of a nil Stack nothing.
func (s *Stack) Label() string {
	if s == nil {
		return ""
	}
	return s.label
}

// Hash returns a number that two different Stacks are unlikely to share.
func (s *Stack) Hash() uintptr { return s.hash }

// PCs returns the program counters as runtime.Callers does. The caller must not change them.
func (s *Stack) PCs() []uintptr {
	if s == nil {
		return nil
	}
	return s.pcs
}

// Frames returns the frames, innermost first. A nil Stack has none.
func (s *Stack) Frames() (all []runtime.Frame) {
	if len(s.PCs()) == 0 {
		return nil
	}
	for next := runtime.CallersFrames(s.pcs); ; {
		f, more := next.Next()
		all = append(all, f)
		if !more {
			return all
		}
	}
}
