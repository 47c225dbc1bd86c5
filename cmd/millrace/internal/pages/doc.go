// Package pages has the HTML pages of the tool: the start page and the live charts. Each is
// one self-contained document, so that it needs no build step and no second request, and
// its Content-Security-Policy lets run what is in it and nothing else.
package pages
