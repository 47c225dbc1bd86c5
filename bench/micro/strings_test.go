package micro

import (
	"bytes"
	"hash/maphash"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace.dev/buffer"
	"millrace.dev/buffer/text"
)

var (
	stringsSink  int
	stringsBytes []byte
	stringsText  string
)

// stringsCount is so many inputs that a branch predictor can't learn them.
const stringsCount = 1024

// stringsRun runs f for input after input.
func stringsRun(b *testing.B, name string, f func(i int)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			f(i % stringsCount)
		}
	})
}

// Strings into a buffer: what an encoder does that makes an array first, against writing
// straight.
func BenchmarkStringsWrite(b *testing.B) {
	r := seeded()
	out := buffer.New(1 << 10)
	defer out.Close()
	for _, kind := range []struct{ name, from string }{
		{"ascii", "the quick miller turns the wheel "},
		{"utf8", "die Mühle am rauschenden Bach 水車 "},
	} {
		var in, broken [stringsCount]string
		for i := range in {
			in[i] = strings.ToValidUTF8(strings.Repeat(kind.from, 8)[:4+r.IntN(200)], "?")
			broken[i] = in[i] + "\xff" + in[r.IntN(i+1)]
		}
		group := "op=write/input=" + kind.name
		stringsRun(b, group+"/alt=array", func(i int) {
			out.Reset()
			stringsBytes = []byte(in[i])
			_, _ = out.Write(stringsBytes)
		})
		stringsRun(b, group+"/alt=millrace", func(i int) {
			out.Reset()
			_, _ = out.WriteString(in[i])
		})
		group = "op=prefixed/input=" + kind.name
		stringsRun(b, group+"/alt=array", func(i int) {
			out.Reset()
			stringsBytes = []byte(in[i])
			if utf8.Valid(stringsBytes) {
				out.WriteUint16(uint16(len(stringsBytes)))
				_, _ = out.Write(stringsBytes)
			}
		})
		stringsRun(b, group+"/alt=millrace", func(i int) { out.Reset(); _ = text.WriteString16(out, in[i]) })
		group = "op=repair/input=" + kind.name
		stringsRun(b, group+"/alt=stdlib", func(i int) {
			out.Reset()
			_, _ = out.WriteString(strings.ToValidUTF8(broken[i], "\uFFFD"))
		})
		stringsRun(b, group+"/alt=millrace", func(i int) { out.Reset(); text.WriteValid(out, broken[i]) })
	}
}

// Names as they come in, in spellings that differ: every other one is the name that it is
// compared with.
func BenchmarkStringsNames(b *testing.B) {
	r := seeded()
	known := []string{"Host", "Accept", "Accept-Encoding", "Content-Type", "Content-Length", "User-Agent", "X-Forwarded-For", "If-None-Match", "Cache-Control", "Authorization"}
	var names, other [stringsCount][]byte
	for i := range names {
		name := known[r.IntN(len(known))]
		names[i] = []byte(name)
		other[i] = []byte(name)
		switch r.IntN(4) {
		case 0:
			other[i] = bytes.ToLower(other[i])
		case 1:
			other[i][r.IntN(len(name))] = 'q'
		case 2:
			other[i] = []byte(known[r.IntN(len(known))])
		}
	}
	out := make([]byte, 0, 64)
	seed := maphash.MakeSeed()
	equal := func(ok bool) {
		if ok {
			stringsSink++
		}
	}
	stringsRun(b, "op=equal/alt=byteloop", func(i int) { equal(equalLoop(names[i], other[i])) })
	stringsRun(b, "op=equal/alt=millrace-go", func(i int) { equal(bytes.Equal(names[i], other[i])) })
	stringsRun(b, "op=equalfold/alt=byteloop", func(i int) { equal(equalFoldLoop(names[i], other[i])) })
	stringsRun(b, "op=equalfold/alt=stdlib", func(i int) { equal(bytes.EqualFold(names[i], other[i])) })
	stringsRun(b, "op=equalfold/alt=millrace", func(i int) { equal(text.EqualFold(names[i], other[i])) })
	stringsRun(b, "op=lower/alt=byteloop", func(i int) { stringsBytes = lowerLoop(out, names[i]) })
	stringsRun(b, "op=lower/alt=stdlib", func(i int) { stringsBytes = bytes.ToLower(names[i]) })
	stringsRun(b, "op=lower/alt=millrace", func(i int) { stringsBytes = text.AppendLower(out, names[i]) })
	stringsRun(b, "op=hash/alt=fnv1a", func(i int) { stringsSink += int(fnvFold(names[i])) })
	stringsRun(b, "op=hash/alt=stdlib", func(i int) { stringsSink += int(maphash.Bytes(seed, bytes.ToLower(names[i]))) })
	stringsRun(b, "op=hash/alt=millrace", func(i int) { stringsSink += int(text.HashFold(seed, names[i])) })
}

func equalLoop(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func equalFoldLoop(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if text.Lower(a[i]) != text.Lower(b[i]) {
			return false
		}
	}
	return true
}

func lowerLoop(dst, p []byte) []byte {
	for _, c := range p {
		dst = append(dst, text.Lower(c))
	}
	return dst
}

// fnvFold is the hash that byte strings often have: cheap for short ones, and a peer can find
// as many with the same hash as it likes.
func fnvFold(p []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range p {
		h = (h ^ uint64(text.Lower(c))) * 0x100000001b3
	}
	return h
}

// Strings out of a buffer, of which few are new.
func BenchmarkStringsRead(b *testing.B) {
	r := seeded()
	var in [stringsCount]*buffer.Buffer
	for i := range in {
		in[i] = buffer.CopyString("sensors/mill/" + words[r.IntN(len(words))])
		defer in[i].Close()
	}
	interner := text.NewInterner(256, 64)
	stringsRun(b, "op=read/alt=new", func(i int) {
		in[i].SetReaderIndex(0)
		stringsText = in[i].ReadString(in[i].Len())
	})
	stringsRun(b, "op=read/alt=millrace-interned", func(i int) {
		in[i].SetReaderIndex(0)
		stringsText = interner.Read(in[i], in[i].Len())
	})
}

// UTF-8 that comes in fragments of 1 KiB which cut characters.
func BenchmarkStringsValid(b *testing.B) {
	for _, kind := range []struct{ name, from string }{
		{"ascii", "the quick miller turns the wheel "},
		{"utf8", "die Mühle am rauschenden Bach 水車 "},
	} {
		all := []byte(strings.Repeat(kind.from, 64<<10/len(kind.from)))
		run := func(alt string, f func() bool) {
			b.Run("op=valid/input="+kind.name+"/alt="+alt, func(b *testing.B) {
				b.SetBytes(int64(len(all)))
				b.ReportAllocs()
				for b.Loop() {
					if !f() {
						b.Fatal("not valid")
					}
				}
			})
		}
		run("gathered", func() bool { // a fragment at a time can't be judged, so they are joined
			var joined []byte
			for at := 0; at < len(all); at += 1 << 10 {
				joined = append(joined, all[at:min(at+1<<10, len(all))]...)
			}
			return utf8.Valid(joined)
		})
		run("millrace", func() bool {
			var v text.Validator
			for at := 0; at < len(all); at += 1 << 10 {
				v.Feed(all[at:min(at+1<<10, len(all))])
			}
			return v.Complete()
		})
	}
}
