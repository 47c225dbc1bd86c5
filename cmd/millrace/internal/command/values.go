package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of flag values. Each says in its error what it would have taken.

// textValue is any text.
type textValue string

func (v *textValue) String() string     { return string(*v) }
func (v *textValue) Set(s string) error { *v = textValue(s); return nil }

// switchValue is a flag without a value.
type switchValue bool

func (v *switchValue) String() string   { return strconv.FormatBool(bool(*v)) }
func (v *switchValue) IsBoolFlag() bool { return true }

func (v *switchValue) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("want true or false")
	}
	*v = switchValue(on)
	return nil
}

// countValue is a whole number from 0 up.
type countValue int

func (v *countValue) String() string { return strconv.Itoa(int(*v)) }

func (v *countValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return errors.New("want a whole number from 0 up")
	}
	*v = countValue(n)
	return nil
}

// choiceValue is one of a few words.
type choiceValue struct {
	word  string
	words []string
}

func (v *choiceValue) String() string { return v.word }

func (v *choiceValue) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("want one of %s", strings.Join(v.words, ", "))
	}
	v.word = s
	return nil
}

// none switches a limit off where that is allowed.
const none = "none"

// timeValue is a span of time; 0 is none.
type timeValue time.Duration

func (v *timeValue) String() string {
	if *v == 0 {
		return none
	}
	return time.Duration(*v).String()
}

func (v *timeValue) Set(s string) error {
	if s == none {
		*v = 0
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("want a time such as 1m30s or 500ms, or none")
	}
	*v = timeValue(d)
	return nil
}

// sizeValue is a number of bytes; -1 is none.
type sizeValue int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"", 1}}

func (v *sizeValue) String() string {
	if *v < 0 {
		return none
	}
	for _, u := range slices.Backward(sizeUnits[:3]) {
		if *v > 0 && int64(*v)%u.bytes == 0 {
			return strconv.FormatInt(int64(*v)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (v *sizeValue) Set(s string) error {
	if s == none {
		*v = -1
		return nil
	}
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || int64(n) > math.MaxInt64/u.bytes {
			break
		}
		*v = sizeValue(int64(n) * u.bytes)
		return nil
	}
	return errors.New("want a number of bytes such as 4096, 64KiB or 10MiB, or none")
}
