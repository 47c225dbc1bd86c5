package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestStart(t *testing.T) {
	t.Parallel()
	p, err := Start(StartData{
		Facts: []Fact{{"Colour", "<blue>"}},
		Dir:   "/srv/a&b",
		Base:  "http://127.0.0.1:1234",
	})
	if err != nil {
		t.Fatal(err)
	}
	html := string(p.HTML)
	for _, want := range []string{
		"&lt;blue&gt;", "/srv/a&amp;b", "curl http://127.0.0.1:1234/plaintext",
		`href="/plaintext"`, `href="/json"`, `href="/files/"`, `href="/stats"`, `href="/stats/stream"`,
		`href="/live"`, `href="/healthz"`, `href="/upload"`, `href="/form"`, "<code>/echo</code>", "<code>/length</code>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(p.Policy, "script-src") {
		t.Error("the policy of a page without a script allows one")
	}
	without, err := Start(StartData{})
	if err != nil {
		t.Fatal(err)
	}
	if html := string(without.HTML); strings.Contains(html, `href="/files/"`) || !strings.Contains(html, "--dir") {
		t.Error("without a directory the page has to say how to serve one")
	}
}

// The policy lets the page's one script run by its digest, so that has to be the digest of
// what is in the page.
func TestLivePolicyFitsScript(t *testing.T) {
	t.Parallel()
	p, err := Live()
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllSubmatch(p.HTML, -1)
	if len(script) != 1 {
		t.Fatalf("%d scripts", len(script))
	}
	sum := sha256.Sum256(script[0][1])
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(p.Policy, want) {
		t.Errorf("the policy %q lacks %s", p.Policy, want)
	}
}

// A page is one document: nothing in it is fetched from elsewhere.
func TestPagesAreSelfContained(t *testing.T) {
	t.Parallel()
	start, err := Start(StartData{Base: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	live, err := Live()
	if err != nil {
		t.Fatal(err)
	}
	forms, err := Forms()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(forms.Policy, "form-action 'self'") || strings.Contains(start.Policy, "form-action 'self'") {
		t.Errorf("policies %q, %q", forms.Policy, start.Policy)
	}
	foreign := regexp.MustCompile(`(src=|@import|url\(|<link[^>]+href="[^d])`)
	for name, p := range map[string]Page{"start": start, "live": live, "forms": forms} {
		if found := foreign.Find(p.HTML); found != nil {
			t.Errorf("the %s page has %q", name, found)
		}
		for _, want := range []string{"<!doctype html>", `lang="en"`, "prefers-color-scheme: dark", "viewport"} {
			if !strings.Contains(string(p.HTML), want) {
				t.Errorf("the %s page lacks %s", name, want)
			}
		}
	}
}

func Example() {
	p, err := Start(StartData{Base: "http://127.0.0.1:8080"})
	fmt.Println(strings.Contains(string(p.HTML), "Millrace is running"), err)
	// Output: true <nil>
}
