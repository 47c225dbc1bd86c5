package hpack

import (
	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
)

// The first entry of some names in the static table.
const (
	staticMethod = 2
	staticPath   = 4
	staticScheme = 6
	staticStatus = 8
	staticCookie = 32
)

const staticCount = 61

// staticTable is RFC 7541 appendix A.
var staticTable = [staticCount + 1]struct{ name, value string }{
	1: {":authority", ""}, {":method", "GET"}, {":method", "POST"}, {":path", "/"},
	{":path", "/index.html"}, {":scheme", "http"}, {":scheme", "https"}, {":status", "200"},
	{":status", "204"}, {":status", "206"}, {":status", "304"}, {":status", "400"},
	{":status", "404"}, {":status", "500"}, {"accept-charset", ""},
	{"accept-encoding", "gzip, deflate"}, {"accept-language", ""}, {"accept-ranges", ""},
	{"accept", ""}, {"access-control-allow-origin", ""}, {"age", ""}, {"allow", ""},
	{"authorization", ""}, {"cache-control", ""}, {"content-disposition", ""},
	{"content-encoding", ""}, {"content-language", ""}, {"content-length", ""},
	{"content-location", ""}, {"content-range", ""}, {"content-type", ""}, {"cookie", ""},
	{"date", ""}, {"etag", ""}, {"expect", ""}, {"expires", ""}, {"from", ""}, {"host", ""},
	{"if-match", ""}, {"if-modified-since", ""}, {"if-none-match", ""}, {"if-range", ""},
	{"if-unmodified-since", ""}, {"last-modified", ""}, {"link", ""}, {"location", ""},
	{"max-forwards", ""}, {"proxy-authenticate", ""}, {"proxy-authorization", ""},
	{"range", ""}, {"referer", ""}, {"refresh", ""}, {"retry-after", ""}, {"server", ""},
	{"set-cookie", ""}, {"strict-transport-security", ""}, {"transfer-encoding", ""},
	{"user-agent", ""}, {"vary", ""}, {"via", ""}, {"www-authenticate", ""},
}

// staticFields has the table as the Decoder gives it out.
var staticFields = buildStaticFields()

func buildStaticFields() (fields [staticCount + 1]Field) {
	for i := 1; i <= staticCount; i++ {
		name := []byte(staticTable[i].name)
		t := nameTraits(name)
		fields[i] = Field{
			Name: name, Value: []byte(staticTable[i].value),
			Known: t.known, Pseudo: t.pseudo, Valid: true,
		}
	}
	return fields
}

// The Encoder looks names up by a hash that was found by trial: no two names of the static
// table fall on the same place, so that a look-up is one multiplication and one candidate,
// and never scans. A test says so.
const (
	staticHash   = 0x3117c23efb2e77f3
	staticShift  = 64 - 7
	minStaticLen = len("age")
)

var staticPlaces = buildStaticPlaces()

func buildStaticPlaces() (places [1 << (64 - staticShift)]uint8) {
	for i := staticCount; i > 0; i-- { // of several entries of a name the first stays
		places[staticPlace([]byte(staticTable[i].name))] = uint8(i)
	}
	return places
}

// staticPlace mixes the length with the bytes at both ends, which is enough to tell the
// names apart. A name has at least three bytes.
func staticPlace(name []byte) uint64 {
	n := len(name)
	key := uint64(name[0]) | uint64(name[1])<<8 | uint64(name[n-1])<<16 | uint64(name[n-3])<<24 |
		uint64(name[n>>1])<<32 | uint64(n)<<40
	return key * staticHash >> staticShift
}

// StaticIndex looks a field up in the static table; the name is in lower case. It returns the
// index of the entry with that name and value, or of the first with the name, and which of
// the two it is; 0 if the name isn't there.
func StaticIndex(name, value []byte) (index uint8, whole bool) {
	first := staticName(name)
	if i := staticPair(first, value); i != 0 {
		return i, true
	}
	return first, false
}

// staticName returns the first index of a lower-case name in the static table, 0 if it
// isn't there.
func staticName(name []byte) uint8 {
	if len(name) < minStaticLen {
		return 0
	}
	i := staticPlaces[staticPlace(name)]
	if staticTable[i].name != string(name) {
		return 0
	}
	return i
}

// staticPair returns the index of the entry that has the value, among those of the name
// whose first index is given, 0 if there is none. Only five names have a value at all.
func staticPair(index uint8, value []byte) uint8 {
	switch index {
	case staticMethod, staticPath, staticScheme:
		return either(index, value)
	case staticStatus:
		return statusIndex(value)
	}
	if staticTable[index].value == string(value) {
		return index
	}
	return 0
}

func either(index uint8, value []byte) uint8 {
	if string(value) == staticTable[index].value {
		return index
	}
	if string(value) == staticTable[index+1].value {
		return index + 1
	}
	return 0
}

func statusIndex(value []byte) uint8 {
	switch string(value) {
	case "200":
		return 8
	case "204":
		return 9
	case "206":
		return 10
	case "304":
		return 11
	case "400":
		return 12
	case "404":
		return 13
	case "500":
		return 14
	}
	return 0
}

// knownNames has, for each http.Field, its lower-case name and the name's static index.
var knownNames = buildKnownNames()

type knownName struct {
	name   []byte
	static uint8
}

const knownCount = int(http.FieldXForwardedProto) + 1

func buildKnownNames() (names [knownCount]knownName) {
	for i := 1; i < knownCount; i++ {
		name := text.AppendLower(nil, http.Field(i).String())
		names[i] = knownName{name, staticName(name)}
	}
	return names
}
