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

// deadline is the value of a flag: a time, or how long it is until then.
type deadline time.Time

// Set implements pflag.Value.
func (m *moment) Set(s string) (err error) {
	*(*time.Time)(m), err = parseTime(s, -1)
	return err
}

// Set implements pflag.Value.
func (d *deadline) Set(s string) (err error) {
	*(*time.Time)(d), err = parseTime(s, 1)
	return err
}

// parseTime reads a time, or how far it is from now in a direction.
func parseTime(s string, direction time.Duration) (time.Time, error) {
	var far age
	if far.Set(s) == nil && far > 0 {
		return time.Now().Add(direction * time.Duration(far)).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("write it as 10m or 3d, which is so far from now, as 2026-01-31 or as 2026-01-31T12:00:00Z")
}

func (m *moment) String() string   { return timeText(time.Time(*m)) }
func (d *deadline) String() string { return timeText(time.Time(*d)) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (m *moment) Type() string { return "time" }

// Type implements pflag.Value.
func (d *deadline) Type() string { return "time" }
