package codec

// LineOptions configures a LineDecoder. The zero value is a good default.
type LineOptions struct {
	// MaxLine is the longest line that is taken, in bytes, without its end. 0 is
	// DefaultMaxLine.
	MaxLine int
	// Keep leaves the line's end at the end of the line.
	Keep bool
	// FailLate reports a line that is too long once its end has come. By default it is
	// reported as soon as it is known.
	FailLate bool
	// LastLine makes a line of what comes last though it has no end. By default that is an
	// io.ErrUnexpectedEOF.
	LastLine bool
}

// DefaultMaxLine is the default limit of lines, in bytes.
const DefaultMaxLine = 8 << 10

// LineDecoder takes lines that end with LF or CRLF, and gives each as a *buffer.Buffer. A CR
// elsewhere is part of its line.
type LineDecoder struct{ DelimiterDecoder }

// NewLineDecoder returns a decoder for one channel, or an error for options that make no
// sense.
func NewLineDecoder(o LineOptions) (*LineDecoder, error) {
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	d := &LineDecoder{}
	err := d.init(DelimiterOptions{
		Delimiters: [][]byte{[]byte("\n"), []byte("\r\n")},
		MaxFrame:   o.MaxLine,
		Keep:       o.Keep,
		FailLate:   o.FailLate,
		LastFrame:  o.LastLine,
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}
