package multipart

import (
	"errors"
	"syscall"

	"millrace.dev/codec/http"
)

// refusal is an error that a body's sender has caused.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return "multipart: " + r.text }

// What is wrong with a body, and the status of the answer that Status gives for it.
var (
	ErrContentType error = &refusal{415, "the content type is not that of a form"}
	ErrBoundary    error = &refusal{400, "no boundary, or not 1 to 70 of the characters that RFC 2046 allows"}
	ErrDelimiter   error = &refusal{400, "something follows a delimiter in its line"}
	ErrHeader      error = &refusal{400, "malformed header of a part"}
	ErrDisposition error = &refusal{400, "malformed or ambiguous Content-Disposition"}
	ErrNested      error = &refusal{400, "an inner multipart doesn't end before the outer one goes on"}
	ErrTruncated   error = &refusal{400, "the body ends before its last delimiter"}
	ErrNesting     error = &refusal{400, "multiparts are nested too deeply"}

	ErrTooManyParts        error = &refusal{413, "too many parts"}
	ErrTooManyFields       error = &refusal{413, "too many fields"}
	ErrTooManyFiles        error = &refusal{413, "too many files"}
	ErrTooManyHeaderFields error = &refusal{413, "too many header fields in a part"}
	ErrHeaderTooLarge      error = &refusal{413, "the header of a part is too large"}
	ErrNameTooLong         error = &refusal{413, "the name of a part is too long"}
	ErrFieldTooLarge       error = &refusal{413, "a field is too large"}
	ErrFieldsTooLarge      error = &refusal{413, "all fields together are too large"}
	ErrFileTooLarge        error = &refusal{413, "a file is too large"}
	ErrTooLarge            error = &refusal{413, "the body is too large"}
	ErrPreambleTooLarge    error = &refusal{413, "too much before, between or after the parts"}
	ErrMemoryFull          error = &refusal{413, "the files need more memory than they may have"}
)

// ErrFinished is what a Decoder or Collector returns that is used after its end.
var ErrFinished = errors.New("multipart: used after the end")

// StorageError says that the content of a file could not be kept, or read back.
type StorageError struct {
	Op  string // create, write, read or save
	Err error  // the system's
}

// Error says what was tried and why it failed.
func (e *StorageError) Error() string { return "multipart: storage: " + e.Op + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *StorageError) Unwrap() error { return e.Err }

// Status returns the HTTP status that tells a client of an error of this package: 400 for a
// malformed body, 413 above a limit, 415 for another content type, 507 when the disk is full
// (RFC 4918 section 11.5), and 500 for everything else.
func Status(err error) int {
	var r *refusal
	var q *http.QueryError
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.As(err, &q): // of an urlencoded body
		return q.Status
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return 507
	}
	return 500
}
