// Package lists has what clients are listed of a hub: tools, resources, templates and prompts,
// rendered once until something changes, and found by name. It tells watchers of changes, and pages
// which of their resources clients subscribe to.
//
// Listings and their Items are immutable and shared. Clients that are bound to the same browsers
// share their lists. A list's cache has a lock that is taken before the Core's.
package lists
