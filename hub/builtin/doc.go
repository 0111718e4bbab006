// Package builtin says what a tool of the hub itself is: one that no page has registered,
// such as proxy or browser_tab. The packages hub/builtin/proxytool and hub/builtin/browsertool
// make such Tools; cmd/tabhub lists those that the user's Switches leave on,
// and hub/face/mcpserver serves them.
//
// The package also holds what such tools have in common: Members reads arguments, Input
// checks them against a tool's schema, Text makes a result, Recorded leaves records of the calls.
package builtin
