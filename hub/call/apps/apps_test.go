package apps

import (
	"strings"
	"testing"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// Clients that come and go must not fill the memory.
func TestAppsAreBounded(t *testing.T) {
	var a Apps
	for i := range 2 * maxKeptApps {
		by := &consent.Caller{Principal: policy.Owner, Said: strings.Repeat("x", i)}
		a.Connected(by, 1)
		a.Connected(by, -1)
	}
	if n := len(a.all); n > maxKeptApps {
		t.Errorf("%d apps are kept", n)
	}
}
