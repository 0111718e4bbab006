package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// age is the value of a flag: a duration that may be written in days.
type age time.Duration

// Set implements pflag.Value.
func (a *age) Set(s string) error {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			return errors.New("write it as 90d or 12h")
		}
		*a = age(time.Duration(days) * day)
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("write it as 90d or 12h")
	}
	*a = age(d)
	return nil
}

func (a *age) String() string {
	if d := time.Duration(*a); d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return time.Duration(*a).String()
}

// Type implements pflag.Value.
func (a *age) Type() string { return "duration" }

// size is the value of a flag: a number of bytes.
type size int64

var units = []string{"GiB", "MiB", "KiB"} // each 1024 of the next

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	factor := uint64(1)
	for i, unit := range units {
		if n, ok := strings.CutSuffix(text, unit); ok {
			text, factor = n, 1<<(10*(len(units)-i))
			break
		}
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("write it as 256MiB")
	}
	*s = size(n * factor)
	return nil
}

func (s *size) String() string {
	n := int64(*s)
	for i, unit := range units {
		if factor := int64(1) << (10 * (len(units) - i)); n >= factor && n%factor == 0 {
			return fmt.Sprintf("%d%s", n/factor, unit)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }

// moment is the value of a flag: a time, or how long ago it was.
type moment time.Time

// Set implements pflag.Value.
func (m *moment) Set(s string) error {
	var ago age
	if ago.Set(s) == nil {
		*m = moment(time.Now().Add(-time.Duration(ago)))
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			*m = moment(t)
			return nil
		}
	}
	return errors.New("write it as 10m or 3d, which is so long ago, as 2026-01-31 or as 2026-01-31T12:00:00Z")
}

func (m *moment) String() string {
	if t := time.Time(*m); !t.IsZero() {
		return t.Format(time.RFC3339)
	}
	return ""
}

// Type implements pflag.Value.
func (m *moment) Type() string { return "time" }
