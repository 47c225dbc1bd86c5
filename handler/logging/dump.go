package logging

import (
	"fmt"
	"log/slog"
	"net"

	"millrace.dev/buffer"
)

// hexDump shows up to limit bytes, in hexadecimal and, where they are printable ASCII, as
// text: "68 69 0a |hi.|". Nothing that a peer sends can break a line of the log.
func hexDump(b *buffer.Buffer, limit int) string {
	const digits = "0123456789abcdef"
	n := min(b.Len(), limit)
	out := make([]byte, 0, 4*n+8)
	text := make([]byte, 0, n)
	for _, run := range b.Runs(nil) {
		for _, c := range run[:min(len(run), n)] {
			out = append(out, digits[c>>4], digits[c&15], ' ')
			if c < ' ' || c > '~' {
				c = '.'
			}
			text = append(text, c)
		}
		n -= min(len(run), n)
	}
	if b.Len() > limit {
		out = append(out, "… "...)
	}
	out = append(out, '|')
	out = append(out, text...)
	return string(append(out, '|'))
}

func typeOf(v any) slog.Attr { return slog.String("type", fmt.Sprintf("%T", v)) }

// address describes an address that may be missing.
func address(key string, a net.Addr) slog.Attr {
	if a == nil {
		return slog.Attr{}
	}
	return slog.String(key, a.String())
}
