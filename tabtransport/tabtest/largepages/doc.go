// Package largepages is a server with ten pages that are large, or in another way hard to look at: each is
// built by a few lines of its own script, which sets ready when all is there.
package largepages
