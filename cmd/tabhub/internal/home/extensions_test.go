package home

import (
	"slices"
	"testing"
)

func TestExtensions(t *testing.T) {
	d := Dir(t.TempDir())
	odd := "/home/me/a line\nbreak"
	if dirs, err := d.Extensions(); len(dirs) != 0 || err != nil {
		t.Errorf("at first: %q, %v", dirs, err)
	}
	for _, dir := range []string{"/home/me/extension", odd, "/home/me/extension"} {
		if err := d.AddExtension(dir); err != nil {
			t.Fatal(err)
		}
	}
	if dirs, err := d.Extensions(); !slices.Equal(dirs, []string{"/home/me/extension", odd}) || err != nil {
		t.Errorf("%q, %v", dirs, err)
	}
}
