package http

import (
	"math/bits"

	"millrace.dev/codec/internal/octet"
)

// Field is the small number of a well-known field name. A Header recognises names once,
// when a field is added or parsed, so that later look-ups compare numbers.
type Field uint8

// The well-known field names. FieldOther stands for every name that is not listed.
const (
	FieldOther Field = iota
	FieldAccept
	FieldAcceptCharset
	FieldAcceptEncoding
	FieldAcceptLanguage
	FieldAcceptRanges
	FieldAge
	FieldAllow
	FieldAltSvc
	FieldAuthorization
	FieldCacheControl
	FieldConnection
	FieldContentDisposition
	FieldContentEncoding
	FieldContentLanguage
	FieldContentLength
	FieldContentLocation
	FieldContentRange
	FieldContentType
	FieldCookie
	FieldDate
	FieldETag
	FieldExpect
	FieldExpires
	FieldFrom
	FieldHost
	FieldHTTP2Settings
	FieldIfMatch
	FieldIfModifiedSince
	FieldIfNoneMatch
	FieldIfRange
	FieldIfUnmodifiedSince
	FieldKeepAlive
	FieldLastModified
	FieldLink
	FieldLocation
	FieldOrigin
	FieldPragma
	FieldProxyAuthenticate
	FieldProxyAuthorization
	FieldProxyConnection
	FieldRange
	FieldReferer
	FieldRetryAfter
	FieldSecWebSocketAccept
	FieldSecWebSocketExtensions
	FieldSecWebSocketKey
	FieldSecWebSocketProtocol
	FieldSecWebSocketVersion
	FieldServer
	FieldSetCookie
	FieldTE
	FieldTrailer
	FieldTransferEncoding
	FieldUpgrade
	FieldUserAgent
	FieldVary
	FieldVia
	FieldWWWAuthenticate
	FieldXForwardedFor
	FieldXForwardedProto
	fieldCount
)

// A Header keeps the set of known names that it has in the bits of one word.
const _ = uint(64 - fieldCount)

var fieldNames = [fieldCount]string{
	FieldAccept:                 "Accept",
	FieldAcceptCharset:          "Accept-Charset",
	FieldAcceptEncoding:         "Accept-Encoding",
	FieldAcceptLanguage:         "Accept-Language",
	FieldAcceptRanges:           "Accept-Ranges",
	FieldAge:                    "Age",
	FieldAllow:                  "Allow",
	FieldAltSvc:                 "Alt-Svc",
	FieldAuthorization:          "Authorization",
	FieldCacheControl:           "Cache-Control",
	FieldConnection:             "Connection",
	FieldContentDisposition:     "Content-Disposition",
	FieldContentEncoding:        "Content-Encoding",
	FieldContentLanguage:        "Content-Language",
	FieldContentLength:          "Content-Length",
	FieldContentLocation:        "Content-Location",
	FieldContentRange:           "Content-Range",
	FieldContentType:            "Content-Type",
	FieldCookie:                 "Cookie",
	FieldDate:                   "Date",
	FieldETag:                   "ETag",
	FieldExpect:                 "Expect",
	FieldExpires:                "Expires",
	FieldFrom:                   "From",
	FieldHost:                   "Host",
	FieldHTTP2Settings:          "HTTP2-Settings",
	FieldIfMatch:                "If-Match",
	FieldIfModifiedSince:        "If-Modified-Since",
	FieldIfNoneMatch:            "If-None-Match",
	FieldIfRange:                "If-Range",
	FieldIfUnmodifiedSince:      "If-Unmodified-Since",
	FieldKeepAlive:              "Keep-Alive",
	FieldLastModified:           "Last-Modified",
	FieldLink:                   "Link",
	FieldLocation:               "Location",
	FieldOrigin:                 "Origin",
	FieldPragma:                 "Pragma",
	FieldProxyAuthenticate:      "Proxy-Authenticate",
	FieldProxyAuthorization:     "Proxy-Authorization",
	FieldProxyConnection:        "Proxy-Connection",
	FieldRange:                  "Range",
	FieldReferer:                "Referer",
	FieldRetryAfter:             "Retry-After",
	FieldSecWebSocketAccept:     "Sec-WebSocket-Accept",
	FieldSecWebSocketExtensions: "Sec-WebSocket-Extensions",
	FieldSecWebSocketKey:        "Sec-WebSocket-Key",
	FieldSecWebSocketProtocol:   "Sec-WebSocket-Protocol",
	FieldSecWebSocketVersion:    "Sec-WebSocket-Version",
	FieldServer:                 "Server",
	FieldSetCookie:              "Set-Cookie",
	FieldTE:                     "TE",
	FieldTrailer:                "Trailer",
	FieldTransferEncoding:       "Transfer-Encoding",
	FieldUpgrade:                "Upgrade",
	FieldUserAgent:              "User-Agent",
	FieldVary:                   "Vary",
	FieldVia:                    "Via",
	FieldWWWAuthenticate:        "WWW-Authenticate",
	FieldXForwardedFor:          "X-Forwarded-For",
	FieldXForwardedProto:        "X-Forwarded-Proto",
}

// String returns the usual spelling of the name, or "" for FieldOther.
func (f Field) String() string { return fieldNames[f] }

// FieldSet is a set of well-known names.
type FieldSet uint64

// Set returns the set of f alone; join sets with |.
func (f Field) Set() FieldSet { return 1 << f }

// fieldKey holds the bytes of a lower-case name as words: the first eight, the last eight,
// which overlap in a name of less than 16 bytes, and those between in a longer one. A few
// comparisons so settle any name of up to 24 bytes.
type fieldKey struct {
	head, middle, tail uint64
	length             int
}

const maxKnownName = 24

// fieldHash was found by trial: with it no two names fall on the same place of fieldIndex,
// so that a look-up is one multiplication and one candidate. A test says so.
const fieldHash = 0xb3465fd438c0236b

var fieldKeys, fieldIndex = buildFieldIndex()

func buildFieldIndex() (keys [fieldCount]fieldKey, index [256]Field) {
	for f := FieldOther + 1; f < fieldCount; f++ {
		name := fieldNames[f]
		k := fieldKey{length: len(name)}
		head, tail := nameWords(name)
		k.head, k.tail = folded(head), folded(tail)
		if len(name) > 16 {
			k.middle = folded(word64(name, 8))
		}
		keys[f] = k
		index[fieldPlace(k.head, k.tail)] = f
	}
	return keys, index
}

func fieldPlace(head, tail uint64) uint64 {
	return (head + bits.RotateLeft64(tail, 13)) * fieldHash >> 56
}

// nameWords packs the two ends of a name of at least two bytes; what a short name leaves
// free is filled with spaces.
func nameWords[S []byte | string](name S) (head, tail uint64) {
	n := len(name)
	switch {
	case n >= 8:
		return word64(name, 0), word64(name, n-8)
	case n >= 4:
		const fill = octet.Fold &^ (1<<32 - 1)
		return uint64(word32(name, 0)) | fill, uint64(word32(name, n-4)) | fill
	}
	const fill = octet.Fold &^ (1<<16 - 1)
	return uint64(name[0]) | uint64(name[1])<<8 | fill, uint64(name[n-1]) | ' '<<8 | fill
}

// folded lower-cases the letters of a word and leaves hyphens and digits as they are.
// Controls turn into hyphens and digits by it, so a match is not yet an equal name.
func folded(w uint64) uint64 { return w | octet.Fold }

// controls has a bit set for each byte of the word that has neither bit 5 nor bit 6.
func controls(w uint64) uint64 { return ^(w | w>>1) & octet.Fold }

func word64[S []byte | string](s S, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func word32[S []byte | string](s S, i int) uint32 {
	s = s[i : i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// FieldOf recognises a name in any case, FieldOther if it is not a well-known one.
func FieldOf(name string) Field { return fieldOf(name) }

// FieldOfBytes is FieldOf for a name in a slice.
func FieldOfBytes(name []byte) Field { return fieldOf(name) }

func fieldOf[S []byte | string](name S) Field {
	n := len(name)
	if n < 2 || n > maxKnownName {
		return FieldOther
	}
	head, tail := nameWords(name)
	f := fieldIndex[fieldPlace(folded(head), folded(tail))]
	k := &fieldKeys[f]
	if k.head != folded(head) || k.tail != folded(tail) || k.length != n {
		return FieldOther
	}
	odd := controls(head) | controls(tail)
	if n > 16 {
		middle := word64(name, 8)
		odd |= controls(middle) | (k.middle ^ folded(middle))
	}
	if odd != 0 {
		return FieldOther
	}
	return f
}
