// Package schema checks the arguments of calls against the JSON Schemas of tools. It
// reads the keywords that they use, whatever draft they are of: types, values, bounds,
// patterns, members, elements and alternatives. What few tools use (conditions,
// exclusions, dependencies, patterns of names, what is left unevaluated, that elements
// differ or that one alternative alone fits) is the page's to check, and so are formats,
// and patterns that Go cannot match or reads otherwise.
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
