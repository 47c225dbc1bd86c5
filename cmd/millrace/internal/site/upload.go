package site

import (
	"encoding/json"
	"errors"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
)

// uploaded is what /upload says of a part.
type uploaded struct {
	Name string
	File string // without what looks like a path; empty for a field
	Type string
	Size int64
}

// upload answers a form, multipart/form-data, with what is in it, in its order. It keeps
// nothing.
func (s *Site) upload(x *httpserver.Exchange) {
	s.answerForm(x, false, func(form *multipart.Form) any {
		parts := make([]uploaded, len(form.Entries))
		for i, e := range form.Entries {
			parts[i] = uploaded{Name: e.Name, Type: e.ContentType, Size: int64(len(e.Value))}
			if e.File != nil {
				parts[i].File, parts[i].Size = multipart.BaseName(e.File.FileName), e.File.Size()
			}
		}
		go form.Close() // a large file takes a moment to remove
		return parts
	})
}

// form answers an urlencoded form with its fields. There are no files to remove.
func (s *Site) form(x *httpserver.Exchange) {
	s.answerForm(x, true, func(form *multipart.Form) any {
		fields := make([][2]string, len(form.Entries))
		for i, e := range form.Entries {
			fields[i] = [2]string{e.Name, e.Value}
		}
		return fields
	})
}

// answerForm collects a form of the one type or the other and answers with what describe says
// of it.
func (s *Site) answerForm(x *httpserver.Exchange, urlencoded bool, describe func(*multipart.Form) any) {
	if s.formPage(x) {
		return
	}
	if multipart.IsURLEncoded(string(x.Request().Header.ValueOf(http.FieldContentType))) != urlencoded {
		s.formFailed(x, multipart.ErrContentType)
		return
	}
	x.CollectForm(s.o.Forms, func(x *httpserver.Exchange, form *multipart.Form, err error) {
		if err != nil {
			s.formFailed(x, err)
			return
		}
		s.sayJSON(x, describe(form))
	})
}

// formPage answers all but POST: GET with the page that has forms to fill in.
func (s *Site) formPage(x *httpserver.Exchange) bool {
	switch x.Request().Method {
	case http.MethodPost:
		return false
	case http.MethodGet, http.MethodHead:
		servePage(x, &s.forms)
	case http.MethodOptions:
		allow(x, 204, "GET, HEAD, POST, OPTIONS")
	default:
		allow(x, 405, "GET, HEAD, POST, OPTIONS")
	}
	return true
}

// formFailed says why a form is refused.
func (s *Site) formFailed(x *httpserver.Exchange, err error) {
	status := multipart.Status(err)
	if status >= 500 {
		var storage *multipart.StorageError
		if !errors.As(err, &storage) {
			bodyFailed(x, err)
			return
		}
		s.o.Logger.Error("a form could not be stored", "error", err)
		err = errors.New("the form could not be stored")
	}
	reason := strings.TrimPrefix(err.Error(), "multipart: ")
	x.Respond(status, textPlain, []byte(http.StatusText(status)+": "+reason+"\n"))
}

// sayJSON answers with v.
func (s *Site) sayJSON(x *httpserver.Exchange, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.o.Logger.Error("an answer could not be written", "error", err)
		x.Respond(500, textPlain, []byte("500 Internal Server Error\n"))
		return
	}
	r := http.NewResponse(200)
	r.Header.AddField(http.FieldContentType, "application/json")
	r.Header.Add("X-Content-Type-Options", "nosniff")
	r.Body = buffer.Wrap(append(b, '\n'))
	x.RespondWith(r)
}
