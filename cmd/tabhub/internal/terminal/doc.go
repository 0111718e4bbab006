// Package terminal prints for people: tables that fit the width, states in colour with a
// symbol, and a line that is rewritten while something runs. Where a program reads, all of it
// is plain text, a line for each thing.
//
// What pages, clients and files say goes through describe.Visible before it gets here, or into
// a Cell, which sees to that.
package terminal
