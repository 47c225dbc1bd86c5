package http

import (
	"bytes"
	nethttp "net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/internal/allocs"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

func TestEveryFieldIsRecognised(t *testing.T) {
	t.Parallel()
	for f := FieldOther + 1; f < fieldCount; f++ {
		name := f.String()
		if name == "" {
			t.Fatalf("field %d has no name", f)
		}
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got := FieldOf(spelling); got != f {
				t.Errorf("%s: %v", spelling, got)
			}
		}
		// Every name that differs in one byte is another name.
		for i := range name {
			for c := range 256 {
				other := []byte(name)
				other[i] = byte(c)
				got := FieldOfBytes(other)
				if same := strings.EqualFold(string(other), name) && c < 0x80; same != (got == f) {
					t.Errorf("%q: %v, want %v: %v", other, got, f, same)
				}
			}
		}
		if got := FieldOf(name + "x"); got == f {
			t.Errorf("%sx: %v", name, got)
		}
	}
}

func headerOf(fields ...string) *Header {
	h := &Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return h
}

func list(h *Header) string {
	var b strings.Builder
	for name, value := range h.All() {
		b.Write(name)
		b.WriteByte('=')
		b.Write(value)
		b.WriteByte(';')
	}
	return b.String()
}

func TestHeader(t *testing.T) {
	t.Parallel()
	h := headerOf("Host", "a", "X-One", "1", "Accept", "b", "x-one", " 2\t", "HOST", "c")
	if got := list(h); got != "Host=a;X-One=1;Accept=b;x-one=2;HOST=c;" || h.Len() != 5 {
		t.Fatalf("%s", got)
	}
	if h.Get("host") != "a" || h.Get("X-ONE") != "1" || h.Get("none") != "" || h.Value("none") != nil || h.Get("accept") != "b" {
		t.Errorf("look-ups: %q %q", h.Get("host"), h.Get("X-ONE"))
	}
	if string(h.ValueOf(FieldHost)) != "a" || h.ValueOf(FieldVia) != nil || h.ValueOf(FieldOther) != nil {
		t.Error("look-ups by number")
	}
	if !h.Has("HoSt") || h.Has("Hos") || !h.HasField(FieldAccept) || h.HasField(FieldVia) || h.HasField(FieldOther) {
		t.Error("Has")
	}
	if !h.Repeated(FieldHost) || h.Repeated(FieldAccept) {
		t.Error("Repeated")
	}
	var values []string
	for v := range h.Values("X-one") {
		values = append(values, string(v))
	}
	if strings.Join(values, ",") != "1,2" {
		t.Errorf("values %v", values)
	}
	h.Set("x-One", "3")
	if got := list(h); got != "Host=a;x-One=3;Accept=b;HOST=c;" {
		t.Errorf("after Set: %s", got)
	}
	h.Del("host")
	if got := list(h); got != "x-One=3;Accept=b;" || h.HasField(FieldHost) || h.Repeated(FieldHost) {
		t.Errorf("after Del: %s", got)
	}
	h.Set("New", "4")
	if got := list(h); got != "x-One=3;Accept=b;New=4;" {
		t.Errorf("after Set of a new field: %s", got)
	}
	h.Reset()
	if list(h) != "" || h.Has("Accept") {
		t.Error("after Reset")
	}
}

func TestHeaderLines(t *testing.T) {
	t.Parallel()
	h := headerOf("A", "b", "Host", "c")
	if lines, ok := h.Lines(); !ok || string(lines) != "A: b\r\nHost: c\r\n" {
		t.Errorf("%q, %v", lines, ok)
	}
	h.Set("A", "longer")
	if _, ok := h.Lines(); ok {
		t.Error("lines although a field was replaced")
	}
	h = headerOf("A", "b", "C", "d")
	h.Del("none")
	if _, ok := h.Lines(); !ok {
		t.Error("no lines although nothing was deleted")
	}
	h.Del("A")
	if _, ok := h.Lines(); ok {
		t.Error("lines although a field was deleted")
	}
	r := NewRequest("GET", "/x")
	defer r.Close()
	r.Header.Add("A", "b")
	if lines, ok := r.Header.Lines(); !ok || string(lines) != "A: b\r\n" {
		t.Errorf("behind a target: %q, %v", lines, ok)
	}
	r.SetTarget("/y")
	if _, ok := r.Header.Lines(); ok || string(r.Target) != "/y" || r.Header.Get("A") != "b" {
		t.Errorf("target set behind fields: %q", r.Target)
	}
}

// A view lasts while fields are added, although the arena moves.
func TestHeaderViewsLast(t *testing.T) {
	t.Parallel()
	h := headerOf("A", "first")
	view := h.Value("A")
	for range 1000 {
		h.Add("B", "more and more")
	}
	if string(view) != "first" {
		t.Errorf("%q", view)
	}
	grown := append(view, "!!"...) // must not write into the arena
	if string(h.Value("A")) != "first" || len(grown) != 7 || string(h.Value("B")) != "more and more" {
		t.Error("a view has room that belongs to the arena")
	}
}

func TestHeaderInvalid(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string][2]string{
		"space in a name":      {"A B", "c"},
		"empty name":           {"", "c"},
		"colon in a name":      {"A:", "c"},
		"name like Host":       {"HOS\x14", "c"},
		"name like a hyphened": {"content\rtype", "c"},
		"endless name":         {strings.Repeat("a", 70000), "c"},
		"CR in a value":        {"A", "b\rc"},
		"LF in a value":        {"A", "b\nc"},
		"NUL in a known value": {"Host", "a\x00"},
	} {
		h := headerOf(fields[0], fields[1])
		if h.Err() == nil {
			t.Errorf("%s: no error", name)
		}
		if _, ok := h.Lines(); ok {
			t.Errorf("%s: lines", name)
		}
	}
	h := headerOf("A", "b\n", "C", "d")
	h.Del("A")
	if h.Err() != nil {
		t.Errorf("after the bad field was deleted: %v", h.Err())
	}
	h = headerOf("A", "b\n")
	h.Set("a", "good")
	if h.Err() != nil {
		t.Errorf("after the bad field was replaced: %v", h.Err())
	}
}

func TestHasToken(t *testing.T) {
	t.Parallel()
	h := headerOf("Connection", "Keep-Alive", "Connection", "a , UPGRADE,b", "X", "")
	for token, want := range map[string]bool{"keep-alive": true, "upgrade": true, "A": true, "b": true, "close": false, "up": false} {
		if h.HasToken("connection", token) != want {
			t.Errorf("%s: %v", token, !want)
		}
	}
	if h.HasToken("X", "a") || h.HasToken("Y", "a") {
		t.Error("a token out of nothing")
	}
}

func TestCopyFrom(t *testing.T) {
	t.Parallel()
	from := headerOf("Host", "a", "B", "c")
	to := headerOf("D", "e")
	to.CopyFrom(from)
	from.Reset()
	if got := list(to); got != "D=e;Host=a;B=c;" || !to.HasField(FieldHost) {
		t.Errorf("%s", got)
	}
}

func TestMessagesAreRecycledEmpty(t *testing.T) {
	for range 100 {
		r := NewRequest("POST", "/x")
		if r.ID != 0 || r.Header.Len() != 0 || r.Body != nil || r.Trailer != nil || r.Upgrade || r.Expect != 0 || !r.End || !r.KeepAlive || r.ContentLength != -1 {
			t.Fatalf("request %+v", r)
		}
		r.ID, r.Upgrade, r.Expect, r.ContentLength = 7, true, ExpectContinue, 9
		r.Header.Add("A", "b")
		r.Body = buffer.CopyString("x")
		r.Trailer = AcquireHeader()
		resp := r.Respond(404)
		if resp.ID != 7 || resp.Status != 404 || resp.Reason != "" || resp.Header.Len() != 0 || resp.Body != nil || resp.CloseConn || !resp.End || resp.ContentLength != -1 {
			t.Fatalf("response %+v", resp)
		}
		resp.Reason, resp.CloseConn, resp.Trailer = "x", true, AcquireHeader()
		resp.Header.Add("A", "b")
		resp.Body = buffer.CopyString("x")
		resp.Close()
		r.Close()
		c := NewContent(buffer.CopyString("x"), true)
		if c.ID != 0 || c.Trailer != nil || c.Err != nil || c.File != nil || c.Len() != 1 {
			t.Fatalf("content %+v", c)
		}
		c.ID = 7
		c.AddTrailer("A", "b")
		c.Close()
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	body := []byte("gone\n")
	f, err := NewFixed(410, body, "Content-Type", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	body[0] = 'G' // it has a copy
	head, dated := f.HTTP1Head()
	if string(head) != "HTTP/1.1 410 Gone\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n" || dated || string(f.Body()) != "gone\n" || f.Status() != 410 {
		t.Errorf("%q, %q", head, f.Body())
	}
	r := NewRequest("GET", "/")
	defer r.Close()
	resp := r.RespondFixed(f)
	if resp.Fixed() != f || resp.Status != 410 || resp.Header.Len() != 0 || resp.Body != nil {
		t.Errorf("%+v", resp)
	}
	resp.Expand(buffer.Unpooled())
	if resp.Fixed() != nil || resp.Header.Get("Content-Type") != "text/plain" || string(resp.Body.Bytes()) != "gone\n" {
		t.Errorf("expanded %+v", resp)
	}
	resp.Close()
	if f, err := NewFixed(204, nil, "Date", "x"); err != nil {
		t.Error(err)
	} else if head, dated := f.HTTP1Head(); string(head) != "HTTP/1.1 204 No Content\r\nDate: x\r\n" || !dated {
		t.Errorf("%q", head)
	}
	for name, try := range map[string]func() (*Fixed, error){
		"interim":             func() (*Fixed, error) { return NewFixed(100, nil) },
		"out of range":        func() (*Fixed, error) { return NewFixed(1000, nil) },
		"204 with content":    func() (*Fixed, error) { return NewFixed(204, []byte("x")) },
		"205 with content":    func() (*Fixed, error) { return NewFixed(205, []byte("x")) },
		"name without value":  func() (*Fixed, error) { return NewFixed(200, nil, "A") },
		"value that injects":  func() (*Fixed, error) { return NewFixed(200, nil, "A", "b\r\nC: d") },
		"framing":             func() (*Fixed, error) { return NewFixed(200, nil, "Content-Length", "0") },
		"connection's fields": func() (*Fixed, error) { return NewFixed(200, nil, "Connection", "close") },
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestClosingTwicePanics(t *testing.T) {
	for name, msg := range map[string]interface{ Close() }{
		"request": NewRequest("GET", "/"), "response": NewResponse(200), "content": NewContent(nil, true),
	} {
		msg.Close()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			msg.Close()
		}()
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		method             Method
		target             string
		path, query, authr string
	}{
		{"GET", "/a/b?c=d?e", "/a/b", "c=d?e", "host"},
		{"GET", "/", "/", "", "host"},
		{"GET", "/?", "/", "", "host"},
		{"GET", "http://b:80/x?y", "/x", "y", "b:80"},
		{"GET", "HTTPS://b", "/", "", "b"},
		{"GET", "http://b?y", "/", "y", "b"},
		{"OPTIONS", "*", "*", "", "host"},
		{"CONNECT", "b:443", "", "", "b:443"},
	} {
		if !ValidTarget(row.method, []byte(row.target)) {
			t.Errorf("%s %s: invalid", row.method, row.target)
		}
		r := NewRequest(row.method, row.target)
		r.Header.Add("Host", "host")
		if string(r.Path()) != row.path || string(r.RawQuery()) != row.query || string(r.Authority()) != row.authr {
			t.Errorf("%s: path %q, query %q, authority %q", row.target, r.Path(), r.RawQuery(), r.Authority())
		}
		r.Close()
	}
	for _, bad := range []string{"", "a", "*", "/ ", "/\x7f", "/#", "/%", "/%f", "/%fg", "http://", "http:///", "httpx://a", "ftp://a"} {
		if ValidTarget("GET", []byte(bad)) {
			t.Errorf("%q: valid", bad)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"": true, "a": true, "a.b:80": true, "a:": true, "[::1]": true, "[::1]:8": true, "127.0.0.1": true, "a_b~!$&'()*+,;=": true,
		"a b": false, "a/": false, "u@a": false, "a:b": false, "a:65536": false, "a:1:2": false, "[::1": false, "[::1%eth0]": false,
		"[1.2.3.4]": false, "[::1]x": false, "a%20": false, "\x00": false, "\xff": false, "[" + strings.Repeat("1", 60) + "]": false,
	} {
		if ValidHost([]byte(host)) != want {
			t.Errorf("%q: %v", host, !want)
		}
		if ValidAuthority([]byte(host)) != (host == "a.b:80" || host == "[::1]:8") {
			t.Errorf("authority %q", host)
		}
	}
}

// The rule for literals is net/netip's.
func FuzzIPv6(f *testing.F) {
	for _, text := range []string{"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::2::3", ":1", "1:", ":::", "",
		"1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.4.5",
		"::1.2.3.256", "::01.2.3.4", "::1.2.3.4:5", "::a.2.3.4", "1.2.3.4", "::g", "1::2:3:4:5:6:7:8", "fe80::1%x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		addr, err := netip.ParseAddr(string(text))
		want := err == nil && addr.Is6() && addr.Zone() == ""
		if ValidHost(slices.Concat([]byte("["), text, []byte("]"))) != want {
			t.Errorf("%q: %v, net/netip: %v", text, !want, err)
		}
	})
}

func TestParseContentLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "5": 5, "007": 7, "9223372036854775806": 1<<63 - 2, "9223372036854775807": 1<<63 - 1,
		"9223372036854775808": 1<<63 - 1, "99999999999999999999999": 1<<63 - 1,
		"": -1, "+5": -1, "-5": -1, "5 ": -1, "5,5": -1, "0x5": -1, "٣": -1,
	} {
		if got := ParseContentLength([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestMethodsAndVersions(t *testing.T) {
	t.Parallel()
	for _, m := range []Method{MethodGet, MethodHead, MethodPost, MethodPut, MethodPatch, MethodDelete, MethodConnect, MethodOptions, MethodTrace, "M-SEARCH"} {
		if MethodOf([]byte(m)) != m || !m.IsValid() {
			t.Errorf("%s", m)
		}
	}
	if Method("A B").IsValid() || Method("").IsValid() {
		t.Error("an invalid method is valid")
	}
	for v, text := range map[Version]string{HTTP10: "HTTP/1.0", HTTP11: "HTTP/1.1", HTTP20: "HTTP/2.0", MakeVersion(1, 9): "HTTP/1.9"} {
		if v.String() != text || MakeVersion(v.Major(), v.Minor()) != v {
			t.Errorf("%v, want %s", v, text)
		}
	}
	if HTTP10 >= HTTP11 || HTTP11 >= HTTP20 {
		t.Error("versions do not compare")
	}
}

// The standard library knows the same codes; a few names have changed since RFC 9110.
func TestStatusTexts(t *testing.T) {
	t.Parallel()
	renamed := map[int]string{203: "Non-Authoritative Information", 413: "Content Too Large", 414: "URI Too Long",
		416: "Range Not Satisfiable", 422: "Unprocessable Content", 418: ""}
	for code := range 1100 {
		want := nethttp.StatusText(code)
		if other, ok := renamed[code]; ok {
			want = other
		}
		if got := StatusText(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
	for code, want := range map[int]bool{100: false, 199: false, 200: true, 204: false, 304: false, 404: true} {
		if BodyAllowed(code) != want {
			t.Errorf("%d: %v", code, !want)
		}
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	at := time.Date(1994, 11, 6, 8, 49, 37, 900e6, time.UTC)
	asked := 0
	d := NewDate(func() time.Time { asked++; return at })
	if got := string(d.Line(5 * time.Second)); got != "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" || len(got) != DateLineLen {
		t.Errorf("%q", got)
	}
	at = at.Add(time.Second)
	if d.Line(5*time.Second + 99*time.Millisecond); asked != 1 {
		t.Error("asked for the time within the second")
	}
	if got := string(d.Line(5*time.Second + 100*time.Millisecond)); !strings.Contains(got, "08:49:38") || asked != 2 {
		t.Errorf("%q, asked %d times", got, asked)
	}
	for day := range 800 { // two leap days, every month and weekday
		at := time.Date(2027, 1, 1, 23, 59, 59, 0, time.FixedZone("", 7200)).AddDate(0, 0, day)
		if got, want := AppendDate(nil, at), at.UTC().Format(nethttp.TimeFormat); string(got) != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// Many goroutines may share a Date.
func TestDateIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := NewDate(time.Now)
		for g := range 4 {
			go func() {
				for i := range 1000 {
					if !bytes.HasPrefix(d.Line(time.Duration(i*g)*time.Millisecond), []byte("Date: ")) {
						t.Error("torn line")
					}
				}
			}()
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := Limits{}.Effective()
	if l.MaxLine != DefaultMaxLine || l.MaxHeader != DefaultMaxHeader || l.MaxFields != DefaultMaxFields ||
		l.MaxTrailer != DefaultMaxTrailer || l.MaxChunkExtensions != DefaultMaxChunkExtensions || l.MaxBody != 1<<63-1 {
		t.Errorf("defaults %+v", l)
	}
	l = Limits{MaxLine: 1, MaxHeader: -1, MaxBody: 7}.Effective()
	if l.MaxLine != 1 || l.MaxHeader != 1<<30 || l.MaxBody != 7 {
		t.Errorf("%+v", l)
	}
	if again := l.Effective(); again != l {
		t.Errorf("not stable: %+v", again)
	}
}

func TestAllocations(t *testing.T) {
	if allocs.RaceDetector {
		t.Skip("allocations can't be counted under the race detector")
	}
	header := headerOf("Host", "a", "Accept", "b", "X-Other", "c", "Connection", "keep-alive, x")
	date := NewDate(time.Now)
	for name, f := range map[string]func(){
		"messages": func() {
			r := NewRequest("GET", "/")
			r.Header.Add("A", "b")
			r.Respond(200).Close()
			r.Close()
			NewContent(nil, true).Close()
		},
		"look-ups": func() {
			if header.Value("x-other") == nil || !header.Has("host") || !header.HasToken("connection", "x") || header.ValueOf(FieldAccept) == nil {
				t.Error("not found")
			}
			for range header.All() {
			}
			for range header.Values("Host") {
			}
		},
		"methods": func() { _ = MethodOf([]byte("DELETE")) },
		"date":    func() { date.Line(0) },
		"rules": func() {
			if !ValidHost([]byte("[::1]:80")) || !ValidTarget("GET", []byte("/x?y")) {
				t.Error("invalid")
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkFieldOf(b *testing.B) {
	names := [][]byte{[]byte("Host"), []byte("content-length"), []byte("Accept-Encoding"), []byte("X-Request-Id"), []byte("Upgrade-Insecure-Requests")}
	for i := 0; b.Loop(); i++ {
		FieldOfBytes(names[i%len(names)])
	}
}

func BenchmarkHeaderValue(b *testing.B) {
	h := headerOf("Host", "a", "User-Agent", "b", "Accept", "c", "Accept-Language", "d", "Accept-Encoding", "e", "X-Request-Id", "f")
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			if h.Value("accept-encoding") == nil {
				b.Fatal("not found")
			}
		}
	})
	b.Run("other", func(b *testing.B) {
		for b.Loop() {
			if h.Value("x-request-id") == nil {
				b.Fatal("not found")
			}
		}
	})
}

func BenchmarkHeaderAdd(b *testing.B) {
	h := &Header{}
	for b.Loop() {
		h.Reset()
		h.AddField(FieldContentType, "text/plain")
	}
}

func TestFixedHead(t *testing.T) {
	t.Parallel()
	for _, status := range []int{99, 101, 204, 205, 304, 1000} {
		if _, err := NewFixedHead(status); err == nil {
			t.Errorf("%d is taken", status)
		}
	}
	if _, err := NewFixedHead(200, "A", "b\r\nc: d"); err == nil {
		t.Error("an invalid field is taken")
	}
	f, err := NewFixedHead(404, "A", "b")
	if err != nil {
		t.Fatal(err)
	}
	r := NewRequest(MethodGet, "/")
	defer r.Close()
	resp := r.RespondHead(f, []byte("gone"))
	defer resp.Close()
	if content, addLength := resp.FixedContent(); string(content) != "gone" || !addLength {
		t.Errorf("content %q, length to be added %t", content, addLength)
	}
	resp.Expand(buffer.Unpooled())
	if resp.Fixed() != nil || resp.Status != 404 || resp.Header.Get("A") != "b" || string(resp.Body.Bytes()) != "gone" {
		t.Errorf("expanded: %d %q %q", resp.Status, resp.Header.Get("A"), resp.Body.Bytes())
	}
}
