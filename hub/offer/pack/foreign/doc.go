// Package foreign reads documents by which other programs give tools to sites, and makes packs of
// them: packages of webmcp-today (JSON), manifests of Browserbase's webmcp-gen (JSON with JavaScript
// bodies), adapters of bb-sites (JavaScript with an @meta comment) and user scripts that register
// tools by document.modelContext.
//
// It is pure: no file is opened and nothing is fetched. What has no counterpart in a pack is left out
// and named in words; a tool that would then do something else than in its own format is left out whole.
package foreign

// Regular expressions are compiled where they are used: otherwise each start of the program would wait
// for them.
