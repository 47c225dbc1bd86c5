package http1

import "fmt"

// Error says which rule a peer has broken. The values are fixed, so that refusing a
// message allocates nothing; compare with errors.Is or ==.
type Error struct {
	// Status is what a server answers: 400, 413, 414, 417, 431, 501 or 505. For a
	// response that breaks a rule it is 502, what a gateway would answer.
	Status int
	// Rule is what was wrong, in a few words, safe to be logged and to be sent.
	Rule string

	cause error
}

// Error returns the rule.
func (e *Error) Error() string { return fmt.Sprintf("http1: %s", e.Rule) }

// Unwrap returns io.ErrUnexpectedEOF when the peer's end came inside a message.
func (e *Error) Unwrap() error { return e.cause }
