// Package command is what all commands of tabhub have in common: their input and output, which
// lets no text of a page steer a terminal (App), the errors of a command line that is wrong, the
// kinds of flags, and the admin API of the hub that runs. Where no hub runs, it gives access to
// the credentials in the data directory (offline.go).
package command
