package httpserver_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	nethttp "net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What others have written for net/http runs behind the server as it is.

func TestReverseProxy(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Header.Get("Upgrade") == "" {
			w.Header().Set("Trailer", "Sum")
			n, _ := io.Copy(w, r.Body)
			w.Header().Set("Sum", fmt.Sprint(n))
			return
		}
		c, rw, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		_, _ = io.Copy(c, rw)
	}))
	defer backend.Close()
	target, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	addr := serve(t, newStd(proxy))

	content := bytes.Repeat([]byte("0123456789"), 200_000)
	tr := &nethttp.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&nethttp.Client{Transport: tr}).Post("http://"+addr+"/", "text/plain", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !bytes.Equal(got, content) || resp.Trailer.Get("Sum") != "2000000" {
		t.Errorf("%d bytes came back, %v, trailer %v", len(got), err, resp.Trailer)
	}

	c := dial(t, addr)
	c.send(upgradeRequest)
	if resp, err := nethttp.ReadResponse(c.r, nil); err != nil || resp.StatusCode != 101 {
		t.Fatalf("%v, %v", resp, err)
	}
	c.send("ping")
	b := make([]byte, 4)
	if _, err := io.ReadFull(c.r, b); err != nil || string(b) != "ping" {
		t.Errorf("got %q, %v", b, err)
	}
	_ = c.Close()
}

func TestTimeoutHandler(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	slow := nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		defer close(ended)
		<-r.Context().Done()
	})
	addr := serve(t, newStd(nethttp.TimeoutHandler(slow, time.Millisecond, "too slow")))
	if got := get(t, addr, "/"); got.StatusCode != 503 || got.body != "too slow" {
		t.Errorf("status %d, %q", got.StatusCode, got.body)
	}
	receiveFrom(t, "the handler ends", ended)
}

func TestMultipartForm(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		f, h, err := r.FormFile("file")
		if err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		fmt.Fprint(w, h.Filename, " ", n, " ", err, " ", r.FormValue("name"))
	})
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("name", "value")
	file, _ := form.CreateFormFile("file", "a.txt")
	_, _ = io.WriteString(file, strings.Repeat("x", 300_000))
	_ = form.Close()
	c := dial(t, addr)
	c.send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", form.FormDataContentType(), body.Len()))
	c.send(body.String())
	if got := c.receive("POST"); got.body != "a.txt 300000 <nil> value" {
		t.Errorf("status %d, %q", got.StatusCode, got.body)
	}
}
