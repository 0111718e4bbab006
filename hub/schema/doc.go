// Package schema checks the arguments of calls against the JSON Schemas of tools:
// draft-04, draft-06, draft-07, 2019-09 and 2020-12, by the value of $schema.
//
// Schemas come from pages and are not trusted: they are bounded in size, depth and
// in the work that they can cause, references lead only to parts of the same schema,
// and what cannot be compiled is refused when it is registered. Formats are not
// checked; patterns that Go cannot match are left to the page.
//
// A schema is compiled once, to a graph of nodes: one for each of its parts that asks
// for more than a type. Whether it is well-formed is seen on the way; only where that is
// in doubt the meta-schema decides and finds the words. Arguments are decoded without
// copying their texts and evaluated at once; only what does not fit is evaluated again,
// for the words that say what is wrong, and for whether a lenient reading of the schema
// would let it pass.
package schema
