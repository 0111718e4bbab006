// Package schema checks the arguments of calls against the JSON Schemas of tools. It reads
// the keywords of all drafts alike. It leaves to the page what few tools use: unevaluated
// members and items, dynamic references, formats, and patterns that Go cannot match. If such a
// part would have to fit for a value to be refused (in not, if, contains, or oneOf), the page checks
// that, too.
//
// Schemas come from pages and are not trusted: their size and depth are bounded, and so is the
// work that they can cause; references lead only to parts of the same schema.
//
// A schema is compiled once, to a graph of nodes: one for each of its parts that asks
// for more than a type. Arguments are decoded without copying their texts. The first evaluation
// stops at the first failure; only then a second one finds the words that say what is wrong, and
// whether a lenient reading of the schema would let the arguments pass.
package schema
