package command

import (
	"testing"
	"time"
)

// A limit that is misread keeps too much, or removes what was to be kept.
func TestQuantities(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * Day, "12h": 12 * time.Hour, "0d": 0, "90": -1, "-1h": -1, "-1d": -1, "1.5d": -1, "d": -1, "": -1} {
		var a Age
		err := a.Set(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || time.Duration(a) != want) {
			t.Errorf("%q: %v, %v", text, a, err)
		}
		var again Age
		if err == nil && (again.Set(a.String()) != nil || again != a) {
			t.Errorf("%q is written as %q", text, &a)
		}
	}
	for text, want := range map[string]Size{"256MiB": 256 << 20, "1GiB": 1 << 30, "3KiB": 3 << 10, "17": 17, "0": 0, "1GB": -1, "-1": -1, "MiB": -1, "": -1, "9999999999GiB": -1} {
		var s Size
		err := s.Set(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || s != want) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
		var again Size
		if err == nil && (again.Set(s.String()) != nil || again != s) {
			t.Errorf("%q is written as %q", text, &s)
		}
	}
	for text, ok := range map[string]bool{"10m": true, "3d": true, "2026-01-31": true, "2026-01-31 12:30": true, "2026-01-31T12:30:00Z": true, "yesterday": false, "": false, "-1h": false} {
		var m Moment
		if err := m.Set(text); (err == nil) != ok || ok == time.Time(m).IsZero() {
			t.Errorf("%q: %v, %v", text, time.Time(m), err)
		}
	}
}
