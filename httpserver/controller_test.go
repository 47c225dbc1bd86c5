package httpserver_test

import (
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/httpserver"
)

func TestReadDeadline(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		rc := nethttp.NewResponseController(w)
		if err := rc.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Error(err)
		}
		if err := rc.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		_, err := io.ReadAll(r.Body)
		fmt.Fprint(w, errors.Is(err, os.ErrDeadlineExceeded))
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
	if got := c.receive("POST"); got.body != "true" || !got.Close {
		t.Errorf("got %q, close %t", got.body, got.Close)
	}
}

func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	errs, begun := make(chan error, 1), make(chan struct{})
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		rc := nethttp.NewResponseController(w)
		if err := rc.Flush(); err != nil {
			t.Error(err)
		}
		<-begun
		if err := rc.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Error(err)
		}
		p := make([]byte, 1<<20)
		for {
			if _, err := w.Write(p); err != nil {
				<-r.Context().Done()
				errs <- err
				return
			}
		}
	})
	c := dial(t, addr)
	c.send(getLine)
	resp, err := nethttp.ReadResponse(c.r, nil)
	close(begun)
	if err != nil {
		t.Fatal(err)
	}
	if err := receiveFrom(t, "the write fails", errs); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write fails with %v", err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("the answer looks whole")
	}
}

// testFile writes a file whose every byte depends on its place.
func testFile(t *testing.T, size int) (path, content string) {
	t.Helper()
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	path = filepath.Join(t.TempDir(), "file.bin")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

func TestFilesAreServed(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	path, content := testFile(t, size)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/chunked" {
			f, err := os.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			fmt.Fprint(w, "before ")
			if n, err := io.Copy(w, f); n != size || err != nil {
				t.Errorf("copied %d, %v", n, err)
			}
			if at, err := f.Seek(0, io.SeekCurrent); at != size || err != nil {
				t.Errorf("the file stands at %d, %v", at, err)
			}
			fmt.Fprint(w, " after")
			return
		}
		nethttp.ServeFile(w, r, path)
	})
	c := dial(t, addr)
	c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n" +
		"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" +
		"GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=100000-2999999\r\n\r\n" +
		"GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=5-9\r\n\r\n" +
		"GET /chunked HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := c.receive("GET"); got.body != content || got.ContentLength != size {
		t.Errorf("whole: %d bytes, %v", len(got.body), got.err)
	}
	if got := c.receive("HEAD"); got.ContentLength != size {
		t.Errorf("HEAD: length %d", got.ContentLength)
	}
	if got := c.receive("GET"); got.StatusCode != 206 || got.body != content[100000:3000000] {
		t.Errorf("range: status %d, %d bytes, %v", got.StatusCode, len(got.body), got.err)
	}
	if got := c.receive("GET"); got.body != content[5:10] {
		t.Errorf("small range: %q", got.body)
	}
	if got := c.receive("GET"); got.body != "before "+content+" after" {
		t.Errorf("chunked: %d bytes, %v", len(got.body), got.err)
	}
}

func TestLargeFilesGoBySendfile(t *testing.T) {
	t.Parallel()
	path, content := testFile(t, 100_000)
	ch := embed(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.ServeFile(w, r, path)
	})})
	feed(t, ch, getLine)
	var region *channel.FileRegion
	letRun(t, ch, "a file region is sent", func() bool {
		for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
			var ok bool
			if region, ok = msg.(*channel.FileRegion); ok {
				return true
			}
			channel.Dispose(msg)
		}
		return false
	})
	b := make([]byte, region.Count)
	if _, err := region.File.ReadAt(b, region.Offset); err != nil || string(b) != content {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	region.Close()
}

func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	next := make(chan string)
	ended := make(chan struct{})
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		defer close(ended)
		w.Header().Set("Content-Type", "text/event-stream")
		rc := nethttp.NewResponseController(w)
		for {
			select {
			case e := <-next:
				fmt.Fprintf(w, "data: %s\n\n", e)
				if err := rc.Flush(); err != nil {
					t.Error(err)
				}
			case <-r.Context().Done():
				return
			}
		}
	})
	c := dial(t, addr)
	c.send(getLine)
	next <- "first"
	resp, err := nethttp.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{"first", "second", "third"} {
		want := "data: " + e + "\n\n"
		b := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != want {
			t.Fatalf("got %q, %v", b, err)
		}
		if e != "third" {
			next <- map[string]string{"first": "second", "second": "third"}[e]
		}
	}
	_ = c.Close()
	receiveFrom(t, "the handler ends with its client", ended)
}

func TestWritingMoreThanDeclared(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "3")
		if n, err := io.WriteString(w, "abc"); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := io.WriteString(w, "d"); !errors.Is(err, nethttp.ErrContentLength) {
			t.Errorf("one more: %v", err)
		}
		if _, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("e")); !errors.Is(err, nethttp.ErrContentLength) {
			t.Errorf("and more: %v", err)
		}
	})
	c := dial(t, addr)
	for range 2 {
		c.send(getLine)
		if got := c.receive("GET").body; got != "abc" {
			t.Errorf("got %q", got)
		}
	}
}
