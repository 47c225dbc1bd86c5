package httpserver

import (
	"io"
	nethttp "net/http"
	"os"

	"millrace.dev/codec/http"
)

// copyPiece is how many bytes ReadFrom reads at a time.
const copyPiece = 32 << 10

// minSendfile is the size from which a file is sent by sendfile: below it a copy costs less
// than the system calls.
const minSendfile = copyPiece

// ReadFrom sends what src has, for io.Copy: an *os.File, also limited by an
// io.LimitedReader, with sendfile(2) where the transport can, without waiting for that;
// anything else read into the buffers that are sent.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	e := (*stdExchange)(w)
	if n, err, sent := e.sendFile(src); sent {
		return n, err
	}
	var total int64
	for {
		n, err := e.copyFrom(src)
		total += int64(n)
		switch {
		case err == io.EOF:
			return total, nil
		case err != nil:
			return total, err
		}
	}
}

// copyFrom sends what one Read gives.
func (e *stdExchange) copyFrom(src io.Reader) (int, error) {
	b := e.conn.shard.loop.Allocator().Allocate(copyPiece)
	n, readErr := src.Read(b.Writable()[:copyPiece])
	if n == 0 {
		b.Close()
		return 0, readErr
	}
	b.Advance(n)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayWrite(n); err != nil {
		b.Close()
		return 0, err
	}
	if e.buffered()+n <= wholeAnswer {
		e.bufferFor(n).Write(b.Readable())
		b.Close()
		return n, readErr
	}
	if e.buffered() > 0 {
		if err := e.flush(); err != nil {
			b.Close()
			return 0, err
		}
	}
	if err := e.emitContent(b); err != nil {
		return 0, err
	}
	return n, readErr
}

// sendFile sends src if it is a regular file that is worth it; sent is false if nothing was
// done.
func (e *stdExchange) sendFile(src io.Reader) (n int64, err error, sent bool) {
	limit := int64(1<<63 - 1)
	limited, ok := src.(*io.LimitedReader)
	if ok {
		src, limit = limited.R, limited.N
	}
	f, ok := src.(*os.File)
	if !ok {
		return 0, nil, false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, nil, false
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, nil, false
	}
	n = min(limit, info.Size()-at)
	if n < minSendfile {
		return 0, nil, false
	}
	if err, sent = e.emitFile(f, at, n); !sent || err != nil {
		return 0, err, sent
	}
	if limited != nil {
		limited.N -= n
	}
	_, err = f.Seek(at+n, io.SeekStart)
	return n, err, true
}

// emitFile gives n bytes of a file to the loop, by a descriptor of their own: the handler
// closes f when it likes.
func (e *stdExchange) emitFile(f *os.File, at, n int64) (err error, sent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flags&fIsHead != 0 || e.left >= 0 && n > e.left {
		return nil, false
	}
	if err := e.mayWrite(int(n)); err != nil {
		return err, true
	}
	own, err := duplicate(f)
	if err != nil {
		if e.left >= 0 {
			e.left += n
		}
		return nil, false
	}
	if e.flags&(fSentHead|fOwnType) == 0 && e.buffered() == 0 {
		var start [512]byte
		if k, _ := f.ReadAt(start[:], at); k > 0 {
			e.msg.Header.AddField(http.FieldContentType, nethttp.DetectContentType(start[:k]))
			e.flags |= fOwnType
		}
	}
	if err := e.flush(); err != nil {
		_ = own.Close()
		return err, true
	}
	e.emit(http.NewFileContent(own, at, n, false))
	return nil, true
}
