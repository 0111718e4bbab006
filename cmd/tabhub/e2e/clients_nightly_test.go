//go:build nightly

package e2e

// The other combinations of SDK, transport and revision.
func init() {
	officialClients = append(officialClients, "v1 stdio 2025-06-18", "v2 http 2025-11-25", "v2 http 2026-07-28")
	proxySDKs = append(proxySDKs, "v1 2025-11-25", "v2 2025-11-25")
}
