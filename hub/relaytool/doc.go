// Package relaytool holds the hub's own tools for the browsers whose extension speaks the
// MCP Proxy Protocol: relay_listBrowsers, and one tool for each method that the protocol
// or shipped extensions have. They go down to the Chrome DevTools Protocol, so they are
// listed only where the user asks for them (--relay-tools).
//
// A tool's failures are results in the hub's shape, {"error":{"code","message"}}. Its
// other results are one text block, with what the extension has answered or, where that
// says too little, with what has happened, but for a screenshot, which is an image.
package relaytool
