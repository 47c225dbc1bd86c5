package micro

import (
	"bytes"
	"fmt"
	"io"
	stdmultipart "mime/multipart"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/codec/multipart"
)

// A body comes in Buffers of this size, as a connection gives them; to mime/multipart
// through a reader that gives as much at once.
const multipartPiece = 16 << 10

type multipartBody struct {
	name     string
	bytes    []byte
	boundary string
}

func (m *multipartBody) contentType() string { return "multipart/form-data; boundary=" + m.boundary }

// multipartBig is a form with one file of a megabyte.
func multipartBig() multipartBody {
	return multipartFile("big", randomBytes(seeded(), 1<<20))
}

func multipartFile(name string, content []byte) multipartBody {
	var b bytes.Buffer
	w := stdmultipart.NewWriter(&b)
	f, _ := w.CreateFormFile("file", "name.bin")
	_, _ = f.Write(content)
	_ = w.Close()
	return multipartBody{name, b.Bytes(), w.Boundary()}
}

// multipartMany is a form of 900 fields: mime/multipart takes 1,000 at most.
func multipartMany() multipartBody {
	r := seeded()
	var b bytes.Buffer
	w := stdmultipart.NewWriter(&b)
	for i := range 900 {
		_ = w.WriteField(fmt.Sprintf("field%d", i), fmt.Sprintf("value %x", r.Uint64()>>r.IntN(64)))
	}
	_ = w.Close()
	return multipartBody{"many", b.Bytes(), w.Boundary()}
}

var multipartSink int

// BenchmarkMultipart collects forms, at the default level of the leak detector (Simple) and
// the others.
func BenchmarkMultipart(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("TMPDIR", dir) // where mime/multipart has its files
	for _, body := range []multipartBody{multipartBig(), multipartMany()} {
		for _, kind := range []multipart.StorageKind{multipart.Memory, multipart.Disk, multipart.Mixed} {
			group := fmt.Sprintf("body=%s/store=%v/alt=", body.name, kind)
			b.Run(group+"mime-multipart", func(b *testing.B) { multipartStd(b, body, kind) })
			for _, level := range []buffer.LeakLevel{buffer.Disabled, buffer.Simple, buffer.Advanced, buffer.Paranoid} {
				name := "millrace"
				if level != buffer.Simple {
					name += "-" + strings.ToLower(level.String())
				}
				b.Run(group+name, func(b *testing.B) { multipartOwn(b, body, kind, level, dir) })
			}
		}
	}
}

// multipartStd is the reference: what net/http's ParseMultipartForm does.
func multipartStd(b *testing.B, body multipartBody, kind multipart.StorageKind) {
	inMemory := map[multipart.StorageKind]int64{multipart.Memory: 32 << 20, multipart.Disk: 0, multipart.Mixed: multipart.DefaultThreshold}[kind]
	b.SetBytes(int64(len(body.bytes)))
	b.ReportAllocs()
	for b.Loop() {
		form, err := stdmultipart.NewReader(bytes.NewReader(body.bytes), body.boundary).ReadForm(inMemory)
		if err != nil {
			b.Fatal(err)
		}
		multipartSink += len(form.Value) + len(form.File)
		if err := form.RemoveAll(); err != nil {
			b.Fatal(err)
		}
	}
}

func multipartOwn(b *testing.B, body multipartBody, kind multipart.StorageKind, level buffer.LeakLevel, dir string) {
	before := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(level)
	defer buffer.SetLeakLevel(before)
	l := startLoop(b)
	b.SetBytes(int64(len(body.bytes)))
	b.ReportAllocs()
	var err error
	onLoop(b, l, func() {
		a := l.Allocator()
		o := multipart.FormOptions{Storage: multipart.Storage{Kind: kind, Dir: dir, Allocator: a}}
		for b.Loop() && err == nil {
			var form *multipart.Form
			if form, err = multipartCollect(a, body, o); err == nil {
				multipartSink += len(form.Entries)
				err = form.Close()
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}

// multipartCollect fills Buffers, as reading from a connection would, and collects what they
// have.
func multipartCollect(a buffer.Allocator, body multipartBody, o multipart.FormOptions) (*multipart.Form, error) {
	c, err := multipart.NewCollector(body.contentType(), o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for p := body.bytes; len(p) > 0; {
		n := min(len(p), multipartPiece)
		piece := a.Allocate(n)
		piece.Write(p[:n])
		p = p[n:]
		err := c.Decode(piece)
		piece.Close()
		if err != nil {
			return nil, err
		}
	}
	return c.Finish()
}

// BenchmarkMultipartDecode only finds the parts: nothing is kept. The contents are such that
// a search for the delimiter is easy, such that it isn't, and fields.
func BenchmarkMultipartDecode(b *testing.B) {
	text := bytes.Repeat([]byte("The mill stands where the river bends, and grinds.\r\n"), 20_000)
	contents := []multipartBody{
		multipartMany(),
		multipartBig(),
		multipartFile("zeros", make([]byte, 1<<20)),
		multipartFile("lines", text),
	}
	begun := multipartFile("beginnings", nil)
	almost := "\r\n--" + begun.boundary[:len(begun.boundary)-1]
	begun.bytes = bytes.Replace(begun.bytes, []byte("\r\n\r\n"), []byte("\r\n\r\n"+string(bytes.Repeat([]byte(almost), (1<<20)/len(almost)))), 1)
	for _, body := range append(contents, begun) {
		b.Run("body="+body.name+"/alt=mime-multipart", func(b *testing.B) { multipartDiscardStd(b, body) })
		b.Run("body="+body.name+"/alt=millrace", func(b *testing.B) { multipartDiscardOwn(b, body) })
	}
}

func multipartDiscardStd(b *testing.B, body multipartBody) {
	b.SetBytes(int64(len(body.bytes)))
	b.ReportAllocs()
	for b.Loop() {
		r := stdmultipart.NewReader(bytes.NewReader(body.bytes), body.boundary)
		for {
			p, err := r.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, p)
			if err != nil {
				b.Fatal(err)
			}
			multipartSink += int(n) + len(p.FormName())
		}
	}
}

// multipartCounter counts what it is told.
type multipartCounter struct{}

func (multipartCounter) BeginPart(p *multipart.Part) error { multipartSink += len(p.Name); return nil }
func (multipartCounter) PartData(data []byte) error        { multipartSink += len(data); return nil }
func (multipartCounter) EndPart() error                    { return nil }

// multipartDiscardOwn gives the pieces as they are, because that is how content arrives: in
// Buffers. mime/multipart can only have them copied out of a reader.
func multipartDiscardOwn(b *testing.B, body multipartBody) {
	b.SetBytes(int64(len(body.bytes)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := multipart.NewDecoder(body.boundary, multipartCounter{}, multipart.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		for p := body.bytes; len(p) > 0; {
			n := min(len(p), multipartPiece)
			if _, err := d.Write(p[:n]); err != nil {
				b.Fatal(err)
			}
			p = p[n:]
		}
		if err := d.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}
