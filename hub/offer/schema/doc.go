// Package schema checks the arguments of calls against the JSON Schemas of tools. It reads
// the keywords of all drafts alike. What few tools use is the page's to check: what is left
// unevaluated, dynamic references, bounds that are true (draft-04), formats, and patterns
// that Go cannot match or reads otherwise. What would refuse a value because it fits a
// schema with such a part (not, if, contains, a second one of oneOf) is left to the page, too.
//
// Schemas come from pages and are not trusted: they are bounded in size, depth and
// in the work that they can cause, references lead only to parts of the same schema,
// and what cannot be compiled is refused when it is registered.
//
// A schema is compiled once, to a graph of nodes: one for each of its parts that asks
// for more than a type. Arguments are decoded without copying their texts and evaluated at
// once; only what does not fit is evaluated again, for the words that say what is wrong, and
// for whether a lenient reading of the schema would let it pass.
package schema
