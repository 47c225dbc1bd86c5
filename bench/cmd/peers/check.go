package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"millrace.dev/bench/internal/hello"
)

// checkAll starts each server once and has it prove that it does the same work as the
// others: a comparison with one that answers less would say nothing.
func checkAll(ctx context.Context, programs []program) error {
	for _, p := range programs {
		process, err := p.start(ctx)
		if err != nil {
			return err
		}
		if p.plays&http1 != 0 {
			err = checkServer(process.Addr)
		}
		if p.plays&http2 != 0 {
			err = errors.Join(err, checkHTTP2(ctx, process.Addr, p.resource()))
		}
		process.Stop()
		if err != nil {
			return fmt.Errorf("%s does not answer as it should: %w", p.name, err)
		}
	}
	return nil
}

// checkServer sends three requests at once, the last with Connection: close.
func checkServer(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	requests := strings.Repeat(getRequest(addr, ""), 2) + getRequest(addr, "Connection: close\r\n")
	if _, err := io.WriteString(c, requests); err != nil {
		return err
	}
	in := bufio.NewReader(c)
	for i := range 3 {
		if err := checkAnswer(in, i == 2); err != nil {
			return fmt.Errorf("answer %d: %w", i+1, err)
		}
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the last answer: %v instead of a close", err)
	}
	return nil
}

// checkHTTP2 sends three requests on one connection, at once but for the first.
func checkHTTP2(ctx context.Context, addr, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	transport := &http.Transport{Protocols: new(http.Protocols), MaxConnsPerHost: 1}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	check := func() error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
		if err != nil {
			return err
		}
		a, err := transport.RoundTrip(r)
		if err == nil {
			err = checkContent(a)
		}
		return err
	}
	err := check()
	more := make(chan error)
	for range 2 {
		go func() { more <- check() }()
	}
	if err = errors.Join(err, <-more, <-more); err != nil {
		return fmt.Errorf("HTTP/2: %w", err)
	}
	return nil
}

func checkAnswer(in *bufio.Reader, last bool) error {
	a, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if err := checkContent(a); err != nil {
		return err
	}
	if a.Close != last {
		return fmt.Errorf("the close of the connection is announced: %v, should be %v", a.Close, last)
	}
	return nil
}

// checkContent reads an answer to its end and compares it with what all have to answer.
func checkContent(a *http.Response) error {
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	switch {
	case err != nil:
		return err
	case a.StatusCode != 200 || string(body) != hello.Body || a.ContentLength != int64(len(body)):
		return fmt.Errorf("status %d, length %d, body %q", a.StatusCode, a.ContentLength, body)
	case !strings.HasPrefix(a.Header.Get("Content-Type"), hello.ContentType) || a.Header.Get("Date") == "":
		return fmt.Errorf("missing Content-Type or Date: %v", a.Header)
	}
	return nil
}

// getRequest returns a GET of the compared resource; fields are more header lines.
func getRequest(addr, fields string) string {
	return "GET " + hello.Path + " HTTP/1.1\r\nHost: " + addr + "\r\n" + fields + "\r\n"
}
