package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// GroupKey is the annotation of a flag with the title that it stands under in the help.
const GroupKey = "group"

// GroupFlags puts flags under a title.
func GroupFlags(f *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		f.SetAnnotation(name, GroupKey, []string{title})
	}
}

// JSONFlag adds --json.
func JSONFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

// BrowsersFlag is the flag of a command that binds a client to browsers.
func BrowsersFlag(f *pflag.FlagSet, browsers *[]string) {
	f.StringSliceVar(browsers, "browser", nil, "the only browsers that there are for the client, by the `name`s of tabhub browser (default: all)")
}

const Day = 24 * time.Hour

// Age is the value of a flag: a duration that may be written in days.
type Age time.Duration

// Set implements pflag.Value.
func (a *Age) Set(s string) error {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			return errors.New("write it as 90d or 12h")
		}
		*a = Age(time.Duration(days) * Day)
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("write it as 90d or 12h")
	}
	*a = Age(d)
	return nil
}

func (a *Age) String() string {
	if d := time.Duration(*a); d%Day == 0 {
		return fmt.Sprintf("%dd", d/Day)
	}
	return time.Duration(*a).String()
}

// Type implements pflag.Value.
func (a *Age) Type() string { return "duration" }

// Size is the value of a flag: a number of bytes.
type Size int64

var units = []string{"GiB", "MiB", "KiB"} // each 1024 of the next

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
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
	*s = Size(n * factor)
	return nil
}

func (s *Size) String() string {
	n := int64(*s)
	for i, unit := range units {
		if factor := int64(1) << (10 * (len(units) - i)); n >= factor && n%factor == 0 {
			return fmt.Sprintf("%d%s", n/factor, unit)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Type implements pflag.Value.
func (s *Size) Type() string { return "size" }

// Moment is the value of a flag: a time, or how long ago it was.
type Moment time.Time

// Deadline is the value of a flag: a time, or how long it is until then.
type Deadline time.Time

// Set implements pflag.Value.
func (m *Moment) Set(s string) (err error) {
	*(*time.Time)(m), err = parseTime(s, -1)
	return err
}

// Set implements pflag.Value.
func (d *Deadline) Set(s string) (err error) {
	*(*time.Time)(d), err = parseTime(s, 1)
	return err
}

// parseTime reads a time, or how far it is from now in a direction.
func parseTime(s string, direction time.Duration) (time.Time, error) {
	var far Age
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

func (m *Moment) String() string { return timeText(time.Time(*m)) }

func (d *Deadline) String() string { return timeText(time.Time(*d)) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (m *Moment) Type() string { return "time" }

// Type implements pflag.Value.
func (d *Deadline) Type() string { return "time" }
