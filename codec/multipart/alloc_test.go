package multipart

import (
	"strings"
	"testing"

	"millrace.dev/buffer"
)

// nobody takes parts and keeps nothing.
type nobody struct{ bytes int }

func (n *nobody) BeginPart(*Part) error      { return nil }
func (n *nobody) PartData(data []byte) error { n.bytes += len(data); return nil }
func (n *nobody) EndPart() error             { return nil }

// A part costs the Decoder no memory, in whatever pieces it comes.
func TestDecoderAllocatesNothingForAPart(t *testing.T) {
	file := lines("--b", `Content-Disposition: form-data; name="f"; filename="a\"b.txt"`, "Content-Type: text/plain", "", "hello", "")
	for _, size := range []int{7, 1 << 20} {
		allocs := func(n int) float64 {
			body := []byte(strings.Repeat(file, n) + "--b--")
			return testing.AllocsPerRun(10, func() {
				d, err := NewDecoder("b", &nobody{}, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				for p := body; len(p) > 0; p = p[min(len(p), size):] {
					if _, err := d.Write(p[:min(len(p), size)]); err != nil {
						t.Fatal(err)
					}
				}
				if err := d.Finish(); err != nil {
					t.Fatal(err)
				}
			})
		}
		if few, many := allocs(2), allocs(900); few != many || few > 16 {
			t.Errorf("pieces of %d: %.0f allocations for 2 parts, %.0f for 900", size, few, many)
		}
	}
}

// A field costs a Collector the string that its name and value are in, besides the growth of
// the list.
func TestCollectorAllocatesOnceForAField(t *testing.T) {
	const n = 900
	body := []byte(strings.Repeat(lines("--b", field("name"), "value", ""), n) + "--b--")
	allocs := testing.AllocsPerRun(10, func() {
		c, err := NewCollector(contentType, FormOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(body); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Finish(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs < n || allocs > n+40 {
		t.Errorf("%.0f allocations for %d fields", allocs, n)
	}
}

// The memory of a file is given back to where it came from, all of it.
func TestMemoryComesFromTheAllocator(t *testing.T) {
	t.Parallel()
	p := buffer.NewPooled(buffer.PooledOptions{})
	for _, kind := range kinds {
		o := FormOptions{Storage: Storage{Kind: kind, Allocator: p, Threshold: 1 << 10}}
		form, err := ReadForm(strings.NewReader(body(strings.Repeat("x", 200_000), "small")), contentType, o)
		if err != nil {
			t.Fatal(err)
		}
		used := p.Stats().Used
		if most := int64(420_000); kind == Memory && (used < 200_000 || used > most) || kind == Disk && used != 0 || kind == Mixed && used > 2<<10 {
			t.Errorf("%v: %d bytes in use", kind, used)
		}
		form.Close()
		if s := p.Stats(); s.Used != 0 || s.Allocs != s.Frees {
			t.Errorf("%v: %+v", kind, s)
		}
	}
}
