// Command h2get fetches URLs of one host over a single HTTP/2 connection, all at once:
//
//	h2get http://127.0.0.1:8080/ http://127.0.0.1:8080/plaintext
//
// It prints a line for each, and exits with 1 if any can't be had.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"time"

	"millrace.dev/loop"
)

func main() {
	timeout := flag.Duration("timeout", 10*time.Second, "how long everything may take")
	flag.Parse()
	pages, address, err := parse(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	fetch(ctx, group, address, pages)
	cancel()
	status := 0
	for _, p := range pages {
		fmt.Println(p)
		if p.err != nil {
			status = 1
		}
	}
	os.Exit(status)
}

// parse makes pages of URLs, and finds the address that they share.
func parse(urls []string) (pages []*page, address string, err error) {
	for _, text := range urls {
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return nil, "", err
		case u.Scheme != "http":
			return nil, "", fmt.Errorf("%s: not http://", text)
		case u.Port() == "":
			u.Host += ":80"
		}
		if address != "" && address != u.Host {
			return nil, "", fmt.Errorf("%s: not on %s", text, address)
		}
		address, u.Fragment = u.Host, "" // a fragment is not for servers
		pages = append(pages, &page{url: u.String()})
	}
	if len(pages) == 0 {
		err = errors.New("give one or more URLs: http://HOST[:PORT]/PATH")
	}
	return pages, address, err
}
