package http1

import "strings"

type badRow struct {
	name  string
	input string
	want  string // status, or several
	body  bool   // the head is in order, its content is not
}

// badRequests are requests that must be refused. They are also seeds of the fuzz targets.
func badRequests() (rows []badRow) {
	rows = append(rows, badHosts()...)
	rows = append(rows, badRequestLines()...)
	rows = append(rows, badFields()...)
	rows = append(rows, badFraming()...)
	rows = append(rows, badChunks()...)
	return append(rows, tooLarge()...)
}

// RFC 9112 section 3.2.
func badHosts() []badRow {
	return []badRow{
		{name: "no Host", input: get("A: b"), want: "400"},
		{name: "two Hosts", input: get("Host: a", "Host: a"), want: "400"},
		{name: "two Hosts in 1.0", input: "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", want: "400"},
		{name: "Host with a space", input: get("Host: a b"), want: "400"},
		{name: "Host with a slash", input: get("Host: a/b"), want: "400"},
		{name: "Host with an at-sign", input: get("Host: u@a"), want: "400"},
		{name: "Host with a bad port", input: get("Host: a:b"), want: "400"},
		{name: "Host with a huge port", input: get("Host: a:65536"), want: "400"},
		{name: "Host with an open bracket", input: get("Host: [::1"), want: "400"},
		{name: "Host with a bad literal", input: get("Host: [::g]"), want: "400"},
		{name: "Host with an IPv4 literal", input: get("Host: [127.0.0.1]"), want: "400"},
		{name: "Host with something behind the literal", input: get("Host: [::1]a"), want: "400"},
		{name: "Host, not ASCII", input: get("Host: \xc3\xa4"), want: "400"},
	}
}

// RFC 9112 section 3, with 2.2 and 2.3.
func badRequestLines() []badRow {
	return []badRow{
		{name: "method, not a token", input: "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "method, control", input: "G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "method, empty", input: " / HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "method, colon", input: "GET: / HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "method, tab behind", input: "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "method, endless", input: strings.Repeat("M", 65) + " / HTTP/1.1\r\nHost: a\r\n\r\n", want: "501"},
		{name: "lower-case version", input: "GET / http/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP/1.10", input: "GET / HTTP/1.10\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP/1.", input: "GET / HTTP/1.\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP/11", input: "GET / HTTP/11\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP/01.1", input: "GET / HTTP/01.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP /1.1", input: "GET / HTTP /1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTQ", input: "GET / HTTQ/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "HTTP/0.9 line", input: "GET /\r\n", want: "400"},
		{name: "HTTP/0.9 line, space behind", input: "GET / \r\n", want: "400"},
		{name: "method alone", input: "GET\r\n", want: "400"},
		{name: "HTTP/9.9", input: "GET / HTTP/9.9\r\nHost: a\r\n\r\n", want: "505"},
		{name: "HTTP/2.0", input: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", want: "505 400"},
		{name: "HTTP/0.9 version", input: "GET / HTTP/0.9\r\n\r\n", want: "505"},
		{name: "space behind the version", input: "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", want: "400"},
		{name: "two spaces before the target", input: "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "two spaces behind the target", input: "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "space in the target", input: "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "control in the target", input: "GET /a\x01b HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "DEL in the target", input: "GET /a\x7fb HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "NUL in the target", input: "GET /a\x00b HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "tab in the target", input: "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "fragment in the target", input: "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "bad percent-encoding in the path", input: "GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "bare CR as line end", input: "GET / HTTP/1.1\rHost: a\r\r", want: "400"},
		{name: "bare CR in the field section", input: "GET / HTTP/1.1\r\nHost: a\rA: b\r\n\r\n", want: "400"},
		{name: "bare LF behind the request line", input: "GET / HTTP/1.1\nHost: a\r\n\r\n", want: "400"},
		{name: "bare LF behind a field", input: "GET / HTTP/1.1\r\nHost: a\n\r\n", want: "400"},
		{name: "bare LF as the empty line", input: "GET / HTTP/1.1\r\nHost: a\r\n\n", want: "400"},
		{name: "bare LF before the request line", input: "\n" + follower, want: "400"},
		{name: "bare CR before the request line", input: "\r" + follower, want: "400"},
		{name: "CR CR LF as the empty line", input: "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n", want: "400"},
		{name: "many empty lines", input: strings.Repeat("\r\n", maxBlankLines+1), want: "400"},
		{name: "target without a slash", input: "GET a HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "asterisk for GET", input: "GET * HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "asterisk and more", input: "OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "absolute form, other scheme", input: "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "absolute form, no host", input: "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "absolute form, port alone", input: "GET http://:80/x HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "absolute form, user information", input: "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "absolute form, one slash", input: "GET http:/a HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "CONNECT without a port", input: "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "CONNECT with an empty port", input: "CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "CONNECT without a host", input: "CONNECT :80 HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "CONNECT with a path", input: "CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "CONNECT, absolute form", input: "CONNECT http://a:80 HTTP/1.1\r\nHost: a\r\n\r\n", want: "400"},
		{name: "TLS ClientHello", input: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x5a", 64), want: "400"},
	}
}

// RFC 9112 section 5, RFC 9110 section 5.5.
func badFields() []badRow {
	return []badRow{
		{name: "space before the colon", input: get("Host: a", "A : b"), want: "400"},
		{name: "tab before the colon", input: get("Host: a", "A\t: b"), want: "400"},
		{name: "no colon", input: get("Host: a", "A"), want: "400"},
		{name: "empty name", input: get("Host: a", ": b"), want: "400"},
		{name: "non-token byte in a name", input: get("Host: a", "A(: b"), want: "400"},
		{name: "byte over 0x7f in a name", input: get("Host: a", "\xc3\xa4: b"), want: "400"},
		{name: "space in a name", input: get("Host: a", "A B: c"), want: "400"},
		{name: "NUL in a name", input: get("Host: a", "A\x00: b"), want: "400"},
		{name: "control in a name like a hyphen", input: get("Host: a", "Content\rLength: 5"), want: "400"},
		{name: "NUL in a value", input: get("Host: a", "A: b\x00c"), want: "400"},
		{name: "bare CR in a value", input: get("Host: a", "A: b\rc"), want: "400"},
		{name: "DEL in a value", input: get("Host: a", "A: b\x7fc"), want: "400"},
		{name: "escape in a value", input: get("Host: a", "A: \x1b[2J"), want: "400"},
		{name: "white space before the first field", input: get(" Host: a"), want: "400"},
		{name: "tab before the first field", input: get("\tHost: a"), want: "400"},
		{name: "folding", input: get("Host: a", "A: b", " c"), want: "400"},
		{name: "folding that hides chunked", input: get("Host: a", "Transfer-Encoding:", " chunked"), want: "400"},
		{name: "folding with a tab", input: get("Host: a", "A: b", "\tc: d"), want: "400"},
	}
}

func badFraming() []badRow {
	return []badRow{
		// RFC 9110 section 8.6: Content-Length.
		{name: "two lengths that differ", input: get("Host: a", "Content-Length: 5", "Content-Length: 6"), want: "400"},
		{name: "two lengths that agree", input: get("Host: a", "Content-Length: 5", "Content-Length: 5"), want: "400"},
		{name: "length 5, 6", input: get("Host: a", "Content-Length: 5, 6"), want: "400"},
		{name: "length 5, 5", input: get("Host: a", "Content-Length: 5, 5"), want: "400"},
		{name: "length +5", input: get("Host: a", "Content-Length: +5"), want: "400"},
		{name: "length -1", input: get("Host: a", "Content-Length: -1"), want: "400"},
		{name: "length 0x5", input: get("Host: a", "Content-Length: 0x5"), want: "400"},
		{name: "length 5 5", input: get("Host: a", "Content-Length: 5 5"), want: "400"},
		{name: "length 2^64+5", input: get("Host: a", "Content-Length: 18446744073709551621"), want: "413"},
		{name: "length 2^63", input: get("Host: a", "Content-Length: 9223372036854775808"), want: "413"},
		{name: "length empty", input: get("Host: a", "Content-Length: "), want: "400"},

		// RFC 9112 sections 6.1 and 6.3: Transfer-Encoding.
		{name: "chunked and a length", input: get("Host: a", "Transfer-Encoding: chunked", "Content-Length: 5"), want: "400"},
		{name: "a length and chunked", input: get("Host: a", "Content-Length: 5", "Transfer-Encoding: chunked"), want: "400"},
		{name: "chunked in 1.0", input: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", want: "400"},
		{name: "gzip", input: get("Host: a", "Transfer-Encoding: gzip"), want: "400 501"},
		{name: "gzip, chunked", input: get("Host: a", "Transfer-Encoding: gzip, chunked"), want: "501"},
		{name: "xchunked", input: get("Host: a", "Transfer-Encoding: xchunked"), want: "400 501"},
		{name: "identity", input: get("Host: a", "Transfer-Encoding: identity"), want: "400 501"},
		{name: "chunked, identity", input: get("Host: a", "Transfer-Encoding: chunked, identity"), want: "400"},
		{name: "chunked, chunked", input: get("Host: a", "Transfer-Encoding: chunked, chunked"), want: "400"},
		{name: "lines chunked and identity", input: get("Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: identity"), want: "400 501"},
		{name: "lines identity and chunked", input: get("Host: a", "Transfer-Encoding: identity", "Transfer-Encoding: chunked"), want: "400 501"},
		{name: "vertical tab before chunked", input: get("Host: a", "Transfer-Encoding: \vchunked"), want: "400"},
		{name: "chunked in quotes", input: get("Host: a", "Transfer-Encoding: \"chunked\""), want: "400"},
		{name: "chunked and a comma", input: get("Host: a", "Transfer-Encoding: chunked,"), want: "400"},
		{name: "empty coding", input: get("Host: a", "Transfer-Encoding: "), want: "400"},
		{name: "Trailer: Content-Length", input: get("Host: a", "Transfer-Encoding: chunked", "Trailer: content-length"), want: "400"},
	}
}

// RFC 9112 section 7.1.
func badChunks() (rows []badRow) {
	for name, chunks := range map[string]string{
		"size G":                        "G\r\nhello\r\n0\r\n\r\n",
		"size 0x5":                      "0x5\r\nhello\r\n0\r\n\r\n",
		"size -5":                       "-5\r\nhello\r\n0\r\n\r\n",
		"size +5":                       "+5\r\nhello\r\n0\r\n\r\n",
		"size empty":                    "\r\nhello\r\n0\r\n\r\n",
		"size of 17 digits":             "00000000000000005\r\nhello\r\n0\r\n\r\n",
		"size of 2^63":                  "8000000000000000\r\nhello\r\n0\r\n\r\n",
		"size of 2^64":                  "10000000000000000\r\nhello\r\n0\r\n\r\n",
		"space before the size":         " 5\r\nhello\r\n0\r\n\r\n",
		"space behind the size":         "5 \r\nhello\r\n0\r\n\r\n",
		"space before the extension":    "5 ;a\r\nhello\r\n0\r\n\r\n",
		"no CRLF after the data":        "5\r\nhello0\r\n\r\n",
		"data longer than the size":     "5\r\nhello world\r\n0\r\n\r\n",
		"data shorter than the size":    "5\r\nhi\r\n0\r\n\r\n",
		"bare LF after the size":        "5\nhello\r\n0\r\n\r\n",
		"bare CR after the size":        "5\rhello\r\n0\r\n\r\n",
		"bare LF after the data":        "5\r\nhello\n0\r\n\r\n",
		"bare LF in an extension":       "5;a\nb\r\nhello\r\n0\r\n\r\n",
		"bare CR in an extension":       "5;a\rb\r\nhello\r\n0\r\n\r\n",
		"NUL in an extension":           "5;a\x00\r\nhello\r\n0\r\n\r\n",
		"extension of 64 KiB":           "5;" + strings.Repeat("x", 64<<10) + "\r\nhello\r\n0\r\n\r\n",
		"extensions of 64 KiB in parts": strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 64) + "0\r\n\r\n",
		"bare LF after the last chunk":  "0\n\r\n",
		"bare LF as the end":            "0\r\n\n",
		"trailer without a colon":       "0\r\nA\r\n\r\n",
		"trailer with a bare LF":        "0\r\nA: b\n\r\n",
		"trailer with white space":      "0\r\n A: b\r\n\r\n",
		"trailer, folded":               "0\r\nA: b\r\n c\r\n\r\n",
	} {
		rows = append(rows, badRow{name: "chunk: " + name, input: post(chunks), want: "400", body: true})
	}
	return rows
}

// tooLarge are requests over the default limits.
func tooLarge() []badRow {
	return []badRow{
		{name: "long target", input: "GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\r\nHost: a\r\n\r\n", want: "414"},
		{name: "endless target", input: "GET /" + strings.Repeat("a", 100_000), want: "414"},
		{name: "target that just leaves no room", input: "GET /" + strings.Repeat("a", 8192-13) + " HTTP/1.1\r\nHost: a\r\n\r\n", want: "414"},
		{name: "large header section", input: get("Host: a", "A: "+strings.Repeat("b", 20_000), "A: "+strings.Repeat("b", 20_000)), want: "431"},
		{name: "1 MiB value", input: get("Host: a", "A: "+strings.Repeat("b", 1<<20)), want: "431"},
		{name: "1 MiB name", input: get("Host: a", strings.Repeat("b", 1<<20)+": a"), want: "431"},
		{name: "20,000 fields", input: get("Host: a", strings.Repeat("a: b\r\n", 20_000)+"c: d"), want: "431"},
		{name: "200 fields", input: get("Host: a", strings.Repeat("a: b\r\n", 200)+"c: d"), want: "431"},
		{name: "large trailer", input: post("0\r\nA: " + strings.Repeat("b", 9000) + "\r\n\r\n"), want: "431", body: true},
		{name: "200 trailer fields", input: post("0\r\n" + strings.Repeat("a: b\r\n", 200) + "\r\n"), want: "431", body: true},
	}
}

type goodRow struct {
	name  string
	input string
	want  []string // line | body | trailer, without the follower
	marks string
}

// goodRequests are requests that have to be served; the connection is usable afterwards.
func goodRequests() []goodRow {
	one := func(name, input, want string) goodRow { return goodRow{name: name, input: input, want: []string{want}} }
	marked := func(name, marks, input, want string) goodRow {
		return goodRow{name: name, marks: marks, input: input, want: []string{want}}
	}
	const cl = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
	return []goodRow{
		one("plain", follower, "1 GET /next HTTP/1.1"),
		one("an empty line before", "\r\n"+follower, "1 GET /next HTTP/1.1"),
		one("four empty lines before", strings.Repeat("\r\n", maxBlankLines)+follower, "1 GET /next HTTP/1.1"),
		one("absolute form", "GET http://b:80/x?y HTTP/1.1\r\nHost: a\r\n\r\n", "1 GET http://b:80/x?y HTTP/1.1"),
		one("absolute form, https, upper case", "GET HTTPS://[::1]?q HTTP/1.1\r\nHost: a\r\n\r\n", "1 GET HTTPS://[::1]?q HTTP/1.1"),
		one("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "1 OPTIONS * HTTP/1.1"),
		one("OPTIONS, absolute form", "OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n", "1 OPTIONS http://a HTTP/1.1"),
		one("unknown method", "M-SEARCH /x HTTP/1.1\r\nHost: a\r\n\r\n", "1 M-SEARCH /x HTTP/1.1"),
		one("method of odd token bytes", "!#$%&'*+-.^_`|~ /x HTTP/1.1\r\nHost: a\r\n\r\n", "1 !#$%&'*+-.^_`|~ /x HTTP/1.1"),
		one("lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", "1 get / HTTP/1.1"),
		marked("HTTP/1.2", "keep=true", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "1 GET / HTTP/1.2"),
		one("CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "1 CONNECT a:443 HTTP/1.1"),
		one("CONNECT, literal", "CONNECT [::1]:443 HTTP/1.1\r\nHost: a\r\n\r\n", "1 CONNECT [::1]:443 HTTP/1.1"),
		one("raw UTF-8 and odd bytes in the target", "GET /\xc3\xa4\"<>\\^`{|}?100% HTTP/1.1\r\nHost: a\r\n\r\n", "1 GET /\xc3\xa4\"<>\\^`{|}?100% HTTP/1.1"),
		one("double slash", "GET //a//b HTTP/1.1\r\nHost: a\r\n\r\n", "1 GET //a//b HTTP/1.1"),
		one("Host empty", get("Host:"), "1 GET / HTTP/1.1"),
		one("Host with a port", get("Host: a.b-c_d:8080"), "1 GET / HTTP/1.1"),
		one("Host literal", get("Host: [2001:db8::1]:80"), "1 GET / HTTP/1.1"),
		one("Host with an empty port", get("Host: a:"), "1 GET / HTTP/1.1"),
		one("white space around values", get("Host: \t a\t ", "A:", "B: \t ", "C:d"), "1 GET / HTTP/1.1"),
		one("tab and obs-text in a value", get("Host: a", "A: b\tc \xff\x80"), "1 GET / HTTP/1.1"),

		one("GET with content", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "1 GET / HTTP/1.1 | abc"),
		one("length 0", cl+"0\r\n\r\n", "1 POST / HTTP/1.1"),
		one("length with leading zeros", cl+"0005\r\n\r\nhello", "1 POST / HTTP/1.1 | hello"),
		one("content that looks like a request", cl+"14\r\n\r\nGET / HTTP/1.1", "1 POST / HTTP/1.1 | GET / HTTP/1.1"),
		one("chunked", post("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), "1 POST /c HTTP/1.1 | hello world"),
		one("chunked, no data", post("0\r\n\r\n"), "1 POST /c HTTP/1.1"),
		one("chunk size, leading zeros", post("0000000000000005\r\nhello\r\n000\r\n\r\n"), "1 POST /c HTTP/1.1 | hello"),
		one("chunk size, either case", post("b\r\nhello world\r\nB\r\nhello world\r\n0\r\n\r\n"), "1 POST /c HTTP/1.1 | hello worldhello world"),
		one("ChUnKeD", "POST /c HTTP/1.1\r\nHost: a\r\ntransfer-ENCODING: ChUnKeD\r\n\r\n1\r\na\r\n0\r\n\r\n", "1 POST /c HTTP/1.1 | a"),
		one("extensions", post("5;a=b;c=\"d e\"\r\nhello\r\n0; x\r\n\r\n"), "1 POST /c HTTP/1.1 | hello"),
		one("trailers", post("5\r\nhello\r\n0\r\nA: b\r\nC:d \r\n\r\n"), "1 POST /c HTTP/1.1 | hello | A=b\nC=d\n"),
		one("data like an end", post("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n"), "1 POST /c HTTP/1.1 | \r\n0\r\n\r\n"),
		{name: "three pipelined", input: follower + cl + "2\r\n\r\nhi" + post("1\r\na\r\n0\r\n\r\n"), want: []string{
			"1 GET /next HTTP/1.1", "2 POST / HTTP/1.1 | hi", "3 POST /c HTTP/1.1 | a"}},

		marked("Expect with HTTP/1.0", "expect=0", "POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\na", "1 POST / HTTP/1.0 | a"),
		marked("Expect", "expect=1", cl+"1\r\nExpect: 100-Continue\r\n\r\na", "1 POST / HTTP/1.1 | a"),
		marked("Expect without content", "expect=0", get("Host: a", "Expect: 100-continue"), "1 GET / HTTP/1.1"),
		marked("Expect something else", "expect=2", cl+"1\r\nExpect: miracles\r\n\r\na", "1 POST / HTTP/1.1 | a"),
		marked("keep-alive is the default of 1.1", "keep=true", follower, "1 GET /next HTTP/1.1"),
		marked("close", "keep=false", get("Host: a", "Connection: Close"), "1 GET / HTTP/1.1"),
		marked("close in a list", "keep=false", get("Host: a", "Connection: TE, close"), "1 GET / HTTP/1.1"),
		marked("close in a second line", "keep=false", get("Host: a", "Connection: keep-alive", "Connection: close"), "1 GET / HTTP/1.1"),
		marked("not close", "keep=true", get("Host: a", "Connection: closed"), "1 GET / HTTP/1.1"),
		marked("1.0 closes", "keep=false", "GET / HTTP/1.0\r\n\r\n", "1 GET / HTTP/1.0"),
		marked("1.0 with keep-alive", "keep=true", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "1 GET / HTTP/1.0"),
		marked("1.0 with both", "keep=false", "GET / HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n", "1 GET / HTTP/1.0"),
		marked("upgrade", "upgrade=true", get("Host: a", "Connection: Upgrade", "Upgrade: websocket"), "1 GET / HTTP/1.1"),
		marked("Upgrade alone", "upgrade=false", get("Host: a", "Upgrade: websocket"), "1 GET / HTTP/1.1"),
		marked("upgrade in 1.0", "upgrade=false", "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "1 GET / HTTP/1.0"),
	}
}
