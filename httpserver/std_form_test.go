package httpserver_test

import (
	"encoding/json"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

// formValues is what a handler sees of a form.
type formValues struct {
	Form, PostForm map[string][]string
	Both           string
	File           string
}

// standardForm reads a form as every net/http handler does.
func standardForm(w nethttp.ResponseWriter, r *nethttp.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != nethttp.ErrNotMultipart {
		nethttp.Error(w, err.Error(), 400)
		return
	}
	v := formValues{Form: r.Form, PostForm: r.PostForm, Both: r.FormValue("both")}
	if f, _, err := r.FormFile("f"); err == nil {
		b, _ := io.ReadAll(f)
		v.File = string(b)
	}
	_ = json.NewEncoder(w).Encode(v)
}

// ownForm does the same with ParseForm.
func ownForm(w nethttp.ResponseWriter, r *nethttp.Request) {
	form, err := httpserver.ParseForm(r, multipart.FormOptions{
		Limits:  multipart.Limits{MaxTotal: 1 << 20},
		Storage: multipart.Storage{Kind: multipart.Mixed, Threshold: 100},
	})
	if err != nil {
		nethttp.Error(w, err.Error(), multipart.Status(err))
		return
	}
	defer form.Close()
	v := formValues{Form: r.Form, PostForm: r.PostForm, Both: r.FormValue("both")}
	if f := form.File("f"); f != nil {
		b, _ := io.ReadAll(f.Open())
		v.File = string(b)
	}
	if _, _, err := r.FormFile("f"); err != nethttp.ErrMissingFile {
		nethttp.Error(w, "FormFile has read something", 500)
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

// The two ways of reading a form, on this server and on net/http's, give the same.
func TestParseFormAsNetHTTP(t *testing.T) {
	t.Parallel()
	both := strings.Replace(formBody(strings.Repeat("x", 200_000)), `name="a"`, `name="both"`, 1)
	for _, r := range []struct{ contentType, body string }{
		{formType, both},
		{formType, "--b--"},
		{"application/x-www-form-urlencoded", "both=1&x=y&both=2"},
		{"application/x-www-form-urlencoded", ""},
	} {
		var first formValues
		for i, h := range []nethttp.HandlerFunc{standardForm, ownForm} {
			plain := httptest.NewServer(h)
			t.Cleanup(plain.Close)
			for _, url := range []string{plain.URL, "http://" + serveFunc(t, h)} {
				a, err := nethttp.Post(url+"/?both=3&q=1", r.contentType, strings.NewReader(r.body))
				if err != nil {
					t.Fatal(err)
				}
				defer a.Body.Close()
				var v formValues
				if err := json.NewDecoder(a.Body).Decode(&v); err != nil || a.StatusCode != 200 {
					t.Fatal(a.Status, err)
				}
				if i == 0 && url == plain.URL {
					first = v
				} else if !reflect.DeepEqual(v, first) {
					t.Errorf("%.50q: %.300v, want %.300v", r.body, v, first)
				}
			}
		}
	}
}

func TestParseFormErrors(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, ownForm)
	for _, r := range []struct {
		contentType, body string
		status            int
	}{
		{"text/plain", "x", 415},
		{formType, "--bx", 400},
		{formType, formBody("x")[:100], 400},
		{formType, formBody(strings.Repeat("x", 2<<20)), 413},
	} {
		c := dial(t, addr)
		request := post(r.contentType, r.body, false)
		c.send(request[:min(len(request), 10_000)]) // a length that is too much needs no more
		if a := c.receive("POST"); a.StatusCode != r.status {
			t.Errorf("%q: %d %q", r.body, a.StatusCode, a.body)
		}
	}
	if _, err := httpserver.ParseForm(&nethttp.Request{Header: nethttp.Header{"Content-Type": {formType}}}, multipart.FormOptions{}); err != multipart.ErrTruncated {
		t.Error(err)
	}
}

// What has been written when the client goes is gone soon after the handler has returned.
func TestParseFormLostConnection(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &tempFiles{}
	result := make(chan error, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, err := httpserver.ParseForm(r, multipart.FormOptions{Storage: multipart.Storage{Kind: multipart.Disk, Dir: dir, FileSystem: files}})
		result <- err
	})
	c := dial(t, addr)
	c.send(post(formType, formBody(strings.Repeat("x", 300_000)), false)[:200_000])
	await(t, "content on disk", func() bool { return files.written.Load() > 0 })
	_ = c.Close()
	if err := receiveFrom(t, "result", result); err == nil {
		t.Error("a form of a part of it")
	}
	checkNothingLeft(t, dir, files)
}
