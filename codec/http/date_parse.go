package http

import "time"

// ParseDate reads an HTTP-date, RFC 9110 section 5.6.7, in any of the three forms that a
// recipient has to accept:
//
//	Sun, 06 Nov 1994 08:49:37 GMT   IMF-fixdate
//	Sunday, 06-Nov-94 08:49:37 GMT  RFC 850, obsolete
//	Sun Nov  6 08:49:37 1994        asctime, obsolete
//
// Two digits of a year mean the latest such year that is no more than 50 years after now.
// ok is false for anything else: the grammar has one spelling of each part, and a day has to
// exist in its month. Whether it was that day of the week is not looked at, and a leap second
// is the first second of the next day. The time is in UTC.
func ParseDate(value []byte, now time.Time) (t time.Time, ok bool) {
	switch {
	case len(value) == len("Sun, 06 Nov 1994 08:49:37 GMT") && value[3] == ',':
		return parseFixdate(value)
	case len(value) == len("Sun Nov  6 08:49:37 1994") && value[3] == ' ':
		return parseAsctime(value)
	}
	return parseRFC850(value, now)
}

func parseFixdate(p []byte) (t time.Time, ok bool) {
	if p[4] != ' ' || p[7] != ' ' || p[11] != ' ' || p[16] != ' ' || string(p[25:]) != " GMT" || weekday(p[:3]) < 0 {
		return t, false
	}
	return dateOf(number(p[12:16]), month(p[8:11]), number(p[5:7]), p[17:25])
}

func parseAsctime(p []byte) (t time.Time, ok bool) {
	if p[7] != ' ' || p[10] != ' ' || p[19] != ' ' || weekday(p[:3]) < 0 {
		return t, false
	}
	day := p[8:10]
	if day[0] == ' ' {
		day = day[1:]
	}
	return dateOf(number(p[20:24]), month(p[4:7]), number(day), p[11:19])
}

func parseRFC850(p []byte, now time.Time) (t time.Time, ok bool) {
	cut := len(p) - len(", 06-Nov-94 08:49:37 GMT")
	if cut < len("Monday") {
		return t, false
	}
	day := weekday(p[:3])
	if day < 0 || string(p[:cut]) != day.String() {
		return t, false
	}
	p = p[cut:]
	year := number(p[9:11])
	if p[0] != ',' || p[1] != ' ' || p[4] != '-' || p[8] != '-' || p[11] != ' ' || string(p[20:]) != " GMT" || year < 0 {
		return t, false
	}
	limit := now.UTC().AddDate(50, 0, 0)
	if year += limit.Year() / 100 * 100; year > limit.Year() {
		year -= 100
	}
	t, ok = dateOf(year, month(p[5:8]), number(p[2:4]), p[12:20])
	if ok && t.After(limit) { // later in that very year
		return dateOf(year-100, month(p[5:8]), number(p[2:4]), p[12:20])
	}
	return t, ok
}

// dateOf puts the parts together. A part that was none is negative.
func dateOf(year int, month time.Month, day int, clock []byte) (t time.Time, ok bool) {
	hour, minute, second := number(clock[:2]), number(clock[3:5]), number(clock[6:8])
	switch {
	case year < 0 || month < 0 || day < 1 || hour < 0 || minute < 0 || second < 0 || clock[2] != ':' || clock[5] != ':',
		hour > 23 || minute > 59 || day > daysIn(year, month),
		second > 59 && (second > 60 || minute != 59 || hour != 23): // leap seconds end a day
		return t, false
	}
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC), true
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	}
	return 31
}

// number reads digits and nothing else, else it is -1.
func number(p []byte) int {
	n := 0
	for _, c := range p {
		d := c - '0'
		if d > 9 {
			return -1
		}
		n = n*10 + int(d)
	}
	return n
}

// weekday returns the day with that abbreviation, or -1.
func weekday(p []byte) time.Weekday {
	switch string(p) {
	case "Sun":
		return time.Sunday
	case "Mon":
		return time.Monday
	case "Tue":
		return time.Tuesday
	case "Wed":
		return time.Wednesday
	case "Thu":
		return time.Thursday
	case "Fri":
		return time.Friday
	case "Sat":
		return time.Saturday
	}
	return -1
}

// month returns the month with that abbreviation, or -1.
func month(p []byte) time.Month {
	switch string(p) {
	case "Jan":
		return time.January
	case "Feb":
		return time.February
	case "Mar":
		return time.March
	case "Apr":
		return time.April
	case "May":
		return time.May
	case "Jun":
		return time.June
	case "Jul":
		return time.July
	case "Aug":
		return time.August
	case "Sep":
		return time.September
	case "Oct":
		return time.October
	case "Nov":
		return time.November
	case "Dec":
		return time.December
	}
	return -1
}
