package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/codec"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/codec/http2"
	"millrace.dev/codec/multipart"
	"millrace.dev/handler/tls"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// TestLimitsPage holds the defaults that docs/limits.md states against those of the code.
func TestLimitsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string]string{} // the default, by what sets it
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		for setter := range strings.SplitSeq(cells[2], ", ") {
			stated[strings.Trim(setter, " `")] = strings.TrimSpace(cells[3])
		}
	}
	config := channel.NewConfig()
	for setter, want := range map[string]string{
		"channel.Config.ConnectTimeout":     span(config.ConnectTimeout),
		"tls.Options.HandshakeTimeout":      span(tls.DefaultHandshakeTimeout),
		"channel.Config.MaxReadsPerTurn":    strconv.Itoa(config.MaxReadsPerTurn),
		"channel.Config.ReadBuffer":         size(config.ReadBuffer),
		"channel.Config.ReadBufferMax":      size(config.ReadBufferMax),
		"channel.Config.WriteBufferHigh":    size(config.WriteBufferHigh),
		"channel.Config.WriteBufferLow":     size(config.WriteBufferLow),
		"http.Limits.MaxLine":               size(http.DefaultMaxLine),
		"http.Limits.MaxHeader":             size(http.DefaultMaxHeader),
		"http.Limits.MaxFields":             strconv.Itoa(http.DefaultMaxFields),
		"http.Limits.MaxTrailer":            size(http.DefaultMaxTrailer),
		"http.Limits.MaxChunkExtensions":    size(http.DefaultMaxChunkExtensions),
		"multipart.Limits.MaxTotal":         size[int64](multipart.DefaultMaxTotal),
		"multipart.Limits.MaxFile":          size[int64](multipart.DefaultMaxFile),
		"multipart.Limits.MaxField":         size(multipart.DefaultMaxField),
		"multipart.Limits.MaxFieldBytes":    size(multipart.DefaultMaxFieldBytes),
		"multipart.Limits.MaxParts":         number(multipart.DefaultMaxParts),
		"multipart.Limits.MaxHeader":        size(multipart.DefaultMaxHeader),
		"multipart.Limits.MaxHeaderFields":  strconv.Itoa(multipart.DefaultMaxHeaderFields),
		"multipart.Limits.MaxName":          size(multipart.DefaultMaxName),
		"multipart.Limits.MaxPreamble":      size(multipart.DefaultMaxPreamble),
		"multipart.Limits.MaxDepth":         strconv.Itoa(multipart.DefaultMaxDepth),
		"multipart.Storage.Threshold":       size(multipart.DefaultThreshold),
		"http1.ServerOptions.MaxInFlight":   strconv.Itoa(http1.DefaultMaxInFlight),
		"http1.ServerOptions.LingerTime":    span(http1.DefaultLingerTime),
		"http1.ServerOptions.LingerBytes":   size(http1.DefaultLingerBytes),
		"httpserver.Timeouts.Header":        span(httpserver.DefaultHeaderTimeout),
		"httpserver.Timeouts.Body":          span(httpserver.DefaultBodyTimeout),
		"httpserver.Timeouts.Write":         span(httpserver.DefaultWriteTimeout),
		"httpserver.Timeouts.Idle":          span(httpserver.DefaultIdleTimeout),
		"http2.Options.MaxStreams":          strconv.Itoa(http2.DefaultMaxStreams),
		"http2.Options.StreamWindow":        size(http2.DefaultStreamWindow),
		"http2.Options.ConnWindow":          size(http2.DefaultConnWindow),
		"http2.Options.MaxFrameSize":        size(http2.MinMaxFrameSize),
		"http2.Options.WriteHigh":           size(http2.DefaultWriteHigh),
		"http2.Options.WriteLow":            size(http2.DefaultWriteLow),
		"http2.Options.MaxContinuations":    strconv.Itoa(http2.DefaultMaxContinuations),
		"http2.Options.Resets":              budget(http2.DefaultResets),
		"http2.Options.Provoked":            budget(http2.DefaultResets),
		"http2.Options.Control":             budget(http2.DefaultControl),
		"http2.Options.SettingsTimeout":     span(http2.DefaultSettingsTimeout),
		"http2.Options.PingTimeout":         span(http2.DefaultPingTimeout),
		"http2.Options.HeadTimeout":         span(http2.DefaultHeadTimeout),
		"http2.Options.StallTimeout":        span(http2.DefaultStallTimeout),
		"http2.Options.MaxWaiting":          number(http2.DefaultMaxWaiting),
		"http2.ClientOptions.MaxStreams":    number(http2.DefaultMaxOwnStreams),
		"http1.ClientOptions.MaxInFlight":   strconv.Itoa(http1.DefaultMaxInFlight),
		"http.QueryOptions.MaxParameters":   number(http.DefaultMaxParameters),
		"http.QueryOptions.MaxName":         size(http.DefaultMaxName),
		"loop.Options.WatchdogThreshold":    span(loop.DefaultWatchdogThreshold),
		"loop.Options.MaxTasksPerTurn":      number(loop.DefaultMaxTasksPerTurn),
		"loop.Options.MaxEventsPerTurn":     number(loop.DefaultMaxEventsPerTurn),
		"loop.Options.MaxQueuedTasks":       number(loop.DefaultMaxQueuedTasks),
		"loop.Options.Tick":                 span(loop.DefaultTick),
		"codec.LengthFieldOptions.MaxFrame": size(codec.DefaultMaxFrame),
		"codec.LineOptions.MaxLine":         size(codec.DefaultMaxLine),
	} {
		if got := stated[setter]; got != want {
			t.Errorf("%s: the page says %q, the code %q", setter, got, want)
		}
	}
}

// size writes bytes as the page does.
func size[N int | int64](n N) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return strconv.FormatInt(int64(n), 10)
}

// budget writes one as the page does.
func budget(b http2.Budget) string {
	return fmt.Sprintf("%s, and %s a second", number(b.Burst), number(b.PerSecond))
}

// span writes a time as the page does.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d > time.Minute:
		return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// number writes one as the page does, in groups of three digits.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
