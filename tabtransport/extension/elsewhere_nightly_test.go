//go:build nightly

package extension_test

import "testing"

// TestFormOfABusyPage with the browser's own WebMCP. By day, beside other tests' browsers, Chromium
// 156 ends now and then as the busy page is left.
func TestFormOfABusyPageWithOwnWebMCP(t *testing.T) { testFormOfABusyPage(t, true) }
