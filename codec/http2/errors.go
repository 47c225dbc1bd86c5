package http2

import (
	"errors"
	"fmt"
)

// ErrCode says why a stream or connection ends, RFC 9113 section 7.
type ErrCode uint32

// The codes of RFC 9113 section 7.
const (
	NoError            ErrCode = 0x0
	ProtocolError      ErrCode = 0x1
	InternalError      ErrCode = 0x2
	FlowControlError   ErrCode = 0x3
	SettingsTimeout    ErrCode = 0x4
	StreamClosed       ErrCode = 0x5
	FrameSizeError     ErrCode = 0x6
	RefusedStream      ErrCode = 0x7
	Cancel             ErrCode = 0x8
	CompressionError   ErrCode = 0x9
	ConnectError       ErrCode = 0xa
	EnhanceYourCalm    ErrCode = 0xb
	InadequateSecurity ErrCode = 0xc
	HTTP11Required     ErrCode = 0xd
)

var codeNames = [...]string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
	"SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",
	"COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"}

// String returns the name that RFC 9113 gives the code.
func (c ErrCode) String() string {
	if c < ErrCode(len(codeNames)) {
		return codeNames[c]
	}
	return fmt.Sprintf("error code 0x%x", uint32(c))
}

// ConnError ends a connection. The values for what a peer gets wrong are fixed, so that
// refusing it allocates nothing.
type ConnError struct {
	Code ErrCode
	Rule string // what was wrong, in a few words, safe to be logged and to be sent
	// Remote says that the peer has ended the connection, with a GOAWAY.
	Remote bool
}

// Error returns the code and the rule.
func (e *ConnError) Error() string {
	by := ""
	if e.Remote {
		by = "peer: "
	}
	return "http2: connection: " + by + e.Code.String() + ": " + e.Rule
}

// StreamError ends one stream: it is the Err of the last Content of its message.
type StreamError struct {
	Code ErrCode
	Rule string // what was wrong; empty if the peer has not said
	// Remote says that the peer has reset the stream.
	Remote bool
	// Unprocessed says that the peer has done nothing for the request, so that it is safe
	// to send it again on another connection (RFC 9113 section 8.7); errors.Is then finds
	// ErrUnprocessed.
	Unprocessed bool
}

// Error returns the code and the rule.
func (e *StreamError) Error() string {
	text := "http2: stream: "
	if e.Remote {
		text += "reset by peer: "
	}
	text += e.Code.String()
	if e.Rule != "" {
		text += ": " + e.Rule
	}
	return text
}

// Unwrap returns ErrUnprocessed if Unprocessed is set.
func (e *StreamError) Unwrap() error {
	if e.Unprocessed {
		return ErrUnprocessed
	}
	return nil
}

// Errors of what is written.
var (
	// ErrUnprocessed is wrapped by the errors of requests that the peer has certainly done
	// nothing for.
	ErrUnprocessed = errors.New("http2: the peer has not processed the request")
	// ErrNoStream says that the stream of a message is not open for it: it never was, was
	// reset, or its answer has ended.
	ErrNoStream = errors.New("http2: no such stream awaits this message")
	// ErrClosing says that the connection takes no more requests. It wraps ErrUnprocessed.
	ErrClosing error = unsent("http2: the connection is closing")
	// ErrBusy says that as many requests wait as may. It wraps ErrUnprocessed.
	ErrBusy error = unsent("http2: too many requests wait for a stream")
	// ErrNotHTTP says that something else than a Response, Request or Content was written.
	ErrNotHTTP = errors.New("http2: not an HTTP message")
	// ErrInvalidMessage says that a head cannot be written: a status out of range or one
	// that HTTP/2 does not have (101), a target or method that is none.
	ErrInvalidMessage = errors.New("http2: invalid message head")
	// ErrHeadTwice says that a second final head was written.
	ErrHeadTwice = errors.New("http2: the answer has a head already")
	// ErrNoHead says that content was written before the head.
	ErrNoHead = errors.New("http2: content before the head")
	// ErrContentLength says that the content written is not as long as was declared.
	ErrContentLength = errors.New("http2: content does not have the declared length")
	// ErrContentNotAllowed says that a message of that status must not have content.
	ErrContentNotAllowed = errors.New("http2: content is not allowed here")
	// ErrTrailer says that a trailer has a field that must not stand there.
	ErrTrailer = errors.New("http2: field not allowed in a trailer")
)

// unsent is the error of a request of which nothing was sent.
type unsent string

func (e unsent) Error() string { return string(e) }
func (e unsent) Unwrap() error { return ErrUnprocessed }

// What a peer gets wrong about the connection.
var (
	errPreface         = &ConnError{Code: ProtocolError, Rule: "not the client preface"}
	errNoSettings      = &ConnError{Code: ProtocolError, Rule: "first frame is not SETTINGS"}
	errFrameLong       = &ConnError{Code: FrameSizeError, Rule: "frame exceeds SETTINGS_MAX_FRAME_SIZE"}
	errFrameSize       = &ConnError{Code: FrameSizeError, Rule: "wrong frame length for its type"}
	errPadding         = &ConnError{Code: ProtocolError, Rule: "padding exceeds the frame"}
	errNeedsStream     = &ConnError{Code: ProtocolError, Rule: "frame must belong to a stream"}
	errNoStreamAllowed = &ConnError{Code: ProtocolError, Rule: "frame must not belong to a stream"}
	errNotContinued    = &ConnError{Code: ProtocolError, Rule: "header block interrupted by another frame"}
	errStrayCont       = &ConnError{Code: ProtocolError, Rule: "CONTINUATION without a header block"}
	errIdle            = &ConnError{Code: ProtocolError, Rule: "frame on an idle stream"}
	errStreamID        = &ConnError{Code: ProtocolError, Rule: "stream identifier not allowed"}
	errWasClosed       = &ConnError{Code: StreamClosed, Rule: "frame on a closed stream"}
	errPush            = &ConnError{Code: ProtocolError, Rule: "PUSH_PROMISE is not allowed"}
	errWindow          = &ConnError{Code: FlowControlError, Rule: "connection window overflow"}
	errWindowZero      = &ConnError{Code: ProtocolError, Rule: "WINDOW_UPDATE without increment"}
	errConnFlow        = &ConnError{Code: FlowControlError, Rule: "more DATA than the connection window"}
	errCompression     = &ConnError{Code: CompressionError, Rule: "malformed header block"}
	errSetWindow       = &ConnError{Code: FlowControlError, Rule: "SETTINGS_INITIAL_WINDOW_SIZE out of range"}
	errSetFrameSize    = &ConnError{Code: ProtocolError, Rule: "SETTINGS_MAX_FRAME_SIZE out of range"}
	errSettingsField   = &ConnError{Code: ProtocolError, Rule: "malformed HTTP2-Settings"}
	errSetValue        = &ConnError{Code: ProtocolError, Rule: "setting with a value that it cannot have"}
	errStrayAck        = &ConnError{Code: ProtocolError, Rule: "SETTINGS acknowledged that were not sent"}
	errGoAwayGrew      = &ConnError{Code: ProtocolError, Rule: "GOAWAY raises the last stream identifier"}
	errPriorityTarget  = &ConnError{Code: ProtocolError, Rule: "PRIORITY_UPDATE for no stream"}
)

// What is too much of something.
var (
	errResets        = &ConnError{Code: EnhanceYourCalm, Rule: "too many streams reset"}
	errProvoked      = &ConnError{Code: EnhanceYourCalm, Rule: "too many stream errors"}
	errControl       = &ConnError{Code: EnhanceYourCalm, Rule: "too many control frames"}
	errAnswers       = &ConnError{Code: EnhanceYourCalm, Rule: "answers to control frames are not taken"}
	errContinuations = &ConnError{Code: EnhanceYourCalm, Rule: "header block too large"}
	errSettingsAck   = &ConnError{Code: SettingsTimeout, Rule: "SETTINGS not acknowledged in time"}
	errPingTimeout   = &ConnError{Code: NoError, Rule: "PING not answered in time"}
	errHeadTimeout   = &ConnError{Code: EnhanceYourCalm, Rule: "header block not complete in time"}
)

// What a peer gets wrong about one stream.
var (
	errHalfClosed     = &StreamError{Code: StreamClosed, Rule: "frame after END_STREAM"}
	errAfterReset     = &StreamError{Code: StreamClosed, Rule: "frame after RST_STREAM"}
	errStreamFlow     = &StreamError{Code: FlowControlError, Rule: "more DATA than the stream window"}
	errStreamWindow   = &StreamError{Code: FlowControlError, Rule: "stream window overflow"}
	errStreamZero     = &StreamError{Code: ProtocolError, Rule: "WINDOW_UPDATE without increment"}
	errRefused        = &StreamError{Code: RefusedStream, Rule: "too many concurrent streams"}
	errSelfDependent  = &StreamError{Code: ProtocolError, Rule: "stream depends on itself"}
	errTrailersOpen   = &StreamError{Code: ProtocolError, Rule: "trailers without END_STREAM"}
	errDataFirst      = &StreamError{Code: ProtocolError, Rule: "DATA before the head"}
	errLengthMismatch = &StreamError{Code: ProtocolError, Rule: "content is not as long as declared"}
	errBodyLong       = &StreamError{Code: Cancel, Rule: "content too large"}
	errHeadLong       = &StreamError{Code: EnhanceYourCalm, Rule: "header list too large"}
	errTrailerLong    = &StreamError{Code: EnhanceYourCalm, Rule: "trailers too large"}
	errStalled        = &StreamError{Code: Cancel, Rule: "no progress in time"}

	errNotSent = &StreamError{Code: RefusedStream, Rule: "the request was not sent", Unprocessed: true}

	errName          = &StreamError{Code: ProtocolError, Rule: "invalid field name"}
	errValue         = &StreamError{Code: ProtocolError, Rule: "invalid field value"}
	errConnField     = &StreamError{Code: ProtocolError, Rule: "field of a connection"}
	errTE            = &StreamError{Code: ProtocolError, Rule: "TE other than trailers"}
	errPseudo        = &StreamError{Code: ProtocolError, Rule: "unknown or misplaced pseudo-header"}
	errPseudoTwice   = &StreamError{Code: ProtocolError, Rule: "repeated pseudo-header"}
	errPseudoLate    = &StreamError{Code: ProtocolError, Rule: "pseudo-header behind a field"}
	errPseudoMissing = &StreamError{Code: ProtocolError, Rule: "missing pseudo-header"}
	errMethod        = &StreamError{Code: ProtocolError, Rule: "invalid :method"}
	errScheme        = &StreamError{Code: ProtocolError, Rule: "invalid :scheme"}
	errPath          = &StreamError{Code: ProtocolError, Rule: "invalid :path"}
	errAuthority     = &StreamError{Code: ProtocolError, Rule: "invalid :authority"}
	errHost          = &StreamError{Code: ProtocolError, Rule: "invalid or contradicting Host"}
	errProtocol      = &StreamError{Code: ProtocolError, Rule: "invalid :protocol"}
	errStatus        = &StreamError{Code: ProtocolError, Rule: "invalid :status"}
	errLength        = &StreamError{Code: ProtocolError, Rule: "invalid content-length"}
)

// remoteResets are the errors of streams that the peer has reset, by code, so that a reset
// allocates nothing.
var remoteResets = buildRemoteResets()

func buildRemoteResets() (t [len(codeNames)]*StreamError) {
	for i := range t {
		t[i] = &StreamError{Code: ErrCode(i), Remote: true, Unprocessed: ErrCode(i) == RefusedStream}
	}
	return t
}

func remoteReset(code ErrCode) *StreamError {
	if code < ErrCode(len(remoteResets)) {
		return remoteResets[code]
	}
	return &StreamError{Code: code, Remote: true}
}
