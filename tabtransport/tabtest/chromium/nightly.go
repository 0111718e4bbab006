//go:build nightly

package chromium

func init() { nightly = true }
