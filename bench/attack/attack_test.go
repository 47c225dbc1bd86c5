package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/httpserver"
)

// serve starts a server with the defaults.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := &httpserver.Server{Handler: h, Logger: slog.New(slog.DiscardHandler)}
	ch, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return ch.LocalAddr().String()
}

// Every attack but those that only hold something is ended, with the right code and long
// before all of it was played.
func TestAttacksAreEnded(t *testing.T) {
	t.Parallel()
	addr := serve(t, hello.Handler())
	for _, a := range attacks {
		until := time.Now().Add(time.Minute)
		if a.each {
			a.amount = 5
		} else {
			a.amount *= 20 // more than sockets buffer, for a server that has to wait
		}
		if a.holds {
			until = time.Now().Add(100 * time.Millisecond)
		}
		r, err := a.run(addr, until)
		switch {
		case err != nil:
			t.Errorf("%s: %v", a.name, err)
		case !r.right:
			t.Errorf("%s: %s", a.name, r.line(&a))
		case a.each && r.sent != a.amount, !a.each && r.sent >= a.amount:
			t.Errorf("%s: %d of %d %s taken", a.name, r.sent, a.amount, a.unit)
		}
	}
	resp, err := http.Get("http://" + addr + hello.Path)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("afterwards the server answers %d", resp.StatusCode)
	}
}

// A server that bears with it is found out.
func TestAttackThatIsServed(t *testing.T) {
	t.Parallel()
	addr := serve(t, hello.Handler())
	a, _ := find("ping-flood")
	a.amount = 10
	r, err := a.run(addr, time.Now().Add(time.Minute))
	if err != nil || r.sent != 10 || r.ended != "served" || r.right {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPlayMeasures(t *testing.T) {
	t.Parallel()
	addr := serve(t, hello.Handler())
	var out bytes.Buffer
	err := run(context.Background(), []string{"-attack", "window-overflow", "-amount", "3", "-addr", addr, "-pid", strconv.Itoa(os.Getpid())}, &out)
	want := "window-overflow: 3 of 3 connections taken, 0 answers, 0 resets; ended with FLOW_CONTROL_ERROR; CPU "
	if err != nil || !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "CPU 0.000 s") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// These are attacks: they stay on this machine, are known, and end.
func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-attack ping-flood -addr 192.0.2.1:80":                   "not an address of the loopback interface",
		"-attack ping-flood -addr example.com:80":                 "not an address of the loopback interface",
		"-attack ping-flood -addr 0.0.0.0:80":                     "not an address of the loopback interface",
		"-attack ping-flood -addr [::]:80":                        "not an address of the loopback interface",
		"-attack ping-flood -addr 127.0.0.1":                      "missing port",
		"-attack ping-flood":                                      "-addr",
		"-attack fire -addr 127.0.0.1:1":                          `attack "fire" is unknown`,
		"-addr 127.0.0.1:1":                                       "-attack has to name an attack",
		"-attack ping-flood -addr 127.0.0.1:1 -duration 1h":       "-duration has to be up to 1m0s",
		"-attack ping-flood -addr 127.0.0.1:1 now":                `argument "now" is one too many`,
		"-all -servers ../attack":                                 `"../attack" is no server`,
		"-all -servers nobody":                                    "run it in bench/",
		"-attack ping-flood -addr 127.0.0.1:1 -pid 999999999":     "the server's processor time",
		"-attack idle-stream,ping-flood -addr 127.0.0.1:1 -pid 0": "connection refused",
	} {
		err := run(context.Background(), strings.Fields(args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	for addr, want := range map[string]string{"localhost:1": "127.0.0.1:1", "[::1]:2": "[::1]:2", "127.9.9.9:3": "127.9.9.9:3"} {
		if got, err := loopback(addr); got != want || err != nil {
			t.Errorf("%s: %q, %v", addr, got, err)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-list"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, a := range attacks {
		if !strings.Contains(out.String(), a.name+" ") {
			t.Errorf("%s is not listed", a.name)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	o := options{servers: []string{"ours", "theirs"}, attacks: []attack{
		{name: "quick", amount: 1000, unit: "frames", right: []http2.ErrCode{http2.ErrCodeEnhanceYourCalm}},
		{name: "slow", amount: 10, unit: "streams"},
	}}
	results := map[string][]result{
		"ours": {
			{sent: 10, ended: "ENHANCE_YOUR_CALM", right: true, cpu: 10 * time.Millisecond, memory: 1 << 20},
			{sent: 10, ended: "held", right: true, cpu: 30 * time.Millisecond},
		},
		"theirs": {
			{sent: 1000, ended: "served", cpu: time.Second, memory: 3 << 20},
			{sent: 10, ended: "held", right: true, cpu: 20 * time.Millisecond},
		},
	}
	var out bytes.Buffer
	report(&out, o, results)
	want := `| attack | offered      | ours: taken | CPU ms | MiB |        ended with | theirs: taken |  CPU ms | MiB | ended with | CPU theirs/ours |
|--------|--------------|------------:|-------:|----:|------------------:|--------------:|--------:|----:|-----------:|----------------:|
| quick  | 1,000 frames |          10 |   10.0 | 1.0 | ENHANCE_YOUR_CALM |         1,000 | 1,000.0 | 3.0 | served (!) |           100.0 |
| slow   | 10 streams   |          10 |   30.0 | 0.0 |              held |            10 |    20.0 | 0.0 |       held |             0.7 |

ours spends more than others on: slow (theirs)
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
