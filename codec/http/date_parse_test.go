package http

import (
	nethttp "net/http"
	"testing"
	"time"
)

// dateNow is when the tests take place: two digits of a year stand for 1976 to 2075.
var dateNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Sun, 06 Nov 1994 08:49:37 GMT":     "1994-11-06T08:49:37Z",
		"Sunday, 06-Nov-94 08:49:37 GMT":    "1994-11-06T08:49:37Z",
		"Sun Nov  6 08:49:37 1994":          "1994-11-06T08:49:37Z",
		"Sun Nov 16 08:49:37 1994":          "1994-11-16T08:49:37Z",
		"Sun Nov 06 08:49:37 1994":          "1994-11-06T08:49:37Z",
		"Mon, 29 Feb 2016 00:00:00 GMT":     "2016-02-29T00:00:00Z",
		"Tue, 29 Feb 2000 23:59:59 GMT":     "2000-02-29T23:59:59Z",
		"Sat, 31 Dec 2016 23:59:60 GMT":     "2017-01-01T00:00:00Z",
		"Thu, 01 Jan 9999 00:00:00 GMT":     "9999-01-01T00:00:00Z",
		"Sun, 01 Jan 0000 00:00:00 GMT":     "0000-01-01T00:00:00Z",
		"Wednesday, 01-Jan-70 00:00:00 GMT": "2070-01-01T00:00:00Z",
		"Wednesday, 01-Jan-76 00:00:00 GMT": "2076-01-01T00:00:00Z",
		"Sunday, 01-Mar-76 12:00:00 GMT":    "2076-03-01T12:00:00Z",
		"Sunday, 01-Mar-76 12:00:01 GMT":    "1976-03-01T12:00:01Z",
		"Saturday, 01-Jan-77 00:00:00 GMT":  "1977-01-01T00:00:00Z",
		"Thursday, 29-Feb-24 00:00:00 GMT":  "2024-02-29T00:00:00Z",

		"":                               "",
		"Sun":                            "",
		"0":                              "",
		"Sun, 06 Nov 1994 08:49:37":      "",
		"Sun, 06 Nov 1994 08:49:37 UTC":  "",
		"Sun, 06 Nov 1994 08:49:37 gmt":  "",
		"Sun, 06 Nov 1994 8:49:37 GMT":   "",
		"Sun, 6 Nov 1994 08:49:37 GMT":   "",
		"Sun, 06 nov 1994 08:49:37 GMT":  "",
		"sun, 06 Nov 1994 08:49:37 GMT":  "",
		"Sun, 00 Nov 1994 08:49:37 GMT":  "",
		"Sun, 31 Nov 1994 08:49:37 GMT":  "",
		"Sun, 32 Dec 1994 08:49:37 GMT":  "",
		"Sun, 29 Feb 1900 08:49:37 GMT":  "",
		"Sun, 30 Feb 2000 08:49:37 GMT":  "",
		"Sun, 06 Nov 1994 24:00:00 GMT":  "",
		"Sun, 06 Nov 1994 08:60:37 GMT":  "",
		"Sun, 06 Nov 1994 08:49:60 GMT":  "",
		"Sun, 06 Nov 1994 23:59:61 GMT":  "",
		"Sun, 06 Nov 1994 -8:49:37 GMT":  "",
		"Sun, 06 Nov +994 08:49:37 GMT":  "",
		"Sun; 06 Nov 1994 08:49:37 GMT":  "",
		"Sun, 06-Nov-1994 08:49:37 GMT":  "",
		"Sunday, 06-Nov-9x 08:49:37 GMT": "",
		"Sun, 06-Nov-94 08:49:37 GMT":    "",
		"Sonday, 06-Nov-94 08:49:37 GMT": "",
		"Sunday, 06 Nov 94 08:49:37 GMT": "",
		"Monday, 06-Nov-94 08.49.37 GMT": "",
		"Sun Nov 6 08:49:37 1994":        "",
		"Sun Nov   08:49:37 1994 ":       "",
		"Sun Nov  0 08:49:37 1994":       "",
		"Sun Nov  6 08:49:37 994 ":       "",
	} {
		got, ok := ParseDate([]byte(text), dateNow)
		switch {
		case ok != (want != ""):
			t.Errorf("%q: %v", text, ok)
		case ok && got.Format(time.RFC3339) != want:
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

// forms has a time in all forms.
func forms(at time.Time) []string {
	return []string{at.Format(nethttp.TimeFormat), at.Format("Monday, 02-Jan-06 15:04:05 GMT"), at.Format(time.ANSIC)}
}

func TestParseDateReadsEveryDay(t *testing.T) {
	t.Parallel()
	for at := time.Date(1977, 1, 1, 0, 0, 1, 0, time.UTC); at.Year() < 2076; at = at.Add(25*time.Hour + 61*time.Second) {
		for _, text := range forms(at) {
			if got, ok := ParseDate([]byte(text), dateNow); !ok || !got.Equal(at) {
				t.Fatalf("%s: %v %v, want %v", text, got, ok, at)
			}
		}
		if got, ok := ParseDate(AppendDate(nil, at), dateNow); !ok || !got.Equal(at) {
			t.Fatalf("%v came back as %v", at, got)
		}
	}
}

func TestParseDateWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{{}, time.Unix(0, 0), time.Date(-50, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)} {
		for year := range 100 {
			at := time.Date(1900+year, 2, 3, 4, 5, 6, 0, time.UTC)
			got, ok := ParseDate([]byte(forms(at)[1]), now)
			if ok && (got.Year()%100 != year || got.After(now.AddDate(50, 0, 0)) || got.Before(now.AddDate(-50, 0, -1))) {
				t.Errorf("in %v, %v is %v", now, year, got)
			}
			if !ok && now.Year() > 100 {
				t.Errorf("in %v, %v is nothing", now, year)
			}
		}
	}
}

func TestParseDateAllocatesNothing(t *testing.T) {
	for _, text := range forms(dateNow) {
		p := []byte(text)
		if n := testing.AllocsPerRun(10, func() { ParseDate(p, dateNow) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// What is a date is a date for net/http too, and the same one; what net/http takes is a date
// here if it is spelt as the grammar has it.
func FuzzParseDate(f *testing.F) {
	for _, text := range forms(dateNow) {
		f.Add([]byte(text))
	}
	f.Add([]byte("Sat, 31 Dec 2016 23:59:60 GMT"))
	f.Add([]byte("sunday, 06-Nov-94 8:49:37.5 PST"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := ParseDate(text, dateNow)
		want, err := nethttp.ParseTime(string(text))
		if err != nil {
			if ok && got.Second() != 0 { // but net/http knows no leap seconds
				t.Errorf("%q: %v, net/http: %v", text, got, err)
			}
			return
		}
		spelt := false
		for _, form := range forms(want) {
			spelt = spelt || form == string(text)
		}
		if !ok {
			// The day of the week is taken as it is, so that only one that is right says more.
			if spelt {
				t.Errorf("%q is not a date, net/http: %v", text, want)
			}
			return
		}
		// Of two digits net/http makes 1969 to 2068.
		years := got.Year() - want.Year()
		if years%100 != 0 || !got.Equal(want.AddDate(years, 0, 0)) {
			t.Errorf("%q: %v, net/http: %v", text, got, want)
		}
	})
}
