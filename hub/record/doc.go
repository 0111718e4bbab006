// Package record keeps the record of what was done through a hub, and what was refused: one
// line for each event, chained by hashes, in files that can be read while the hub runs and
// when it does not.
package record
