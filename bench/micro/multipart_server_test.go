package micro

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

// BenchmarkMultipartServer sends forms to a server over the loopback interface, which reads
// each with what net/http has, with ParseForm in its place, and natively. The client's work
// and the system's are in the figures.
func BenchmarkMultipartServer(b *testing.B) {
	o := multipart.FormOptions{Storage: multipart.Storage{Kind: multipart.Memory}}
	standard := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(32 << 20); err != nil {
			w.WriteHeader(400)
			return
		}
		_ = r.MultipartForm.RemoveAll()
	})
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, err := httpserver.ParseForm(r, o)
		if err != nil {
			w.WriteHeader(400)
			return
		}
		_ = form.Close()
	})
	native := httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.CollectForm(o, func(x *httpserver.Exchange, form *multipart.Form, err error) {
			if err != nil {
				x.Respond(400, "", nil)
				return
			}
			_ = form.Close()
			x.Respond(200, "", nil)
		})
		return true
	})
	for _, body := range []multipartBody{multipartBig(), multipartMany()} {
		b.Run("body="+body.name+"/alt=parse-multipart-form", func(b *testing.B) {
			multipartServe(b, &httpserver.Server{Handler: standard}, body)
		})
		b.Run("body="+body.name+"/alt=millrace-parse-form", func(b *testing.B) {
			multipartServe(b, &httpserver.Server{Handler: own}, body)
		})
		b.Run("body="+body.name+"/alt=millrace-native", func(b *testing.B) {
			multipartServe(b, &httpserver.Server{Native: native}, body)
		})
	}
}

// multipartServe sends one request after another on a connection.
func multipartServe(b *testing.B, s *httpserver.Server, body multipartBody) {
	s.Logger = slog.New(slog.DiscardHandler)
	ln, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := net.Dial("tcp", ln.LocalAddr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", body.contentType(), len(body.bytes))
	request := append([]byte(head), body.bytes...)
	b.SetBytes(int64(len(body.bytes)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		a, err := http.ReadResponse(in, nil)
		if err != nil || a.StatusCode != 200 {
			b.Fatal(a, err)
		}
		if _, err := io.Copy(io.Discard, a.Body); err != nil {
			b.Fatal(err)
		}
	}
}
