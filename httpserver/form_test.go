package httpserver_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"millrace.dev/channel/embedded"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

// tempFiles makes temporary files that write when they are let, and counts those open.
type tempFiles struct {
	open, begun, written atomic.Int64  // files, writes, and bytes
	gate                 chan struct{} // writes wait until it is closed; nil: they don't
	err                  error         // instead of writing
	panics               bool          // instead of writing
}

type tempFile struct {
	*os.File
	fs *tempFiles
}

func (f *tempFiles) CreateTemp(dir string) (multipart.TempFile, error) {
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		return nil, err
	}
	f.open.Add(1)
	return &tempFile{file, f}, nil
}

func (f *tempFile) Write(p []byte) (int, error) {
	f.fs.begun.Add(1)
	if f.fs.gate != nil {
		<-f.fs.gate
	}
	if f.fs.panics {
		panic("disk on fire")
	}
	if f.fs.err != nil {
		return 0, f.fs.err
	}
	n, err := f.File.Write(p)
	f.fs.written.Add(int64(n))
	return n, err
}

func (f *tempFile) Close() error {
	defer f.fs.open.Add(-1)
	_ = os.Remove(f.Name())
	return f.File.Close()
}

func (f *tempFile) SaveAs(string, int64) error { return syscall.ENOSYS }

// checkNothingLeft waits until no temporary file is open, and looks into their directory.
func checkNothingLeft(t *testing.T, dir string, f *tempFiles) {
	t.Helper()
	await(t, "temporary files closed", func() bool { return f.open.Load() == 0 })
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Fatalf("left: %v %v", entries, err)
	}
}

const formType = "multipart/form-data; boundary=b"

// formBody is a form of a field and a file.
func formBody(content string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n" + content + "\r\n--b--\r\n"
}

// post is a request with a body of a declared length, or chunked.
func post(contentType, body string, chunked bool) string {
	head := "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: " + contentType + "\r\n"
	if !chunked {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	return fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body)
}

// answerForm answers with what is in the form, and closes it elsewhere.
func answerForm(x *httpserver.Exchange, form *multipart.Form, err error) {
	if err != nil {
		x.Respond(multipart.Status(err), "text/plain", []byte(err.Error()))
		return
	}
	var said strings.Builder
	for _, e := range form.Entries {
		fmt.Fprintf(&said, "%s=%s", e.Name, e.Value)
		if e.File != nil {
			fmt.Fprintf(&said, "%d", e.File.Size())
		}
		said.WriteString(" ")
	}
	x.Respond(200, "text/plain", []byte(said.String()))
	go form.Close()
}

func collectForms(o multipart.FormOptions) httpserver.NativeFunc {
	return func(x *httpserver.Exchange) bool {
		x.CollectForm(o, answerForm)
		return true
	}
}

func TestCollectForm(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcde\n", 40_000)
	for _, kind := range []multipart.StorageKind{multipart.Memory, multipart.Mixed, multipart.Disk} {
		dir, files := t.TempDir(), &tempFiles{}
		o := multipart.FormOptions{Storage: multipart.Storage{Kind: kind, Dir: dir, FileSystem: files}}
		addr := serve(t, &httpserver.Server{Native: collectForms(o)})
		c := dial(t, addr)
		for _, r := range []struct {
			request string
			status  int
			want    string
		}{
			{post(formType, formBody("hello"), false), 200, "a=1 f=5 "},
			{post(formType, formBody(big), false), 200, fmt.Sprintf("a=1 f=%d ", len(big))},
			{post(formType, formBody(big), true), 200, fmt.Sprintf("a=1 f=%d ", len(big))},
			{post(formType, "--b--", true), 200, ""},
			{post("application/x-www-form-urlencoded", "a=1&b=x+y", false), 200, "a=1 b=x y "},
			{post("text/plain", "a=1&b=x+y", false), 415, multipart.ErrContentType.Error()},
			{post("multipart/form-data", "x", false), 400, multipart.ErrBoundary.Error()},
			{post(formType, formBody("hello")[:100], false), 400, multipart.ErrTruncated.Error()},
			{post(formType, "--bx", false), 400, multipart.ErrDelimiter.Error()},
			{post(formType, "", false), 400, multipart.ErrTruncated.Error()},
		} {
			c.send(r.request)
			a := c.receive("POST")
			if a.StatusCode != r.status || a.body != r.want {
				t.Fatalf("%v, %.100q: %d %q, want %d %q", kind, r.request, a.StatusCode, a.body, r.status, r.want)
			}
		}
		checkNothingLeft(t, dir, files)
	}
}

// A form that is refused before all of it has come is answered at once, and the connection
// ends with that if there is much more to come.
func TestCollectFormRefuses(t *testing.T) {
	t.Parallel()
	for _, kind := range []multipart.StorageKind{multipart.Memory, multipart.Disk} {
		dir, files := t.TempDir(), &tempFiles{}
		o := multipart.FormOptions{
			Limits:  multipart.Limits{MaxFile: 1000},
			Storage: multipart.Storage{Kind: kind, Dir: dir, FileSystem: files},
		}
		c := dial(t, serve(t, &httpserver.Server{Native: collectForms(o)}))
		request := post(formType, formBody(strings.Repeat("x", 10<<20)), false)
		c.send(request[:100_000])
		if a := c.receive("POST"); a.StatusCode != 413 || !a.Close {
			t.Errorf("%v: %d %q %v", kind, a.StatusCode, a.body, a.Header)
		}
		checkNothingLeft(t, dir, files)
	}
}

func TestCollectFormFullDisk(t *testing.T) {
	t.Parallel()
	for err, status := range map[error]int{syscall.ENOSPC: 507, syscall.EIO: 500} {
		dir, files := t.TempDir(), &tempFiles{err: err}
		o := multipart.FormOptions{Storage: multipart.Storage{Dir: dir, FileSystem: files}}
		c := dial(t, serve(t, &httpserver.Server{Native: collectForms(o)}))
		c.send(post(formType, formBody(strings.Repeat("x", 200_000)), false))
		if a := c.receive("POST"); a.StatusCode != status {
			t.Errorf("%v: %d %q", err, a.StatusCode, a.body)
		}
		checkNothingLeft(t, dir, files)
	}
}

// A panic where files are written is an error of that form, and of nothing else.
func TestCollectFormPanic(t *testing.T) {
	t.Parallel()
	dir, files, said := t.TempDir(), &tempFiles{panics: true}, &logs{}
	o := multipart.FormOptions{Storage: multipart.Storage{Dir: dir, FileSystem: files}}
	c := dial(t, serve(t, &httpserver.Server{Native: collectForms(o), Logger: said.logger()}))
	for range 2 {
		c.send(post(formType, formBody(strings.Repeat("x", 200_000)), false))
		if a := c.receive("POST"); a.StatusCode != 500 || !strings.Contains(said.String(), "disk on fire") {
			t.Errorf("%d %q %s", a.StatusCode, a.body, said)
		}
	}
	checkNothingLeft(t, dir, files)
}

// However an exchange ends before the form has come, nothing is left of it.
func TestCollectFormGivenUp(t *testing.T) {
	t.Parallel()
	request := post(formType, formBody(strings.Repeat("x", 300_000)), false)
	for _, how := range []string{"the client goes", "the server closes", "another answer", "abort"} {
		for _, kind := range []multipart.StorageKind{multipart.Memory, multipart.Disk} {
			dir, files := t.TempDir(), &tempFiles{}
			begun := make(chan struct{})
			o := multipart.FormOptions{Storage: multipart.Storage{Kind: kind, Dir: dir, FileSystem: files}}
			s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
				x.CollectForm(o, func(x *httpserver.Exchange, form *multipart.Form, err error) {
					if form != nil {
						t.Error("a form of a part of it")
						form.Close()
					}
				})
				switch how {
				case "another answer":
					x.Respond(503, "", nil)
				case "abort":
					x.Abort()
				}
				close(begun)
				return true
			})}
			c := dial(t, serve(t, s))
			_, err := io.WriteString(c, request[:250_000])
			if err != nil && how != "abort" { // which may come in the middle of it
				t.Fatal(err)
			}
			receiveFrom(t, "request", begun)
			if kind == multipart.Disk && !strings.HasPrefix(how, "a") {
				await(t, "content on disk", func() bool { return files.written.Load() > 0 })
			}
			if how == "the server closes" {
				_ = s.Close()
			} else {
				_ = c.Close()
			}
			await(t, "connection closed", func() bool { return s.Connections() == 0 })
			checkNothingLeft(t, dir, files)
		}
	}
}

// While the disk is behind, the server reads no more, and does everything else.
func TestCollectFormSlowDisk(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &tempFiles{gate: make(chan struct{})}
	o := multipart.FormOptions{Storage: multipart.Storage{Kind: multipart.Disk, Dir: dir, FileSystem: files}}
	ch := embedNative(t, collectForms(o))
	request := post(formType, formBody(strings.Repeat("x", 1<<20)), false)
	fed := feedUntilStopped(t, ch, files, request)
	if fed < 128<<10 || fed > 128<<10+2*formPiece {
		t.Errorf("the server has read %d bytes that nobody can store", fed)
	}
	close(files.gate)
	for fed < len(request) {
		runUntil(t, ch, ch.Reading)
		n := min(formPiece, len(request)-fed)
		feed(t, ch, request[fed:fed+n])
		fed += n
	}
	var out string
	runUntil(t, ch, func() bool {
		out += sent(t, ch)
		return out != ""
	})
	if out != textAnswer("200 OK", fmt.Sprintf("a=1 f=%d ", 1<<20)) {
		t.Errorf("%q", out)
	}
	checkNothingLeft(t, dir, files)
}

// formPiece is more than what is gathered before it is written.
const formPiece = 20_000

// feedUntilStopped has the first piece of a request wait at the gate, so that it is known how
// much is taken from what comes then, and feeds pieces until the server stops reading. It
// returns how many bytes that were.
func feedUntilStopped(t *testing.T, ch *embedded.Channel, files *tempFiles, request string) (fed int) {
	t.Helper()
	for ; ch.Reading(); fed += formPiece {
		feed(t, ch, request[fed:fed+formPiece])
		await(t, "first write", func() bool { return files.begun.Load() == 1 })
	}
	return fed
}

// runUntil runs what others have for the channel's loop until ok.
func runUntil(t *testing.T, ch *embedded.Channel, ok func() bool) {
	t.Helper()
	await(t, "progress", func() bool {
		ch.RunPending()
		return ok()
	})
}

// A connection that is lost while the content is stopped leaves nothing either.
func TestCollectFormLostWhileStopped(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &tempFiles{gate: make(chan struct{})}
	o := multipart.FormOptions{Storage: multipart.Storage{Kind: multipart.Disk, Dir: dir, FileSystem: files}}
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.CollectForm(o, func(*httpserver.Exchange, *multipart.Form, error) { t.Error("called") })
		return true
	})
	request := post(formType, formBody(strings.Repeat("x", 1<<20)), false)
	feedUntilStopped(t, ch, files, request)
	ch.Close()
	ch.RunPending()
	close(files.gate)
	checkNothingLeft(t, dir, files)
}

// Many uploads at once, of which each goes through the pool's goroutines many times.
func TestCollectFormManyAtOnce(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &tempFiles{}
	o := multipart.FormOptions{Storage: multipart.Storage{Kind: multipart.Disk, Dir: dir, FileSystem: files}}
	addr := serve(t, &httpserver.Server{Native: collectForms(o)})
	request := post(formType, formBody(strings.Repeat("x", 300_000)), false)
	const n = 64
	done := make(chan string, n)
	for range n {
		c := dial(t, addr)
		go func() {
			_ = c.SetDeadline(time.Now().Add(patience))
			_, err := io.WriteString(c, request)
			if err != nil {
				done <- err.Error()
				return
			}
			done <- c.receive("POST").body
		}()
	}
	for range n {
		if got := receiveFrom(t, "answer", done); got != "a=1 f=300000 " {
			t.Fatal(got)
		}
	}
	checkNothingLeft(t, dir, files)
}
