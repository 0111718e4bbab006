// Package item reads the items that pages register: tools, resources, resource templates and
// prompts. It checks a registered object, takes it apart so that the hub can list it
// under a public name without encoding it again, and turns a page's answers
// into results that an MCP client may see and can read. It alone decides which of a
// page's words reach a client: texts without hidden characters, members that
// MCP defines, keys of `_meta` that belong to the site, icons that a client may load.
//
// An Item is immutable. Everything here is a pure function, safe for concurrent use,
// and does not block.
package item
