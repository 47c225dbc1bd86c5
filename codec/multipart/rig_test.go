package multipart

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

// recorder writes down what a Decoder tells it.
type recorder struct {
	said strings.Builder
	data []byte
	last Part
}

func (r *recorder) BeginPart(p *Part) error {
	fmt.Fprintf(&r.said, "[%s", p.Name)
	if p.IsFile {
		fmt.Fprintf(&r.said, " file=%s", p.FileName)
	}
	if p.ContentType != nil {
		fmt.Fprintf(&r.said, " type=%s", p.ContentType)
	}
	if p.Depth > 0 {
		fmt.Fprintf(&r.said, " depth=%d", p.Depth)
	}
	r.said.WriteString("] ")
	r.last = *p
	return nil
}

func (r *recorder) PartData(data []byte) error {
	if len(data) == 0 {
		panic("empty data")
	}
	r.data = append(r.data, data...)
	return nil
}

func (r *recorder) EndPart() error {
	fmt.Fprintf(&r.said, "%q ", r.data)
	r.data = r.data[:0]
	return nil
}

// pieces cuts s after every n bytes.
func pieces(s string, n int) (all []string) {
	for len(s) > n {
		all = append(all, s[:n])
		s = s[n:]
	}
	return append(all, s)
}

// decode decodes a body that comes in pieces.
func decode(boundary string, l Limits, body ...string) (string, error) {
	r := &recorder{}
	d, err := NewDecoder(boundary, r, l)
	if err != nil {
		return "", err
	}
	for _, p := range body {
		if _, err := d.Write([]byte(p)); err != nil {
			return r.said.String(), err
		}
	}
	err = d.Finish()
	return r.said.String(), err
}

// checkDecode checks what a body is decoded to, whatever the pieces in which it comes.
func checkDecode(t *testing.T, boundary string, l Limits, body, want string, wantErr error) {
	t.Helper()
	check := func(how string, got string, err error) {
		t.Helper()
		if err != wantErr || got != want {
			t.Fatalf("%s of %.300q:\n got %.300s %v\nwant %.300s %v", how, body, got, err, want, wantErr)
		}
	}
	got, err := decode(boundary, l, body)
	check("the whole", got, err)
	got, err = decode(boundary, l, pieces(body, 1)...)
	check("the bytes", got, err)
	if len(body) > 2000 {
		return
	}
	for i := range body {
		got, err = decode(boundary, l, body[:i], body[i:])
		check(fmt.Sprintf("the pieces up to and from %d", i), got, err)
	}
	got, err = decodeComposite(boundary, l, body)
	check("a composite", got, err)
}

// decodeComposite decodes a body in one Buffer of parts.
func decodeComposite(boundary string, l Limits, body string) (string, error) {
	r := &recorder{}
	d, err := NewDecoder(boundary, r, l)
	if err != nil {
		return "", err
	}
	var parts []*buffer.Buffer
	for _, p := range pieces(body, 7) {
		parts = append(parts, buffer.CopyString(p))
	}
	b := buffer.Compose(parts...)
	defer b.Close()
	if err := d.Decode(b); err != nil {
		return r.said.String(), err
	}
	err = d.Finish()
	return r.said.String(), err
}

// lines joins lines as a body has them.
func lines(all ...string) string { return strings.Join(all, "\r\n") }

// field returns the header of a field, with the empty line.
func field(name string) string {
	return "Content-Disposition: form-data; name=\"" + name + "\"\r\n"
}
