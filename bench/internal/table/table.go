// Package table writes Markdown tables that also read well as they are.
package table

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// widest is the width of a column, in characters, above which it is text: padding would not
// make that easier to read.
const widest = 70

// Write writes rows, the first of which is the head and all of which have as many cells, as
// a Markdown table: columns are padded, and all but the first left ones are aligned to the
// right; of these, long text is neither. A cell must not contain a line break; a | in it is
// escaped.
func Write(b *strings.Builder, left int, rows [][]string) {
	rows = escape(rows)
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, w := range widths {
		if w > widest && i >= left {
			widths[i] = 0 // no padding
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if i < left || widths[i] == 0 {
				b.WriteString("| " + cell + pad + " ")
			} else {
				b.WriteString("| " + pad + cell + " ")
			}
		}
		b.WriteString("|\n")
		if n == 0 {
			writeRule(b, left, widths)
		}
	}
}

func escape(rows [][]string) [][]string {
	escaped := make([][]string, len(rows))
	for n, row := range rows {
		for _, cell := range row {
			escaped[n] = append(escaped[n], strings.ReplaceAll(cell, "|", `\|`))
		}
	}
	return escaped
}

func writeRule(b *strings.Builder, left int, widths []int) {
	for i, w := range widths {
		if i < left || w == 0 {
			b.WriteString("|" + strings.Repeat("-", max(3, w+2)))
		} else {
			b.WriteString("|" + strings.Repeat("-", w+1) + ":")
		}
	}
	b.WriteString("|\n")
}

// Missing is what stands in a cell for a value that there is not.
const Missing = "–"

// Number formats v with so many digits after the point and its thousands grouped; Missing
// when it is not a finite number.
func Number(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Missing
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}
