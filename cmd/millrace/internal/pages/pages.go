package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
)

// Style is the style sheet that all pages share.
//
//go:embed style.css
var Style string

//go:embed start.html
var startSource string

//go:embed live.html
var liveSource string

//go:embed forms.html
var formsSource string

//go:embed live.js
var liveScript string

// Page is a page that is ready to be sent.
type Page struct {
	HTML []byte
	// Policy is its Content-Security-Policy.
	Policy string
}

// Fact is a line of the start page's table.
type Fact struct{ Name, Value string }

// StartData is what the start page says.
type StartData struct {
	Facts []Fact
	Dir   string // the directory at /files/, or empty
	Base  string // the server's URL without a slash at the end, for the examples
}

// Start renders the start page.
func Start(d StartData) (Page, error) {
	return render(startSource, struct {
		StartData
		Style template.CSS
	}{d, template.CSS(Style)}, "")
}

// Live renders the page of charts.
func Live() (Page, error) {
	return render(liveSource, struct {
		Style  template.CSS
		Script template.JS
	}{template.CSS(Style), template.JS(liveScript)}, liveScript)
}

// Forms renders the page of forms, which may be sent to this server.
func Forms() (Page, error) {
	p, err := render(formsSource, struct{ Style template.CSS }{template.CSS(Style)}, "")
	p.Policy = strings.Replace(p.Policy, "form-action 'none'", "form-action 'self'", 1)
	return p, err
}

func render(source string, data any, script string) (p Page, err error) {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return p, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return p, err
	}
	return Page{b.Bytes(), Policy(script)}, nil
}

// Policy returns the Content-Security-Policy of a page whose only script is the one given,
// or that has none. Styles are inline and harmless, so they are allowed as they are.
func Policy(script string) string {
	p := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if script == "" {
		return p
	}
	sum := sha256.Sum256([]byte(script))
	return p + "; connect-src 'self'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
