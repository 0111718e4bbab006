// Package schema checks the arguments of calls against the JSON Schemas of tools:
// draft-04, draft-06, draft-07, 2019-09 and 2020-12, by the value of $schema.
//
// Schemas come from pages and are not trusted: they are bounded in size, depth and
// in the work that they can cause, references lead only to parts of the same schema,
// and what cannot be compiled is refused when it is registered. Formats are not
// checked; patterns that Go cannot match are left to the page.
//
// A Schema has two forms. Most schemas are simple: a plan made from their text accepts
// good arguments without decoding them. What a plan cannot hold or does not accept is
// compiled to nodes and decided in full; nodes also find the words for what is wrong.
package schema
