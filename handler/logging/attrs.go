package logging

import (
	"fmt"
	"log/slog"
	"net"
)

func typeOf(v any) slog.Attr { return slog.String("type", fmt.Sprintf("%T", v)) }

// address describes an address that may be missing.
func address(key string, a net.Addr) slog.Attr {
	if a == nil {
		return slog.Attr{}
	}
	return slog.String(key, a.String())
}
