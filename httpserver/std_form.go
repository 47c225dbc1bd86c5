package httpserver

import (
	"io"
	"maps"
	stdmultipart "mime/multipart"
	nethttp "net/http"
	"net/url"

	"millrace.dev/codec/multipart"
)

// ParseForm reads the form that a request's content is, multipart/form-data or
// application/x-www-form-urlencoded, in place of r.ParseMultipartForm, of which it is the
// faster counterpart: it takes the buffers that arrived as they are. It fills r.PostForm and
// r.Form with the fields, so that r.FormValue works as ever. The files are in the Form, which
// the caller closes; net/http's r.FormFile can't have them.
//
// An error is one of package multipart's, for which multipart.Status knows the answer, or
// one of reading r.Body; nothing is left of the form then. It works with requests of
// net/http's own server too. Where it is a request of this one, memory comes from its loop's
// pool unless o has another allocator.
func ParseForm(r *nethttp.Request, o multipart.FormOptions) (*multipart.Form, error) {
	form, err := readForm(r, o)
	if err != nil {
		return nil, err
	}
	r.PostForm = fieldsOf(form, url.Values{}, true)
	r.MultipartForm = &stdmultipart.Form{Value: r.PostForm} // or FormFile would try to read it all again
	// As in net/http, an urlencoded form's values are before those of the URL, and a
	// multipart form's behind them.
	urlencoded := multipart.IsURLEncoded(r.Header.Get("Content-Type"))
	r.Form = fieldsOf(form, r.URL.Query(), urlencoded)
	return form, nil
}

// fieldsOf returns the fields of a form with other values behind, or before them.
func fieldsOf(form *multipart.Form, others url.Values, before bool) url.Values {
	all := make(url.Values, len(form.Entries)+len(others))
	if !before {
		maps.Copy(all, others)
	}
	room := make([]string, 0, len(form.Entries)) // what most slices are cut from
	for i := range form.Entries {
		e := &form.Entries[i]
		if e.File != nil {
			continue
		}
		if values, ok := all[e.Name]; ok {
			all[e.Name] = append(values, e.Value)
			continue
		}
		room = append(room, e.Value)
		all[e.Name] = room[len(room)-1 : len(room) : len(room)]
	}
	if before {
		for name, values := range others {
			all[name] = append(all[name], values...)
		}
	}
	return all
}

func readForm(r *nethttp.Request, o multipart.FormOptions) (*multipart.Form, error) {
	contentType := r.Header.Get("Content-Type")
	b, ok := r.Body.(*requestBody)
	switch {
	case r.Body == nil: // a client's, without content
		return multipart.ReadForm(nethttp.NoBody, contentType, o)
	case !ok:
		return multipart.ReadForm(r.Body, contentType, o)
	}
	if o.Storage.Allocator == nil {
		o.Storage.Allocator = b.conn.ctx.Allocator()
	}
	c, err := multipart.NewCollector(contentType, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if r.ContentLength > o.Limits.Effective().MaxTotal {
		return nil, multipart.ErrTooLarge // no need to wait for that
	}
	for {
		err := b.pass(c)
		if err == io.EOF {
			return c.Finish()
		}
		if err != nil {
			return nil, err
		}
	}
}

// pass waits for content and gives it to c without copying it.
func (b *requestBody) pass(c *multipart.Collector) error {
	e := (*stdExchange)(b)
	e.readMu.Lock()
	err := e.awaitContent()
	content := e.cur
	e.cur = nil
	e.readMu.Unlock()
	if err != nil {
		return err
	}
	defer content.Close()
	return c.Decode(content)
}
