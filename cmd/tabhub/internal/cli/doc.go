// Package cli has the commands that look at the hub that runs or change what it does, one file for
// each. They reach it by its admin API (package command).
package cli
