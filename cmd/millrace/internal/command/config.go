package command

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"millrace.dev/buffer"
)

// config is what serve was told.
type config struct {
	addr        textValue
	transport   choiceValue
	loops       countValue
	oneAcceptor switchValue
	backlog     countValue
	maxConns    countValue
	tlsCert     textValue
	tlsKey      textValue
	dir         textValue

	maxLine, maxHeader, maxTrailer, maxBody sizeValue
	maxFields, maxInFlight                  countValue
	writeHigh, writeLow                     sizeValue

	noHTTP2         switchValue
	http2MaxStreams countValue

	uploadDir                                 textValue
	maxUpload, maxUploadFile, maxUploadMemory sizeValue
	maxUploadParts                            countValue

	headerTimeout, bodyTimeout, writeTimeout, idleTimeout, shutdownTimeout timeValue

	allocator                      choiceValue
	logLevel, logFormat, leakLevel choiceValue
	pprof                          textValue
}

func choice(words ...string) choiceValue { return choiceValue{words[0], words} }

// check looks at what the flags can't each see alone.
func (c *config) check() error {
	if c.transport.word == "unix" {
		if strings.TrimSpace(string(c.addr)) == "" || c.addr == defaultAddr {
			return errors.New("flag --addr: --transport unix needs the path of a socket, such as --addr /tmp/millrace.sock")
		}
	} else if _, _, err := net.SplitHostPort(string(c.addr)); err != nil {
		return fmt.Errorf("flag --addr: %q is not HOST:PORT, such as %s or :8080", string(c.addr), defaultAddr)
	}
	if c.tlsKey != "" && c.tlsCert == "" {
		return errors.New("flag --tls-key: is the key of a certificate, which --tls-cert has to give")
	}
	if c.pprof != "" {
		if _, _, err := net.SplitHostPort(string(c.pprof)); err != nil {
			return fmt.Errorf("flag --pprof: %q is not HOST:PORT, such as 127.0.0.1:6060", string(c.pprof))
		}
	}
	for _, f := range []struct {
		name  string
		value sizeValue
		most  int64
	}{
		{"max-request-line", c.maxLine, 1 << 20},
		{"max-header-bytes", c.maxHeader, 64 << 20},
		{"max-trailer-bytes", c.maxTrailer, 64 << 20},
		{"upload-memory", c.maxUploadMemory, 1 << 30},
		{"write-high", c.writeHigh, 1 << 30},
		{"write-low", c.writeLow, 1 << 30},
	} {
		if f.value <= 0 || int64(f.value) > f.most {
			most := sizeValue(f.most)
			return fmt.Errorf("flag --%s: %s is out of range: want 1 to %s bytes", f.name, &f.value, &most)
		}
	}
	if c.maxUpload == 0 || c.maxUploadFile == 0 {
		return errors.New("flags --upload-max and --upload-max-file: 0 would refuse every upload: want 1 byte at least, or none for no limit")
	}
	if c.maxBody == 0 {
		return errors.New("flag --max-body: 0 would refuse every body: want 1 byte at least, or none for no limit")
	}
	if c.writeLow > c.writeHigh {
		return fmt.Errorf("flag --write-low: %s is above --write-high, %s", &c.writeLow, &c.writeHigh)
	}
	for _, f := range []struct {
		name  string
		value countValue
	}{
		{"max-header-fields", c.maxFields}, {"upload-max-parts", c.maxUploadParts}, {"max-in-flight", c.maxInFlight},
		{"http2-max-streams", c.http2MaxStreams}, {"backlog", c.backlog},
	} {
		if f.value == 0 {
			return fmt.Errorf("flag --%s: has to be 1 at least", f.name)
		}
	}
	if c.http2MaxStreams > maxStreams {
		return fmt.Errorf("flag --http2-max-streams: %d is more than %d", c.http2MaxStreams, maxStreams)
	}
	if c.loops > maxLoops {
		return fmt.Errorf("flag --loops: %d is more than %d", c.loops, maxLoops)
	}
	return nil
}

// maxLoops is more than any machine has use for; beyond it a number is a slip of the hand.
const maxLoops = 1024

// maxStreams is likewise more than any client opens at once.
const maxStreams = 1 << 20

func (c *config) slogLevel() slog.Level {
	var l slog.Level
	_ = l.UnmarshalText([]byte(c.logLevel.word)) // it is one of slog's own words
	return l
}

func (c *config) bufferLeakLevel() (l buffer.LeakLevel) {
	_ = l.UnmarshalText([]byte(c.leakLevel.word)) // likewise
	return l
}

func (c *config) bufferAllocator() buffer.Allocator {
	kind, _ := buffer.ParseKind(c.allocator.word) // likewise
	return buffer.NewAllocator(kind)
}

// allocatorKinds are the names that --allocator takes.
func allocatorKinds() (names []string) {
	for _, k := range buffer.Kinds() {
		names = append(names, k.String())
	}
	return names
}
