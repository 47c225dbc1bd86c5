//go:build !unix

package httpserver

import (
	"errors"
	"os"
)

// duplicate is not possible here: files are copied.
func duplicate(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
