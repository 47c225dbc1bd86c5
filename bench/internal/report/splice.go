package report

import (
	"errors"
	"strings"
)

// The lines between which the generated part of a document stands.
const (
	beginMarker = "<!-- lab:begin -->"
	endMarker   = "<!-- lab:end -->"
)

const topicPrefix, topicSuffix = "<!-- lab:topic ", " -->"

// topicMarker is the line before a topic's heading.
func topicMarker(name string) string { return topicPrefix + name + topicSuffix }

// Splice returns document with what is between its two markers replaced by generated. The
// rest is as it was, to the byte.
func Splice(document, generated string) (string, error) {
	begin, end, err := markers(document)
	if err != nil {
		return "", err
	}
	return document[:begin] + "\n\n" + strings.TrimSpace(generated) + "\n\n" + document[end:], nil
}

// TopicsIn returns the names of the topics whose tables are in the generated part of document.
func TopicsIn(document string) ([]string, error) {
	begin, end, err := markers(document)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(document[begin:end]) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), topicPrefix); ok {
			names = append(names, strings.TrimSuffix(rest, topicSuffix))
		}
	}
	return names, nil
}

// markers returns where the generated part begins, behind its marker, and where the marker
// of its end begins.
func markers(document string) (begin, end int, err error) {
	begin, end = strings.Index(document, beginMarker), strings.Index(document, endMarker)
	if begin < 0 || end < begin || strings.Count(document, beginMarker) > 1 || strings.Count(document, endMarker) > 1 {
		return 0, 0, errors.New("the document needs one line " + beginMarker + " and, below it, one line " + endMarker)
	}
	return begin + len(beginMarker), end, nil
}
