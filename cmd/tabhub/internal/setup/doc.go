// Package setup prepares browsers and clients for the hub, and finds what is wrong with them: the
// commands setup, doctor, install, extension and autostart. checks is the list of what can be wrong.
package setup
