package flow

import "regexp"

// date matches a date, a time, or both, as a text begins with. They are no values: that a date
// stands in the results of one site and in the arguments for another says nothing.
var date = regexp.MustCompile(`^(` +
	`(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T\d\d:\d\d(?::\d\d)?` + zone + `)?` +
	`|[/.](?:0[1-9]|1[0-2])[/.](?:0[1-9]|[12]\d|3[01])` +
	`|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T\d{4}(?:\d\d)?` + zone + `)?)` +
	`|(?:[0-2]\d|3[01])[/.-](?:[0-2]\d|3[01])[/.-](?:19|20)\d\d` +
	`|\d\d?:\d\d(?::\d\d)?)(?:\D|$)`)

const zone = `(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)?`

// dateLen returns the length of the date or time that s begins with, 0 if there is none.
func dateLen(s string) int {
	at := date.FindStringSubmatchIndex(s[:min(len(s), 40)])
	if at == nil {
		return 0
	}
	return at[3]
}
