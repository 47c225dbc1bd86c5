package http

import "millrace.dev/codec/internal/octet"

// Method is a request method, RFC 9110 section 9. Methods are case-sensitive.
type Method string

// The methods of RFC 9110 section 9.3, and PATCH of RFC 5789.
const (
	MethodGet     Method = "GET"
	MethodHead    Method = "HEAD"
	MethodPost    Method = "POST"
	MethodPut     Method = "PUT"
	MethodPatch   Method = "PATCH"
	MethodDelete  Method = "DELETE"
	MethodConnect Method = "CONNECT"
	MethodOptions Method = "OPTIONS"
	MethodTrace   Method = "TRACE"
)

// IsValid reports whether m is a token, the only rule that a method has to follow.
func (m Method) IsValid() bool { return octet.IsToken(string(m)) }

// MethodOf returns the method that b spells. It allocates only for methods that have no
// constant here, and does not check that b is a token.
func MethodOf(b []byte) Method {
	switch string(b) { // the compiler compares without converting
	case "GET":
		return MethodGet
	case "HEAD":
		return MethodHead
	case "POST":
		return MethodPost
	case "PUT":
		return MethodPut
	case "PATCH":
		return MethodPatch
	case "DELETE":
		return MethodDelete
	case "CONNECT":
		return MethodConnect
	case "OPTIONS":
		return MethodOptions
	case "TRACE":
		return MethodTrace
	}
	return Method(b)
}
