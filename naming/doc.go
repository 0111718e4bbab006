// Package naming makes the names under which the hub shows what tabs offer: a
// domain key for each web origin, and a public name or URI for each tool, prompt
// and resource of a domain or of one of its tabs.
//
// Everything here is a pure function of its arguments and safe for concurrent use.
// Names are looked up, never parsed back: only the caller's table says what a name
// stands for.
package naming
