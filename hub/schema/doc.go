// Package schema checks the arguments of calls against the JSON Schemas of tools.
//
// Schemas come from pages and are not trusted: they are bounded in size, depth and
// in the work that they can cause, nothing outside a schema is ever loaded, and what
// cannot be compiled is refused when it is registered. Most schemas are simple: a
// plan made from them accepts good arguments without decoding them. What a plan does
// not understand or does not accept is compiled and decided in full; it also finds
// the words for what is wrong.
package schema
