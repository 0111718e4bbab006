// Package item reads what pages register: tools, resources, resource templates and
// prompts. It checks one registered object, takes it apart so that it can be listed
// under a public name without being encoded again, and turns what a page answers for
// it into what an MCP client may see and can read. It is the one place that decides what of a
// page's own words reaches a client: texts without hidden characters, members that
// MCP defines, `_meta` that is the site's own, icons that a client may load.
//
// An Item is immutable. Everything here is a pure function, safe for concurrent use,
// and does not block.
package item
