// Package pagecheck finds what a model or an MCP client will stumble over in what a page
// offers, and in what its tools answer: pure functions of what the hub has taken of the page.
// It also makes arguments for calls from schemas, and compares what a page offers with what
// it did before.
package pagecheck
