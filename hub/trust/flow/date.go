package flow

import "strings"

// dates are the forms of dates and times; 0 is a digit. Of two that begin alike the longer
// comes first. They are no values: that a date stands in the results of one site and in the
// arguments for another says nothing.
var dates = []string{
	"0000-00-00T00:00:00", "0000-00-00T00:00", "0000-00-00", "0000/00/00", "0000.00.00",
	"00000000T000000", "00000000T0000", "00000000",
	"00/00/0000", "00.00.0000", "00-00-0000",
	"00:00:00", "00:00", "0:00",
}

// dateLen returns the length of the date or time that s begins with, 0 if there is none.
func dateLen(s string) int {
	for _, form := range dates {
		if !hasForm(s, form) || !isDate(s[:len(form)]) {
			continue
		}
		n := len(form)
		if strings.Contains(form, "T") {
			n += zoneLen(s[n:])
		}
		if n == len(s) || !isDigit(s[n]) {
			return n
		}
	}
	return 0
}

func hasForm(s, form string) bool {
	if len(s) < len(form) {
		return false
	}
	for i := range len(form) {
		if form[i] == '0' != isDigit(s[i]) || form[i] != '0' && form[i] != s[i] {
			return false
		}
	}
	return true
}

// isDate reports whether a text of one of the forms has a year of now, a month and a day, or
// no date.
func isDate(s string) bool {
	switch {
	case s[1] == ':' || s[2] == ':':
		return true
	case isDigit(s[2]) && isDigit(s[3]):
		year, rest := s[:4], strings.TrimLeft(s[4:], "-/.")
		day := strings.TrimLeft(rest[2:], "-/.")
		return isYear(year) && rest[:2] >= "01" && rest[:2] <= "12" && day[:2] >= "01" && day[:2] <= "31"
	}
	return isYear(s[6:10]) && s[:2] <= "31" && s[3:5] <= "31"
}

func isYear(s string) bool { return s >= "1900" && s < "2100" }

// zoneLen returns the length of a fraction of a second and a time zone.
func zoneLen(s string) int {
	n := 0
	if strings.HasPrefix(s, ".") {
		for n = 1; n < len(s) && n <= len(".000000") && isDigit(s[n]); n++ {
		}
	}
	switch rest := s[n:]; {
	case strings.HasPrefix(rest, "Z"):
		n++
	case hasForm(rest, "+00:00") || hasForm(rest, "-00:00"):
		n += len("+00:00")
	}
	return n
}
