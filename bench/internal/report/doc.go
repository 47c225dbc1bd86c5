// Package report writes what the lab measured for people: tables in Markdown for the
// documentation, a page of HTML that needs nothing but itself, and what moved between two
// runs.
package report
