package multipart_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/codec/multipart"
)

const body = "--mill\r\n" +
	"Content-Disposition: form-data; name=\"title\"\r\n\r\nTo the mill\r\n" +
	"--mill\r\n" +
	"Content-Disposition: form-data; name=\"photo\"; filename=\"../mill.txt\"\r\nContent-Type: text/plain\r\n\r\n" +
	"water\r\n" +
	"--mill--\r\n"

// counter counts what it is told.
type counter struct{ bytes int }

func (c *counter) BeginPart(p *multipart.Part) error {
	fmt.Printf("%s (file: %t)", p.Name, p.IsFile)
	return nil
}
func (c *counter) PartData(data []byte) error { c.bytes += len(data); return nil }
func (c *counter) EndPart() error {
	fmt.Println(":", c.bytes, "bytes")
	c.bytes = 0
	return nil
}

// A Decoder takes the body in pieces of any size, as they come from a connection.
func ExampleDecoder() {
	d, err := multipart.NewDecoder("mill", &counter{}, multipart.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, piece := range []string{body[:100], body[100:]} {
		b := buffer.CopyString(piece)
		err := d.Decode(b)
		b.Close()
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := d.Finish(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// title (file: false): 11 bytes
	// photo (file: true): 5 bytes
}

// A form whose files are in memory while they are small, and on disk when they aren't.
func ExampleReadForm() {
	form, err := multipart.ReadForm(strings.NewReader(body), "multipart/form-data; boundary=mill", multipart.FormOptions{
		Limits:  multipart.Limits{MaxFile: 10 << 20},
		Storage: multipart.Storage{Kind: multipart.Mixed},
	})
	if err != nil {
		log.Fatal(multipart.Status(err), err)
	}
	defer form.Close()
	fmt.Println(form.Value("title"))
	photo := form.File("photo")
	fmt.Println(photo.FileName, "is", multipart.BaseName(photo.FileName), "here, of", photo.Size(), "bytes")
	_, _ = io.Copy(os.Stdout, photo.Open())
	// Output:
	// To the mill
	// ../mill.txt is mill.txt here, of 5 bytes
	// water
}

// A client says beforehand how long the body is, and sends the files behind their headers.
func ExampleEncoder() {
	e, err := multipart.NewEncoderBoundary("mill")
	if err != nil {
		log.Fatal(err)
	}
	size := e.FieldSize("title", `A "mill"`) + e.FileSize("photo", "mill.txt", "text/plain", 5) + e.EndSize()
	b := buffer.New(0)
	defer b.Close()
	_ = e.Field(b, "title", `A "mill"`)
	_ = e.BeginFile(b, "photo", "mill.txt", "text/plain")
	b.WriteString("water")
	_ = e.End(b)
	fmt.Println(e.ContentType(), size == int64(b.Len()))
	fmt.Print(strings.ReplaceAll(string(b.Bytes()), "\r", ""))
	// Output:
	// multipart/form-data; boundary=mill true
	// --mill
	// Content-Disposition: form-data; name="title"
	//
	// A "mill"
	// --mill
	// Content-Disposition: form-data; name="photo"; filename="mill.txt"
	// Content-Type: text/plain
	//
	// water
	// --mill--
}
