package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
)

// readFiles reads what a run goes on from, before it takes its time, so that nothing has to be
// thrown away at the end: the results that those of whole topics will join, and those to
// compare with, nil without -compare.
func (l *lab) readFiles() (before, old *result.Report, err error) {
	before = new(result.Report)
	if !l.partial() && l.json != "" {
		b, err := result.Load(l.json)
		if err == nil {
			before = b
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("%w: it would be written over", err)
		}
	}
	if l.compare != "" {
		if old, err = result.Load(l.compare); err != nil {
			return nil, nil, err
		}
	}
	if l.docs != "" {
		text, err := os.ReadFile(l.docs)
		if err == nil {
			_, err = report.TopicsIn(string(text))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("-docs %s: %w", l.docs, err)
		}
	}
	return before, old, nil
}

// write writes the files that the flags name. What was measured joins what there was before.
func (l *lab) write(before, measured *result.Report) error {
	before.Keep(l.exists)
	before.Merge(measured)
	measured = before
	if l.json != "" {
		if err := measured.Save(l.json); err != nil {
			return err
		}
		wrote(l.json)
	}
	return l.writeReports(measured)
}

// writeAgain writes the reports from the results that there are.
func (l *lab) writeAgain() error {
	measured, err := result.Load(l.json)
	if err != nil {
		return err
	}
	measured.Keep(l.exists)
	return l.writeReports(measured)
}

// exists says whether there still is a topic of that name.
func (l *lab) exists(name string) bool {
	return slices.ContainsFunc(l.all, func(t *topic) bool { return t.name == name })
}

func (l *lab) writeReports(measured *result.Report) error {
	r := l.reportOf(measured)
	var errs []error
	if l.html != "" {
		var page bytes.Buffer
		err := r.WriteHTML(&page)
		if err == nil {
			err = result.WriteFile(l.html, page.Bytes())
		}
		if err == nil {
			wrote(l.html)
		}
		errs = append(errs, err)
	}
	if l.docs != "" {
		err := l.writeDocs(r)
		if err == nil {
			wrote(l.docs)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writeDocs replaces the lab's part of a document, unless a table would get lost: one that
// another checkout measured, whose results are not here.
func (l *lab) writeDocs(r report.Report) error {
	text, err := os.ReadFile(l.docs)
	if err != nil {
		return err
	}
	there, err := report.TopicsIn(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", l.docs, err)
	}
	var lost []string
	for _, name := range there {
		if l.exists(name) && r.Measured.Topic(name) == nil {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%s stays as it is: it has tables whose results are not in %s (%s); measure these topics too",
			l.docs, l.json, strings.Join(lost, ","))
	}
	spliced, err := report.Splice(string(text), r.Markdown())
	if err != nil {
		return err
	}
	return result.WriteFile(l.docs, []byte(spliced))
}

func wrote(path string) { fmt.Fprintln(os.Stderr, "wrote", path) }
