package http1

import "errors"

// What an encoder refuses to write. Nothing has been appended then, and the encoder's
// state is as it was.
var (
	// ErrInvalidMessage says that a request or status line cannot be written: a method
	// that is no token, a target that ValidTarget refuses, a status outside 100-999, a
	// reason phrase with control bytes, a request without exactly one valid Host field,
	// a 101 without an Upgrade field.
	ErrInvalidMessage = errors.New("http1: message with an invalid request line, status line or Host")
	// ErrFraming says that Content-Length or Transfer-Encoding in the Header is
	// malformed, or contradicts the message that it frames (RFC 9112 section 6).
	ErrFraming = errors.New("http1: header contradicts the framing of the message")
	// ErrContentNotAllowed says that a message has content that must not have any: 1xx,
	// 204, 205, 304, a 2xx to CONNECT (RFC 9110 section 6.4.1).
	ErrContentNotAllowed = errors.New("http1: message must not have content")
	// ErrContentLong says that there is more content than was declared.
	ErrContentLong = errors.New("http1: content longer than declared")
	// ErrContentShort says that the content ends before its declared length.
	ErrContentShort = errors.New("http1: content shorter than declared")
	// ErrUnfinished says that the message before has not been ended.
	ErrUnfinished = errors.New("http1: the message before this one has not ended")
	// ErrNoMessage says that a Content was written and no message awaits one.
	ErrNoMessage = errors.New("http1: content without a message to belong to")
	// ErrTrailer says that a trailer has a field that frames or routes the message,
	// which RFC 9110 section 6.5.1 forbids.
	ErrTrailer = errors.New("http1: field not allowed in a trailer")
)
