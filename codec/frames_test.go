package codec_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace.dev/codec"
)

func TestLengthFieldDecoder(t *testing.T) {
	t.Parallel()
	type o = codec.LengthFieldOptions
	for name, row := range map[string]struct {
		o    o
		in   string
		want []string
	}{
		"one byte":        {o{Width: 1}, "\x00\x01a\x03bcd", []string{"\x00", "\x01a", "\x03bcd"}},
		"two, stripped":   {o{Width: 2, Strip: 2}, "\x00\x03abc\x00\x00\x00\x01d", []string{"abc", "", "d"}},
		"three":           {o{Width: 3, Strip: 3}, "\x00\x00\x02ab\x00\x00\x01c", []string{"ab", "c"}},
		"four":            {o{Width: 4, Strip: 4}, "\x00\x00\x00\x02ab\x00\x00\x00\x01c", []string{"ab", "c"}},
		"eight":           {o{Width: 8, Strip: 8}, "\x00\x00\x00\x00\x00\x00\x00\x02ab", []string{"ab"}},
		"little-endian 2": {o{Width: 2, Strip: 2, LittleEndian: true}, "\x03\x00abc\x01\x00d", []string{"abc", "d"}},
		"little-endian 3": {o{Width: 3, Strip: 3, LittleEndian: true}, "\x02\x00\x00ab", []string{"ab"}},
		"little-endian 4": {o{Width: 4, Strip: 4, LittleEndian: true}, "\x02\x00\x00\x00ab", []string{"ab"}},
		"little-endian 8": {o{Width: 8, Strip: 8, LittleEndian: true}, "\x02\x00\x00\x00\x00\x00\x00\x00ab", []string{"ab"}},
		"counts itself":   {o{Width: 2, Adjust: -2, Strip: 2}, "\x00\x05abc\x00\x02\x00\x03d", []string{"abc", "", "d"}},
		"in the middle":   {o{Offset: 1, Width: 2, Adjust: 1}, "X\x00\x02Yab" + "X\x00\x00Y", []string{"X\x00\x02Yab", "X\x00\x00Y"}},
		"in the middle, stripped": {o{Offset: 1, Width: 1, Adjust: -2, Strip: 3},
			"X\x06Yabc", []string{"abc"}},
		"cut short":         {o{Width: 1, Strip: 1}, "\x02ab\x03de", []string{"ab", cutShort}},
		"cut in its header": {o{Width: 2}, "\x00", []string{cutShort}},
		"nothing":           {o{Width: 2}, "", nil},
		"at the limit":      {o{Width: 1, MaxFrame: 4}, "\x03abc", []string{"\x03abc"}},
		"over the limit":    {o{Width: 1, MaxFrame: 4}, "\x04abcd\x01e", []string{tooLong(5, 4), "\x01e"}},
		"over, reported late": {o{Width: 1, MaxFrame: 4, FailLate: true}, "\x04abcd\x01e",
			[]string{tooLong(5, 4), "\x01e"}},
		"over, and cut short": {o{Width: 1, MaxFrame: 4}, "\x40abcd", []string{tooLong(65, 4)}},
		"over, late and cut short": {o{Width: 1, MaxFrame: 4, FailLate: true}, "\x40abcd",
			[]string{tooLong(65, 4)}},
		"beyond all bounds": {o{Width: 8, MaxFrame: 4 + 8}, "\xff\xff\xff\xff\xff\xff\xff\xffabcd",
			[]string{"<codec: frame: 18446744073709551615 bytes or more are over the limit of 12>"}},
		"beyond, adjusted up": {o{Width: 8, MaxFrame: 12, Adjust: 9}, "\xff\xff\xff\xff\xff\xff\xff\xffabcd",
			[]string{"<codec: frame: 18446744073709551615 bytes or more are over the limit of 12>"}},
		"beyond, adjusted down": {o{Width: 8, MaxFrame: 12, Adjust: -10}, "\xff\xff\xff\xff\xff\xff\xff\xffabcd",
			[]string{"<codec: frame: 18446744073709551613 bytes or more are over the limit of 12>"}},
		"beyond, even adjusted down": {o{Width: 8, MaxFrame: 12, Adjust: -3}, "\xff\xff\xff\xff\xff\xff\xff\xffabcd",
			[]string{"<codec: frame: 18446744073709551615 bytes or more are over the limit of 12>"}},
		"shorter than its header": {o{Width: 1, Adjust: -1}, "\x01\x00ab\x01",
			[]string{"\x01", "<codec: frame: corrupt length: 0 ends the frame inside its header>"}},
		"shorter than nothing": {o{Width: 1, Adjust: -3}, "\x01ab",
			[]string{"<codec: frame: corrupt length: 1 leaves less than nothing>"}},
		"shorter than what is stripped": {o{Width: 1, Strip: 3}, "\x02ab\x01a\x02ab",
			[]string{"", "<codec: frame: corrupt length: 1 leaves fewer bytes than are to be stripped>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSplits(t, func() codec.Decoder { return must(codec.NewLengthFieldDecoder(row.o)) }, row.in, row.want...)
		})
	}
}

func TestLengthFieldOptions(t *testing.T) {
	t.Parallel()
	type o = codec.LengthFieldOptions
	for _, bad := range []o{
		{}, {Width: 5}, {Width: 6}, {Width: 7}, {Width: 9}, {Width: -1}, {Width: 1, Offset: -1}, {Width: 1, Strip: -1},
		{Width: 4, MaxFrame: 3}, {Width: 4, MaxFrame: 8, Offset: 5}, {Width: 1, MaxFrame: -1}, {Width: 1, MaxFrame: 4, Strip: 5},
		{Width: 4, Offset: math.MaxInt},
	} {
		if _, err := codec.NewLengthFieldDecoder(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	for _, width := range []int{0, 5, 9} {
		if _, err := codec.NewLengthFieldPrepender(codec.PrependOptions{Width: width}); err == nil {
			t.Errorf("a prepender of width %d was accepted", width)
		}
	}
	for _, bad := range []codec.DelimiterOptions{
		{}, {Delimiters: [][]byte{{}}}, {Delimiters: [][]byte{{1}, nil}}, {Delimiters: [][]byte{{1}}, MaxFrame: -1},
	} {
		if _, err := codec.NewDelimiterDecoder(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if _, err := codec.NewLineDecoder(codec.LineOptions{MaxLine: -1}); err == nil {
		t.Error("a negative MaxLine was accepted")
	}
	if _, err := codec.NewFixedLengthDecoder(0); err == nil {
		t.Error("a fixed length of 0 was accepted")
	}
}

func TestLineDecoder(t *testing.T) {
	t.Parallel()
	type o = codec.LineOptions
	for name, row := range map[string]struct {
		o    o
		in   string
		want []string
	}{
		"LF and CRLF":     {o{}, "a\nbc\r\n\n\r\nd\r\r\ne\rf\n", []string{"a", "bc", "", "", "d\r", "e\rf"}},
		"kept":            {o{Keep: true}, "a\nbc\r\n\n\r\n", []string{"a\n", "bc\r\n", "\n", "\r\n"}},
		"no end":          {o{}, "a\nb", []string{"a", cutShort}},
		"last line":       {o{LastLine: true}, "a\nb", []string{"a", "b"}},
		"no last line":    {o{LastLine: true}, "a\n", []string{"a"}},
		"lone CR last":    {o{LastLine: true}, "a\nb\r", []string{"a", "b\r"}},
		"at the limit":    {o{MaxLine: 3}, "abc\nabc\r\nabc", []string{"abc", "abc", cutShort}},
		"over":            {o{MaxLine: 3}, "abcd\nef\n", []string{tooLong(4, 3), "ef"}},
		"over, late":      {o{MaxLine: 3, FailLate: true}, "abcdefgh\r\nef\n", []string{tooLong(8, 3), "ef"}},
		"over, no end":    {o{MaxLine: 3, FailLate: true}, "abcdefgh", []string{tooLong(8, 3)}},
		"CR at the limit": {o{MaxLine: 3}, "abc\r\nabc\rd\r\nef\n", []string{"abc", tooLong(5, 3), "ef"}},
		"last line over":  {o{MaxLine: 3, LastLine: true}, "abcd", []string{tooLong(4, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLines(t, func() codec.Decoder { return must(codec.NewLineDecoder(row.o)) }, row.in, row.want...)
		})
	}
}

// checkLines is checkSplits where the length that a TooLongError gives depends on how much
// had come.
func checkLines(t *testing.T, make func() codec.Decoder, in string, want ...string) {
	t.Helper()
	for _, pieces := range splits([]byte(in)) {
		for _, limit := range []int{0, -1, 8} {
			h := codec.NewDecoderHandler(make())
			h.MergeLimit = limit
			got := decode(t, h, pieces...)
			if !slices.EqualFunc(got, want, sameFrame) {
				t.Errorf("%q in pieces %q:\ngot  %q\nwant %q", in, pieces, []string(got), want)
				return
			}
		}
	}
}

func sameFrame(a, b string) bool {
	if strings.HasPrefix(a, "<codec: frame:") && strings.Contains(a, "over the limit") {
		return strings.HasPrefix(b, "<codec: frame:") && a[strings.Index(a, "bytes"):] == b[strings.Index(b, "bytes"):]
	}
	return a == b
}

func TestDelimiterDecoder(t *testing.T) {
	t.Parallel()
	list := func(delimiters ...string) (l [][]byte) {
		for _, d := range delimiters {
			l = append(l, []byte(d))
		}
		return l
	}
	type o = codec.DelimiterOptions
	for name, row := range map[string]struct {
		o    o
		in   string
		want []string
	}{
		"NUL":     {o{Delimiters: list("\x00")}, "a\x00\x00bc\x00", []string{"a", "", "bc"}},
		"several": {o{Delimiters: list(";", "END")}, "a;bENDc;ENEND", []string{"a", "b", "c", "EN"}},
		"several kept": {o{Delimiters: list(";", "END"), Keep: true}, "a;bENDc;ENEND",
			[]string{"a;", "bEND", "c;", "ENEND"}},
		"starts again":        {o{Delimiters: list("aab")}, "aaabaab", []string{"a", ""}},
		"one inside another":  {o{Delimiters: list("xyz", "y")}, "axyzb", []string{"ax", cutShort}},
		"the longest counts":  {o{Delimiters: list("z", "yz", "xyz")}, "axyzayzaz", []string{"a", "a", "a"}},
		"the earliest counts": {o{Delimiters: list("--", "---")}, "a---b--", []string{"a", "-b"}},
		"at the limit":        {o{Delimiters: list("--"), MaxFrame: 2}, "ab--a---", []string{"ab", "a", cutShort}},
		"over":                {o{Delimiters: list("--"), MaxFrame: 2}, "abc--ab--", []string{tooLong(3, 2), "ab"}},
		"over, late":          {o{Delimiters: list("--"), MaxFrame: 2, FailLate: true}, "abcdefgh--ab--", []string{tooLong(8, 2), "ab"}},
		"last frame":          {o{Delimiters: list("--"), LastFrame: true}, "a--b-", []string{"a", "b-"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLines(t, func() codec.Decoder { return must(codec.NewDelimiterDecoder(row.o)) }, row.in, row.want...)
		})
	}
}

func TestFixedLengthDecoder(t *testing.T) {
	t.Parallel()
	checkSplits(t, func() codec.Decoder { return must(codec.NewFixedLengthDecoder(3)) }, "abcdefgh", "abc", "def", cutShort)
	checkSplits(t, func() codec.Decoder { return must(codec.NewFixedLengthDecoder(1)) }, "abc", "a", "b", "c")
}

// A frame over the limit is skipped as it comes, without being kept.
func TestTooLongFramesAreNotKept(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]codec.Decoder{
		"length field":       must(codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 4, MaxFrame: 100})),
		"length field, late": must(codec.NewLengthFieldDecoder(codec.LengthFieldOptions{Width: 4, MaxFrame: 100, FailLate: true})),
		"line":               must(codec.NewLineDecoder(codec.LineOptions{MaxLine: 100})),
		"line, late":         must(codec.NewLineDecoder(codec.LineOptions{MaxLine: 100, FailLate: true})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out := emptyBuffer(), codec.NewOutputList()
			defer in.Close()
			defer out.Recycle()
			_, _ = in.Write(binary.BigEndian.AppendUint32(nil, 1<<30))
			errs := 0
			for range 1000 {
				_, _ = in.Write(make([]byte, 1000))
				for before := -1; in.Len() > 0 && in.Len() != before; {
					before = in.Len()
					if err := d.Decode(in, out); err != nil {
						errs++
					}
				}
				if in.Len() > 1 {
					t.Fatalf("%d bytes are kept", in.Len())
				}
				in.Compact()
			}
			want := 1
			if strings.Contains(name, "late") {
				want = 0
			}
			if errs != want {
				t.Errorf("%d errors, want %d", errs, want)
			}
		})
	}
}

// naiveLengths is what a length field decoder should make of the input.
func naiveLengths(in []byte, limit int, late bool) (want outcome) {
	for len(in) > 0 {
		if len(in) < 2 {
			return append(want, cutShort)
		}
		n := 2 + int(binary.BigEndian.Uint16(in))
		switch {
		case n > limit:
			want = append(want, tooLong(n, limit))
			in = in[min(n, len(in)):]
			continue
		case n > len(in):
			return append(want, cutShort)
		}
		want = append(want, string(in[2:n]))
		in = in[n:]
	}
	return want
}

func FuzzLengthFieldDecoder(f *testing.F) {
	f.Add([]byte("\x00\x01a\x00\x00\x00\x20"+strings.Repeat("x", 40)), uint64(1), false)
	f.Add([]byte("\x00\x1fabc"), uint64(7), true)
	f.Fuzz(func(t *testing.T, in []byte, seed uint64, late bool) {
		if len(in) > 4096 {
			return
		}
		const limit = 24
		h := codec.NewDecoderHandler(must(codec.NewLengthFieldDecoder(
			codec.LengthFieldOptions{Width: 2, Strip: 2, MaxFrame: limit, FailLate: late})))
		h.MergeLimit = int(seed % 40)
		got := decode(t, h, cut(in, seed)...)
		if want := naiveLengths(in, limit, late); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", []string(got), []string(want))
		}
	})
}

// naiveDelimiters is what a delimiter decoder should make of the input: it looks for the
// first position at which any delimiter ends.
func naiveDelimiters(in string, delimiters []string, limit int, keep, last bool) (want outcome) {
	start := 0
	for end := 1; end <= len(in); end++ {
		longest := ""
		for _, d := range delimiters {
			if strings.HasSuffix(in[start:end], d) && len(d) > len(longest) {
				longest = d
			}
		}
		if longest == "" {
			continue
		}
		frame := in[start : end-len(longest)]
		switch {
		case len(frame) > limit:
			frame = tooLong(len(frame), limit)
		case keep:
			frame = in[start:end]
		}
		want = append(want, frame)
		start = end
	}
	rest := in[start:]
	longest := 0
	for _, d := range delimiters {
		longest = max(longest, len(d))
	}
	switch {
	case rest == "":
	case len(rest)-(longest-1) > limit || last && len(rest) > limit:
		want = append(want, tooLong(len(rest), limit))
	case last:
		want = append(want, rest)
	default:
		want = append(want, cutShort)
	}
	return want
}

func FuzzDelimiterDecoder(f *testing.F) {
	f.Add("a\nb\r\nc", "\n", "\r\n", uint64(1), uint8(0))
	f.Add("a---b--caab", "--", "aab", uint64(2), uint8(7))
	f.Add("xyzxyzyz", "xyz", "y", uint64(3), uint8(2))
	f.Fuzz(func(t *testing.T, in, d1, d2 string, seed uint64, flags uint8) {
		if len(in) > 4096 || d1 == "" || d2 == "" || len(d1) > 8 || len(d2) > 8 {
			return
		}
		const limit = 10
		keep, late, last := flags&1 != 0, flags&2 != 0, flags&4 != 0
		h := codec.NewDecoderHandler(must(codec.NewDelimiterDecoder(codec.DelimiterOptions{
			Delimiters: [][]byte{[]byte(d1), []byte(d2)}, MaxFrame: limit, Keep: keep, FailLate: late, LastFrame: last})))
		h.MergeLimit = int(seed%40) - 1
		got := decode(t, h, cut([]byte(in), seed)...)
		want := naiveDelimiters(in, []string{d1, d2}, limit, keep, last)
		if !slices.EqualFunc(got, want, sameFrame) {
			t.Errorf("got  %q\nwant %q", []string(got), []string(want))
		}
	})
}

func ExampleNewLineDecoder() {
	d, err := codec.NewLineDecoder(codec.LineOptions{MaxLine: 80})
	if err != nil {
		fmt.Println(err)
		return
	}
	// In a pipeline: p.AddLast("lines", codec.NewDecoderHandler(d)). Here without one.
	in, out := emptyBuffer(), codec.NewOutputList()
	_, _ = in.WriteString("GET\r\nSET x\nhalf a li")
	for before := -1; in.Len() != before; {
		before = in.Len()
		_ = d.Decode(in, out)
	}
	for out.Len() > 0 {
		line := out.Take().(interface {
			Bytes() []byte
			Close()
		})
		fmt.Printf("%q\n", line.Bytes())
		line.Close()
	}
	fmt.Println("left:", in.Len())
	in.Close()
	out.Recycle()
	// Output:
	// "GET"
	// "SET x"
	// left: 9
}
