package micro

import (
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	millrace "millrace.dev/codec/http2/hpack"
)

// hpackStatic is the static table of RFC 7541 appendix A: names in order, with a value where
// there is one.
var hpackStatic = func() (table []hpack.HeaderField) {
	for _, entry := range strings.Split(`:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|`+
		`:scheme https|:status 200|:status 204|:status 206|:status 304|:status 400|:status 404|:status 500|`+
		`accept-charset|accept-encoding gzip, deflate|accept-language|accept-ranges|accept|`+
		`access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|`+
		`content-language|content-length|content-location|content-range|content-type|cookie|date|etag|expect|`+
		`expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|`+
		`link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|`+
		`server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`, "|") {
		name, value, _ := strings.Cut(entry, " ")
		table = append(table, hpack.HeaderField{Name: name, Value: value})
	}
	return table
}()

var hpackFirstIndex = func() map[string]int {
	first := map[string]int{}
	for i, entry := range hpackStatic {
		if _, ok := first[entry.Name]; !ok {
			first[entry.Name] = i
		}
	}
	return first
}()

// hpackScan looks the first index of the name up and scans for the value from there on,
// either to the end of the table or up to the first other name.
func hpackScan(f *hpackField, past bool) (index int, whole bool) {
	index, ok := hpackFirstIndex[string(f.name)]
	if !ok {
		return 0, false
	}
	for i := index; i < len(hpackStatic); i++ {
		entry := &hpackStatic[i]
		if entry.Name != string(f.name) {
			if past {
				continue
			}
			break
		}
		if entry.Value == string(f.value) {
			return i + 1, true
		}
	}
	return index + 1, false
}

// hpackPatterns has fields for each way that a look-up can end.
var hpackPatterns = []struct {
	name   string
	fields []string
}{
	{"first", []string{":method: GET", ":scheme: http", ":status: 200", ":path: /", "accept-encoding: gzip, deflate"}},
	{"later", []string{":method: POST", ":scheme: https", ":status: 500", ":path: /index.html", ":status: 404"}},
	{"differs", []string{":method: PUT", ":status: 418", ":authority: a.b", "content-type: a/b", "accept: */*", "vary: *",
		"user-agent: x", "etag: 1"}},
	{"miss", []string{"x-a: 1", "x-other: 2", "priority: u=1", "sec-fetch-mode: cors", "trailer: x", "dnt: 1"}},
}

func BenchmarkHpackStatic(b *testing.B) {
	for _, pattern := range hpackPatterns {
		r := seeded()
		fields := make([]hpackField, 1024)
		for i := range fields {
			name, value, _ := strings.Cut(pattern.fields[r.IntN(len(pattern.fields))], ": ")
			fields[i] = hpackFieldOf(name, value)
		}
		run := func(alt string, lookUp func(f *hpackField) (int, bool)) {
			b.Run("pattern="+pattern.name+"/alt="+alt, func(b *testing.B) {
				sum := 0
				for i := 0; b.Loop(); i++ {
					index, whole := lookUp(&fields[i%len(fields)])
					sum += index
					if whole {
						sum++
					}
				}
				hpackSink = sum
			})
		}
		run("scan-past", func(f *hpackField) (int, bool) { return hpackScan(f, true) })
		run("scan-name", func(f *hpackField) (int, bool) { return hpackScan(f, false) })
		run("millrace", func(f *hpackField) (int, bool) {
			index, whole := millrace.StaticIndex(f.name, f.value)
			return int(index), whole
		})
	}
}
