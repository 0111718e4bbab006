package pages_test

import (
	"os"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

func TestMain(m *testing.M) {
	code := chromium.Main(m)
	if builtDir != "" {
		os.RemoveAll(builtDir)
	}
	os.Exit(code)
}
