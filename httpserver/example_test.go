package httpserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

// A native handler answers on the connection's loop.
func Example() {
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", []byte("Hello, World!"))
		return true
	})}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	fmt.Println(fetch("GET", "http://"+s.Addr().String()+"/", ""))
	// Output: 200 Hello, World!
}

// A net/http handler runs unchanged. Here a native one answers the health checks.
func ExampleServer() {
	mux := nethttp.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "Hello, %s!", r.PathValue("name"))
	})
	healthy, err := http.NewFixed(200, []byte("ok"), "Content-Type", "text/plain")
	if err != nil {
		log.Fatal(err)
	}
	s := &httpserver.Server{
		Handler: mux,
		Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			if string(x.Request().Path()) != "/healthz" {
				return false
			}
			x.RespondFixed(healthy)
			return true
		}),
	}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	for _, path := range []string{"/hello/you", "/healthz"} {
		fmt.Println(fetch("GET", "http://"+s.Addr().String()+path, ""))
	}
	// Output:
	// 200 Hello, you!
	// 200 ok
}

// HTTPS, by a listener of crypto/tls. NextProtos lets clients choose HTTP/2.
func ExampleServer_Serve() {
	certificate, roots := certificate()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{"h2", "http/1.1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintln(w, "You speak", r.Proto)
	})}
	go func() {
		if err := s.Serve(l); !errors.Is(err, httpserver.ErrServerClosed) {
			log.Print(err)
		}
	}()
	defer s.Close()

	for _, http2 := range []bool{false, true} {
		tr := &nethttp.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
		resp, err := (&nethttp.Client{Transport: tr}).Get("https://" + l.Addr().String())
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(os.Stdout, resp.Body)
		resp.Body.Close()
		tr.CloseIdleConnections()
	}
	// Output:
	// You speak HTTP/1.1
	// You speak HTTP/2.0
}

// certificate borrows one for 127.0.0.1, with what a client has to trust.
func certificate() (tls.Certificate, *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}

// Content is streamed both ways; back pressure is a matter of a few lines.
func ExampleExchange_OnBody() {
	echo := func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		x.OnWritable((*httpserver.Exchange).ResumeBody)
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				x.Write(data)
			}
			switch {
			case end:
				x.End(nil)
			case err == nil && !x.IsWritable():
				x.PauseBody()
			}
		})
		return true
	}
	s := &httpserver.Server{Native: httpserver.NativeFunc(echo)}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	fmt.Println(fetch("POST", "http://"+s.Addr().String()+"/", "what comes goes"))
	// Output: 200 what comes goes
}

// Work that would block the loop is done elsewhere, and the answer given from there.
func ExampleExchange_Async() {
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		path := string(x.Request().Path()) // a copy: the view does not leave the loop
		a := x.Async()
		go func() {
			answer := strings.ToUpper(path) // takes long
			if err := a.Respond(200, "text/plain", []byte(answer)); err != nil {
				log.Print(err) // the server has ended
			}
		}()
		return true
	})}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	fmt.Println(fetch("GET", "http://"+s.Addr().String()+"/shout", ""))
	// Output: 200 /SHOUT
}

// fetch is a plain client.
func fetch(method, url, body string) string {
	req, err := nethttp.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	tr := &nethttp.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(resp.StatusCode, " ", string(b))
}

// A form with files, collected as it comes: on the loop, which nothing ever blocks.
func ExampleExchange_CollectForm() {
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.CollectForm(multipart.FormOptions{}, func(x *httpserver.Exchange, form *multipart.Form, err error) {
			if err != nil {
				x.Respond(multipart.Status(err), "text/plain", []byte(err.Error()))
				return
			}
			x.Respond(200, "text/plain", []byte("Hello, "+form.Value("name")+"!"))
			go form.Close() // files on disk take a moment to remove
		})
		return true
	})}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	resp, err := nethttp.PostForm("http://"+s.Addr().String(), url.Values{"name": {"miller"}})
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	content, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(content))
	// Output: 200 Hello, miller!
}

// partSizes notes how large the parts of a form are.
type partSizes struct {
	said strings.Builder
	size int
}

func (p *partSizes) BeginPart(part *multipart.Part) error {
	fmt.Fprintf(&p.said, "%s: ", part.Name)
	p.size = 0
	return nil
}
func (p *partSizes) PartData(data []byte) error { p.size += len(data); return nil }
func (p *partSizes) EndPart() error             { fmt.Fprintln(&p.said, p.size); return nil }

// An upload of any length that is used as it comes, and never kept: what has arrived goes
// into a decoder. A handler that can't keep up calls PauseBody.
func ExampleExchange_OnBody_multipart() {
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		boundary, err := multipart.Boundary(x.Request().Header.Get("Content-Type"))
		if err != nil {
			x.Respond(multipart.Status(err), "", nil)
			return true
		}
		sizes := &partSizes{}
		d, err := multipart.NewDecoder(boundary, sizes, multipart.Limits{MaxFile: -1, MaxTotal: -1})
		if err != nil {
			x.Respond(multipart.Status(err), "", nil)
			return true
		}
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				if err == nil {
					err = d.Decode(data)
				}
				data.Close()
			}
			if end && err == nil {
				err = d.Finish()
			}
			switch {
			case err != nil:
				x.Respond(multipart.Status(err), "", nil)
			case end:
				x.Respond(200, "text/plain", []byte(sizes.said.String()))
			}
		})
		return true
	})}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	e := multipart.NewEncoder()
	body := buffer.New(0)
	defer body.Close()
	_ = e.Field(body, "title", "The mill")
	_ = e.BeginFile(body, "photo", "mill.jpg", "image/jpeg")
	body.WriteString(strings.Repeat("x", 100_000))
	_ = e.End(body)
	resp, err := nethttp.Post("http://"+s.Addr().String(), e.ContentType(), body)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	content, _ := io.ReadAll(resp.Body)
	fmt.Print(string(content))
	// Output:
	// title: 8
	// photo: 100000
}
