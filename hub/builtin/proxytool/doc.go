// Package proxytool is the tool `proxy` of the MCP Proxy Extension (its rules are
// in spec/PROTOCOL.md, "The proxy tool"): one tool that lists, describes and calls all tools, resources and prompts of the
// open tabs. It is how a client that lists tools once, at its start, reaches what
// appears later, and how a model finds one tool among thousands.
//
// What a page wrote, and what its tools return, is spliced into the results as the
// bytes that it is. Beside the annotations of the Proxy Extension each block carries
// the same under _meta["tabhub/proxy"], since typed clients drop annotations that
// they do not know, with dataType for pythonType and multiple for many.
//
// There are batches, pages and filters beyond it; an answer that uses none of them has
// the strict shape of the Proxy Extension.
package proxytool
