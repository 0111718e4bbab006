// Package listed writes the schemas of tools as clients get them. Model APIs refuse a whole
// request for one schema that they do not take, so a listed schema is always JSON Schema 2020-12
// for an object with properties, with names that each API takes, without alternatives at the
// top, without keywords that are wrong or unknown, and with objects where JSON Schema allows true
// and false, too (spec/docs/USE.md, "What model APIs refuse"). What it cannot say is checked
// nevertheless, by the page's own schema: see package schema.
package listed
