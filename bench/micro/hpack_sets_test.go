package micro

import (
	"fmt"
	"math/rand/v2"

	"golang.org/x/net/http2/hpack"

	"millrace.dev/codec/http"
	millrace "millrace.dev/codec/http2/hpack"
)

// hpackField is a field in the form that either side wants it: neither converts anything
// while it is measured.
type hpackField struct {
	name, value []byte
	known       http.Field
	pseudo      millrace.Pseudo
	as          *millrace.Indexing // where whoever sends it knows better than the policy
	peer        hpack.HeaderField
}

func hpackFieldOf(name, value string) hpackField {
	f := hpackField{name: []byte(name), value: []byte(value), known: http.FieldOf(name)}
	f.peer = hpack.HeaderField{Name: name, Value: value, Sensitive: name == "authorization"}
	for p := millrace.Authority; p < millrace.UnknownPseudo; p++ {
		if p.String() == name {
			f.pseudo = p
		}
	}
	return f
}

// hpackSet makes the header lists of a kind of message: what changes from one to the next on
// a real connection does so.
type hpackSet struct {
	name string
	list func(r *rand.Rand) []string
	as   map[string]millrace.Indexing
}

var hpackSets = []hpackSet{
	{name: "browser", list: func(r *rand.Rand) []string {
		return []string{
			":method", "GET", ":authority", "shop.example.com", ":scheme", "https",
			":path", fmt.Sprintf("/assets/%x/app.%06x.js?v=%d", r.Uint32N(64), r.Uint32N(1<<24), r.IntN(100)),
			"sec-ch-ua", `"Chromium";v="138", "Google Chrome";v="138", "Not)A;Brand";v="8"`,
			"sec-ch-ua-mobile", "?0", "sec-ch-ua-platform", `"Linux"`,
			"user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
			"accept", "*/*", "sec-fetch-site", "same-origin", "sec-fetch-mode", "no-cors", "sec-fetch-dest", "script",
			"referer", "https://shop.example.com/catalogue/spring", "accept-encoding", "gzip, deflate, br, zstd",
			"accept-language", "en-GB,en;q=0.9,de;q=0.8",
			"cookie", "session=5c1f0a8be2d94d6f9a3d1a77c2b4e6f0; theme=dark; basket=29", "priority", "u=1",
		}
	}},
	{name: "grpc", as: map[string]millrace.Indexing{
		// A gRPC client has few methods, and hardly ever the same time left.
		":path": millrace.Incremental, "grpc-timeout": millrace.Without,
	}, list: func(r *rand.Rand) []string {
		return []string{
			":method", "POST", ":scheme", "http", ":path", "/routeguide.RouteGuide/GetFeature",
			":authority", "routes.internal:50051", "content-type", "application/grpc",
			"user-agent", "grpc-go/1.74.2", "te", "trailers",
			"grpc-timeout", fmt.Sprintf("%du", 900000+r.IntN(100000)),
			"authorization", "Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl",
		}
	}},
	{name: "response", list: func(r *rand.Rand) []string {
		return []string{
			":status", "200", "server", "millrace", "date", "Mon, 30 Nov 2026 10:20:30 GMT",
			"content-type", "application/javascript; charset=utf-8", "content-length", fmt.Sprint(r.IntN(200000)),
			"last-modified", fmt.Sprintf("Thu, 12 Nov 2026 %02d:%02d:%02d GMT", r.IntN(24), r.IntN(60), r.IntN(60)),
			"etag", fmt.Sprintf(`"%08x-%04x"`, r.Uint32(), r.Uint32N(1<<16)), "vary", "accept-encoding",
			"cache-control", "public, max-age=31536000, immutable", "accept-ranges", "bytes",
			"strict-transport-security", "max-age=63072000; includeSubDomains", "x-content-type-options", "nosniff",
		}
	}},
}

const hpackVariants = 64

func (s hpackSet) fields() (lists [hpackVariants][]hpackField) {
	r := seeded()
	for i := range lists {
		list := s.list(r)
		for j := 0; j < len(list); j += 2 {
			f := hpackFieldOf(list[j], list[j+1])
			if as, ok := s.as[list[j]]; ok {
				f.as = &as
			}
			lists[i] = append(lists[i], f)
		}
	}
	return lists
}

// hpackBlocks encodes the lists of a set for one connection. Nothing of what changes is
// indexed; so the blocks behind the first one leave the dynamic table as it is and can be
// decoded in a circle.
func hpackBlocks(s hpackSet) (first []byte, blocks [hpackVariants][]byte) {
	var e millrace.Encoder
	lists := s.fields()
	first = hpackAppend(&e, nil, lists[0])
	for i, list := range lists {
		blocks[i] = hpackAppend(&e, nil, list)
	}
	return first, blocks
}

func hpackAppend(e *millrace.Encoder, dst []byte, fields []hpackField) []byte {
	for i := range fields {
		switch f := &fields[i]; {
		case f.as != nil:
			dst = e.AppendAs(dst, *f.as, f.name, f.value)
		case f.pseudo != millrace.NotPseudo:
			dst = e.AppendPseudo(dst, f.pseudo, f.value)
		case f.known != http.FieldOther:
			dst = e.AppendKnown(dst, f.known, f.value)
		default:
			dst = e.Append(dst, f.name, f.value)
		}
	}
	return dst
}
