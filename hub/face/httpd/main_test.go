package httpd

import (
	"os"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

func TestMain(m *testing.M) { os.Exit(chromium.Main(m)) }
