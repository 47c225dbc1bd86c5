package multipart

import (
	"math"

	"millrace.dev/codec/http"
)

const urlencodedType = "application/x-www-form-urlencoded"

// urlencoded reads an urlencoded body into a Collector, by the WHATWG's rules.
type urlencoded struct {
	c          *Collector
	d          http.FormDecoder
	fieldBytes int64
	max        int64
	begun      bool // a field is coming in
}

func newURLEncoded(c *Collector, l Limits) *urlencoded {
	l = l.Effective()
	u := &urlencoded{c: c, max: l.MaxFieldBytes}
	u.d.Options = http.QueryOptions{
		MaxParameters: min(l.MaxParts, l.MaxFields),
		MaxName:       l.MaxName,
		MaxValue:      toInt(l.MaxField),
		MaxBytes:      toInt(l.MaxTotal),
	}
	return u
}

func toInt(n int64) int { return int(min(n, math.MaxInt)) }

// Write implements bodyDecoder.
func (u *urlencoded) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece, n, err := u.d.Next(rest)
		if err != nil {
			return 0, asOwn(err)
		}
		rest = rest[n:]
		if piece == nil {
			break
		}
		if err := u.take(piece); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (u *urlencoded) take(piece *http.FormPiece) error {
	c := u.c
	n := len(piece.Value)
	if !u.begun {
		u.begun = true
		c.text = append(c.text[:0], piece.Name...)
		c.nameLen = len(c.text)
		n += c.nameLen
	}
	if u.fieldBytes += int64(n); u.fieldBytes > u.max {
		return ErrFieldsTooLarge
	}
	c.text = append(c.text, piece.Value...)
	if piece.Last {
		u.begun = false
		c.addField()
	}
	return nil
}

// Finish implements bodyDecoder.
func (u *urlencoded) Finish() error {
	piece, err := u.d.Finish()
	if err != nil {
		return asOwn(err)
	}
	if piece == nil {
		return nil
	}
	return u.take(piece)
}

// asOwn gives the limits of both kinds of body the same errors.
func asOwn(err error) error {
	switch err {
	case http.ErrQueryParameters:
		return ErrTooManyFields
	case http.ErrQueryName:
		return ErrNameTooLong
	case http.ErrQueryValue:
		return ErrFieldTooLarge
	case http.ErrQuerySize:
		return ErrTooLarge
	}
	return err
}
