// Package endpoint has what the hub's HTTP endpoints share: a Request that the door (package httpd)
// has let through, and how it is answered: errors, JSON, streams of events, each within a time.
package endpoint
