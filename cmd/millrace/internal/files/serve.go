package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"

	"millrace.dev/codec/http"
)

// Prefix is the path that the tree is served under.
const Prefix = "/files/"

// indexName is the file that stands for its directory.
const indexName = "index.html"

// Answer answers a request for requestPath, which has Prefix in front, with the fields of h.
// It may wait for the disk, so it must not be called on a loop; h must not change meanwhile.
func (t *Tree) Answer(method http.Method, requestPath []byte, h *http.Header) *Answer {
	head := method == http.MethodHead
	if method != http.MethodGet && !head {
		return refuseMethod(method)
	}
	if len(requestPath) < len(Prefix) || string(requestPath[:len(Prefix)]) != Prefix {
		return plain(404, "", head)
	}
	name, slash, ok := decodeName(requestPath[len(Prefix):])
	if !ok {
		return plain(404, "", head)
	}
	f, info, err := t.open(name)
	if err != nil {
		return failure(err, head)
	}
	switch {
	case info.IsDir() && !slash:
		_ = f.Close() // nothing was written to it
		a := plain(301, "", head)
		a.add(http.FieldLocation, Prefix+encodeName(name)+"/")
		return a
	case info.IsDir():
		return t.directory(name, f, head, h)
	case slash:
		_ = f.Close() // a file is no directory
		return plain(404, "", head)
	}
	return t.file(name, f, info, head, h)
}

// refuseMethod answers methods that files don't have, RFC 9110 sections 9.3.7 and 15.5.6.
func refuseMethod(method http.Method) *Answer {
	a := &Answer{Status: 204}
	if method != http.MethodOptions {
		a = plain(405, "", false)
	}
	a.add(http.FieldAllow, "GET, HEAD, OPTIONS")
	return a
}

// failure answers for a file that can't be had. The system's words stay here: they name
// paths. A link that leads out of the tree is an error of its own kind, and no different to
// the outside from a file that isn't there.
func failure(err error, head bool) *Answer {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return plain(403, "", head)
	case exhausted(err):
		a := plain(503, "", head)
		a.add(http.FieldRetryAfter, "1")
		return a
	}
	return plain(404, "", head)
}

// directory answers with a directory's index page, or with a listing.
func (t *Tree) directory(name string, dir *os.File, head bool, h *http.Header) *Answer {
	index := path.Join(name, indexName)
	if f, info, err := t.open(index); err == nil {
		if info.Mode().IsRegular() {
			_ = dir.Close() // nothing was written to it
			return t.file(index, f, info, head, h)
		}
		_ = f.Close()
	}
	page, err := t.listing(name, dir)
	_ = dir.Close()
	if err != nil {
		return failure(err, head)
	}
	a := &Answer{Status: 200}
	a.add(http.FieldCacheControl, "no-cache")
	a.text("text/html; charset=utf-8", page, head)
	return a
}

// file answers with a regular file or ranges of it. It takes f over.
func (t *Tree) file(name string, f *os.File, info fs.FileInfo, head bool, h *http.Header) *Answer {
	v := validatorsOf(info, t.now())
	a := &Answer{Status: 200}
	a.add(http.FieldAcceptRanges, "bytes")
	a.add(http.FieldETag, v.etag)
	a.add(http.FieldLastModified, string(http.AppendDate(nil, lastModified(v, t.now()))))
	switch evaluate(h, v) {
	case notModified:
		_ = f.Close() // nothing was written to it
		a.Status = 304
		return a
	case failed:
		_ = f.Close()
		a.Status = 412
		a.text("text/plain; charset=utf-8", []byte("412 "+http.StatusText(412)+"\n"), head)
		return a
	}
	kind, size := mediaType(name, f), info.Size()
	if spans, verdict := wantedRanges(h, head, v, size); verdict != rangeIgnored {
		switch {
		case verdict == rangeUnsatisfiable:
			_ = f.Close()
			a.Status = 416
			a.add(http.FieldContentRange, "bytes */"+strconv.FormatInt(size, 10))
			a.text("text/plain; charset=utf-8", []byte("416 "+http.StatusText(416)+"\n"), head)
			return a
		case len(spans) == 1:
			a.Status = 206
			a.add(http.FieldContentType, kind)
			a.add(http.FieldContentRange, spans[0].contentRange(size))
			a.Length = spans[0].length
			a.Pieces = []Piece{{File: f, Offset: spans[0].start, Count: spans[0].length}}
			return a
		case t.multipart(a, name, f, info, kind, spans):
			return a
		}
	}
	a.add(http.FieldContentType, kind)
	a.Length = size
	if head || size == 0 {
		_ = f.Close()
		return a
	}
	a.Pieces = []Piece{{File: f, Count: size}}
	return a
}

// lastModified keeps the time from lying in the future, RFC 9110 section 8.8.2.1.
func lastModified(v validators, now time.Time) time.Time {
	if v.modified.After(now) {
		return now
	}
	return v.modified
}

// wantedRanges returns the ranges that the request is to get. Only GET has them, RFC 9110
// section 14.2.
func wantedRanges(h *http.Header, head bool, v validators, size int64) ([]span, rangeVerdict) {
	value := h.ValueOf(http.FieldRange)
	if value == nil || head || h.Repeated(http.FieldRange) || !rangeWanted(h, v) {
		return nil, rangeIgnored
	}
	return parseRanges(value, size)
}
