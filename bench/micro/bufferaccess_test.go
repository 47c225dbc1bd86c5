package micro

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"millrace.dev/buffer"
)

var accessSink uint64

const (
	accessSize  = 4 << 10
	accessIndex = 1 << 10 // random positions, more than a predictor learns
	accessParts = 8       // of the composite
)

// accessKinds are buffers with the same content in every kind of memory, closed at the end.
func accessKinds(b *testing.B, content []byte) (kinds []struct {
	name string
	b    *buffer.Buffer
}) {
	add := func(name string, x *buffer.Buffer) {
		b.Cleanup(x.Close)
		kinds = append(kinds, struct {
			name string
			b    *buffer.Buffer
		}{name, x})
	}
	for _, k := range []struct {
		name string
		kind buffer.Kind
	}{{"millrace-heap", buffer.PooledHeap}, {"millrace-offheap", buffer.PooledOffHeap}} {
		x := buffer.NewAllocator(k.kind).Allocate(len(content))
		x.Write(content)
		add(k.name, x)
	}
	whole := buffer.New(0)
	for at := 0; at < len(content); at += len(content) / accessParts {
		whole = buffer.Compose(whole, buffer.Copy(content[at:at+len(content)/accessParts]))
	}
	add("millrace-composite", whole)
	return kinds
}

// accessWidths are the accessors of each width: on a slice as Go has them, checked; on one
// whose caller is sure, unchecked; on a Buffer.
var accessWidths = []struct {
	name     string
	sliceGet func(p []byte, i int) uint64
	sliceSet func(p []byte, i int, v uint64)
	get      func(x *buffer.Buffer, i int) uint64
	set      func(x *buffer.Buffer, i int, v uint64)
}{
	{
		"1",
		func(p []byte, i int) uint64 { return uint64(p[i]) },
		func(p []byte, i int, v uint64) { p[i] = byte(v) },
		func(x *buffer.Buffer, i int) uint64 { return uint64(x.Uint8At(i)) },
		func(x *buffer.Buffer, i int, v uint64) { x.SetUint8At(i, uint8(v)) },
	}, {
		"2",
		func(p []byte, i int) uint64 { return uint64(binary.BigEndian.Uint16(p[i:])) },
		func(p []byte, i int, v uint64) { binary.BigEndian.PutUint16(p[i:], uint16(v)) },
		func(x *buffer.Buffer, i int) uint64 { return uint64(x.Uint16At(i)) },
		func(x *buffer.Buffer, i int, v uint64) { x.SetUint16At(i, uint16(v)) },
	}, {
		"3",
		func(p []byte, i int) uint64 { return uint64(p[i])<<16 | uint64(p[i+1])<<8 | uint64(p[i+2]) },
		func(p []byte, i int, v uint64) { p[i], p[i+1], p[i+2] = byte(v>>16), byte(v>>8), byte(v) },
		func(x *buffer.Buffer, i int) uint64 { return uint64(x.Uint24At(i)) },
		func(x *buffer.Buffer, i int, v uint64) { x.SetUint24At(i, uint32(v)) },
	}, {
		"4",
		func(p []byte, i int) uint64 { return uint64(binary.BigEndian.Uint32(p[i:])) },
		func(p []byte, i int, v uint64) { binary.BigEndian.PutUint32(p[i:], uint32(v)) },
		func(x *buffer.Buffer, i int) uint64 { return uint64(x.Uint32At(i)) },
		func(x *buffer.Buffer, i int, v uint64) { x.SetUint32At(i, uint32(v)) },
	}, {
		"8",
		func(p []byte, i int) uint64 { return binary.BigEndian.Uint64(p[i:]) },
		func(p []byte, i int, v uint64) { binary.BigEndian.PutUint64(p[i:], v) },
		func(x *buffer.Buffer, i int) uint64 { return x.Uint64At(i) },
		func(x *buffer.Buffer, i int, v uint64) { x.SetUint64At(i, v) },
	},
}

// Get and set at random positions. All go through a function value, which costs the same for
// each alternative.
func BenchmarkBufferAccess(b *testing.B) {
	r := seeded()
	content := randomBytes(r, accessSize)
	var at [accessIndex]int
	for i := range at {
		at[i] = r.IntN(accessSize - 8)
	}
	kinds := accessKinds(b, content)
	for _, w := range accessWidths {
		b.Run("op=get/width="+w.name+"/alt=slice", func(b *testing.B) {
			for i := range b.N {
				accessSink += w.sliceGet(content, at[i%accessIndex])
			}
		})
		for _, k := range kinds {
			b.Run("op=get/width="+w.name+"/alt="+k.name, func(b *testing.B) {
				for i := range b.N {
					accessSink += w.get(k.b, at[i%accessIndex])
				}
			})
		}
		b.Run("op=set/width="+w.name+"/alt=slice", func(b *testing.B) {
			for i := range b.N {
				w.sliceSet(content, at[i%accessIndex], uint64(i))
			}
		})
		for _, k := range kinds {
			b.Run("op=set/width="+w.name+"/alt="+k.name, func(b *testing.B) {
				for i := range b.N {
					w.set(k.b, at[i%accessIndex], uint64(i))
				}
			})
		}
	}
}

// What the checks cost: those of Go's slices and of the accessors beside memory without any,
// and those of the index methods, which can be switched off.
func BenchmarkBufferAccessChecks(b *testing.B) {
	r := seeded()
	content := randomBytes(r, accessSize)
	var at [accessIndex]int
	for i := range at {
		at[i] = r.IntN(accessSize - 8)
	}
	x := buffer.Copy(content)
	defer x.Close()
	b.Run("op=get/alt=checked-slice", func(b *testing.B) {
		for i := range b.N {
			accessSink += uint64(binary.BigEndian.Uint32(content[at[i%accessIndex]:]))
		}
	})
	b.Run("op=get/alt=unchecked-pointer", func(b *testing.B) {
		p := unsafe.Pointer(unsafe.SliceData(content))
		for i := range b.N {
			// The loop's own index is checked all the same: & of a mask, and no branch.
			accessSink += uint64(*(*uint32)(unsafe.Add(p, at[i%accessIndex])))
		}
	})
	b.Run("op=get/alt=millrace", func(b *testing.B) {
		for i := range b.N {
			accessSink += uint64(x.Uint32At(at[i%accessIndex]))
		}
	})
	for _, alt := range []struct {
		name   string
		checks bool
	}{{"checked", true}, {"millrace-unchecked", false}} {
		b.Run("op=index/alt="+alt.name, func(b *testing.B) {
			buffer.SetChecks(alt.checks)
			defer buffer.SetChecks(true)
			for i := range b.N {
				x.SetReaderIndex(at[i%accessIndex])
			}
		})
	}
}

// Every byte, forwards and backwards.
func BenchmarkBufferAccessIterate(b *testing.B) {
	content := randomBytes(seeded(), accessSize)
	run := func(name string, f func() uint64) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(accessSize)
			for b.Loop() {
				accessSink = f()
			}
		})
	}
	sum := func(p []byte) (s uint64) {
		for _, c := range p {
			s += uint64(c)
		}
		return s
	}
	run("op=forwards/alt=slice", func() uint64 { return sum(content) })
	run("op=backwards/alt=slice", func() (s uint64) {
		for i := len(content) - 1; i >= 0; i-- {
			s += uint64(content[i])
		}
		return s
	})
	for _, k := range accessKinds(b, content) {
		x := k.b
		run("op=forwards/alt="+k.name+"-uint8at", func() (s uint64) {
			for i := range x.Len() {
				s += uint64(x.Uint8At(i))
			}
			return s
		})
		run("op=forwards/alt="+k.name+"-readuint8", func() (s uint64) {
			x.SetReaderIndex(0)
			for range accessSize {
				s += uint64(x.ReadUint8())
			}
			x.SetReaderIndex(0)
			return s
		})
		run("op=forwards/alt="+k.name+"-runs", func() (s uint64) {
			for at := 0; at < x.Len(); {
				p := x.RunAt(at)
				s += sum(p)
				at += len(p)
			}
			return s
		})
		run("op=backwards/alt="+k.name+"-uint8at", func() (s uint64) {
			for i := x.Len() - 1; i >= 0; i-- {
				s += uint64(x.Uint8At(i))
			}
			return s
		})
	}
}

// Copies of 4 KiB between kinds of memory, from and to addresses that a word divides or not.
func BenchmarkBufferAccessCopy(b *testing.B) {
	content := randomBytes(seeded(), accessSize)
	to := make([]byte, accessSize)
	kinds := accessKinds(b, content)
	for _, shift := range []string{"0", "1"} {
		skip := int(shift[0] - '0')
		b.Run("op=out/shift="+shift+"/alt=slice", func(b *testing.B) {
			b.SetBytes(accessSize - 1)
			for b.Loop() {
				copy(to, content[skip:accessSize-1+skip])
			}
		})
		for _, k := range kinds {
			b.Run("op=out/shift="+shift+"/alt="+k.name, func(b *testing.B) {
				b.SetBytes(accessSize - 1)
				for b.Loop() {
					k.b.SetReaderIndex(skip)
					k.b.ReadInto(to[:accessSize-1])
				}
			})
		}
		b.Run("op=in/shift="+shift+"/alt=slice", func(b *testing.B) {
			b.SetBytes(accessSize - 1)
			for b.Loop() {
				copy(to[skip:], content[:accessSize-1])
			}
		})
		for _, k := range kinds[:2] {
			b.Run("op=in/shift="+shift+"/alt="+k.name, func(b *testing.B) {
				b.SetBytes(accessSize - 1)
				for b.Loop() {
					k.b.Reset()
					k.b.Advance(skip)
					k.b.Write(content[:accessSize-1])
				}
			})
		}
	}
}

// The bytes before the first one of a value, which is the last of 4 KiB. What finds more than a
// byte is in the topic search.
func BenchmarkBufferAccessBytesBefore(b *testing.B) {
	content := bytes.Repeat([]byte("abcdefgh"), accessSize/8)
	content[accessSize-1] = '\n'
	run := func(alt string, f func() int) {
		b.Run("alt="+alt, func(b *testing.B) {
			b.SetBytes(accessSize)
			for b.Loop() {
				if n := f(); n != accessSize-1 {
					b.Fatal(n)
				}
			}
		})
	}
	run("byteloop", func() int {
		for i, c := range content {
			if c == '\n' {
				return i
			}
		}
		return -1
	})
	run("stdlib", func() int { return bytes.IndexByte(content, '\n') })
	for _, k := range accessKinds(b, content) {
		run(k.name, func() int { return k.b.IndexByte('\n') })
	}
}
