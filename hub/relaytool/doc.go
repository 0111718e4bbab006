// Package relaytool holds the hub's own tools for the browsers whose extension speaks the
// MCP Proxy Protocol: relay_listBrowsers, relay_screenshot, and one tool for each method
// of such an extension. They go down to the Chrome DevTools Protocol, so they are listed
// only where the user asks for them (--relay-tools).
//
// A tool's failures are results in the hub's shape, {"error":{"code","message"}}. Its
// other results are one text block with what the extension has answered, but for a
// screenshot, which is an image.
package relaytool
