// Package pagecheck finds faults in what a page offers and in what its tools answer: pure functions
// of what the hub has registered of the page.
package pagecheck
