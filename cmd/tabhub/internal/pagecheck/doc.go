// Package pagecheck says what does not work of what a page offers, and of what its tools
// answer: pure functions of what the hub has taken of the page.
package pagecheck
