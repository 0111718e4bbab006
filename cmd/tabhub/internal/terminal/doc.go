// Package terminal prints for people: tables that fit the width, states in colour with a
// symbol, and a line that is rewritten while something runs. For a program that reads the
// output, everything is plain text, one line for each thing.
//
// Text from pages, clients and files must go through describe.Visible first; a Cell does that
// itself.
package terminal
