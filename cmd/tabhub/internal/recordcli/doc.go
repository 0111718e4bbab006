// Package recordcli has the commands that show what clients do: `tabhub log` by the record, `tabhub calls`
// while it is done.
package recordcli
