package http1

import "io"

// What a decoder refuses. Everything ambiguous is refused rather than repaired: RFC 9112
// section 11.2 is why (request smuggling).
var (
	// RFC 9112 section 2.2.
	errBlankLines = &Error{Status: 400, Rule: "too many empty lines before the request line"}
	errLineEnd    = &Error{Status: 400, Rule: "line not ended by CRLF"}

	// RFC 9112 section 3.
	errMethod       = &Error{Status: 400, Rule: "method is not a token"}
	errMethodLong   = &Error{Status: 501, Rule: "method too long"}
	errTargetByte   = &Error{Status: 400, Rule: "invalid byte in request target"}
	errTarget       = &Error{Status: 400, Rule: "invalid request target"}
	errTargetLong   = &Error{Status: 414, Rule: "request target too long"}
	errVersion      = &Error{Status: 400, Rule: "malformed HTTP version"}
	errVersionOther = &Error{Status: 505, Rule: "HTTP version not supported"}
	errNotHTTP      = &Error{Status: 400, Rule: "not a line of HTTP"}
	errPreface      = &Error{Status: 505, Rule: "HTTP/2 is not spoken here"}

	// RFC 9112 section 3.2, RFC 9110 section 7.2.
	errHostMissing = &Error{Status: 400, Rule: "no Host field"}
	errHostTwice   = &Error{Status: 400, Rule: "more than one Host field"}
	errHost        = &Error{Status: 400, Rule: "invalid Host field"}

	// RFC 9112 section 5, RFC 9110 sections 5.1 and 5.5.
	errFieldName   = &Error{Status: 400, Rule: "invalid field name"}
	errFieldColon  = &Error{Status: 400, Rule: "field name not followed by a colon"}
	errFieldValue  = &Error{Status: 400, Rule: "invalid byte in field value"}
	errFolding     = &Error{Status: 400, Rule: "field line begins with white space"}
	errHeaderLong  = &Error{Status: 431, Rule: "header section too large"}
	errFieldsMany  = &Error{Status: 431, Rule: "too many fields"}
	errTrailerLong = &Error{Status: 431, Rule: "trailer section too large"}

	// RFC 9112 section 6, RFC 9110 section 8.6.
	errLength         = &Error{Status: 400, Rule: "invalid Content-Length"}
	errLengthTwice    = &Error{Status: 400, Rule: "more than one Content-Length"}
	errBodyLong       = &Error{Status: 413, Rule: "content too large"}
	errLengthAndTE    = &Error{Status: 400, Rule: "both Transfer-Encoding and Content-Length"}
	errTEInHTTP10     = &Error{Status: 400, Rule: "Transfer-Encoding in HTTP/1.0"}
	errTE             = &Error{Status: 400, Rule: "invalid Transfer-Encoding"}
	errTEUnknown      = &Error{Status: 501, Rule: "transfer coding not implemented"}
	errTrailerFields  = &Error{Status: 400, Rule: "Trailer field announces a framing field"}
	errChunkSize      = &Error{Status: 400, Rule: "invalid chunk size"}
	errChunkExtension = &Error{Status: 400, Rule: "invalid chunk extension"}
	errChunkExtLong   = &Error{Status: 400, Rule: "chunk extensions too large"}
	errChunkEnd       = &Error{Status: 400, Rule: "chunk data not followed by CRLF"}

	// RFC 9112 section 8.
	errCut = &Error{Status: 400, Rule: "connection ended inside a message", cause: io.ErrUnexpectedEOF}

	// Responses, RFC 9112 sections 4 and 6.3.
	errStatusLine   = &Error{Status: 502, Rule: "malformed status line"}
	errUnsolicited  = &Error{Status: 502, Rule: "response that no request awaits"}
	errSwitch       = &Error{Status: 502, Rule: "protocol switch that was not asked for"}
	errResponseLong = &Error{Status: 502, Rule: "status line too long"}
)

// RFC 9110 section 10.1.1.
var errExpectation = &Error{Status: 417, Rule: "unknown expectation"}
