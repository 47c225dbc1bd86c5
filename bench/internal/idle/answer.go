package idle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/sys/unix"
)

// readAnswer reads one answer to its end, so that nothing is left in either socket.
func readAnswer(fd int) error {
	var space [4096]byte
	have := 0
	for have < len(space) {
		if err := wait(fd, unix.POLLIN); err != nil {
			return err
		}
		n, err := unix.Read(fd, space[have:])
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		have += n
		whole, err := complete(space[:have])
		if whole || err != nil {
			return err
		}
	}
	return fmt.Errorf("the answer is longer than %d bytes", len(space))
}

// complete says whether p is a whole answer: status 200, delimited by a Content-Length.
func complete(p []byte) (bool, error) {
	header, body, ok := bytes.Cut(p, []byte("\r\n\r\n"))
	if !ok {
		return false, nil
	}
	if !bytes.HasPrefix(header, []byte("HTTP/1.1 200")) {
		return false, fmt.Errorf("the answer begins with %.40q", header)
	}
	for line := range bytes.SplitSeq(header, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			want, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err == nil && len(body) > want {
				err = fmt.Errorf("%d bytes after an answer of %d", len(body)-want, want)
			}
			return err == nil && len(body) == want, err
		}
	}
	return false, errors.New("the answer has no Content-Length")
}
