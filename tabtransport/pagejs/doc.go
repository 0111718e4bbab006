// Package pagejs is the JavaScript with which tabhub reaches what a page offers. Both ways to a
// page are made of it, so that a page's tool does the same on both: the companion extension
// (package extension) and the hub's script /tab.js (package pages).
//
//	values.js        forms and limits of what pages say and throw
//	shapes.js        how WebMCP differs between browsers, versions and libraries
//	modelcontext.js  ModelContextTools: tools of a document.modelContext
//	watchtools.js    watchTools: what the tools of the browser's modelContext throw, and how they go on in another document
//	library.js       LibraryTools: finds the modelContext that a script of the page made
//	toolcalls.js     ToolCalls: what tools do while they run: they ask a person, and take tokens
//	dialogs.js       tellDialogs: what dialogs the page opens
//	pageserver.js    PageServer: a client of an MCP server that runs in the page
//	answers.js       keeps the answers to a PageServer from the page's own clients
//	webmcpstand.js   offerWebMCP: document.modelContext where the browser has none, made at the first touch
//	webmcp.js        makeWebMCP: the API; webmcpidl.js: how it takes what a page gives
//	webmcptools.js   DocumentTools: the tools that the page then has: registered, listed, run
//	webmcpinvocation.js  Invocation: a call, which may go on in another document
//	webmcpframes.js  ToolFrames: tools of the other documents of the tab
//	webmcpforms.js   ToolForms: forms that are tools; webmcpfields.js: their schemas and fields
//	types.d.ts       the interface Source that they implement, for tsc only
//
// The files are classic scripts without imports: content scripts cannot be modules, and /tab.js
// is one file for pages that load it with a script element. [Script] joins files to one script
// with a scope of its own and without comments; nothing of a page's globals is touched but by
// hideAnswers, tellDialogs, watchTools and offerWebMCP. Which world it runs in is the user's choice:
// ModelContextTools and PageServer work in the extension's own world and in the page's,
// LibraryTools, tellDialogs, watchTools, hideAnswers and offerWebMCP only in the page's.
//
// watchTools and offerWebMCP are to run before the page's scripts. offerWebMCP does what Chromium 160
// does, tested against 156 and the form of 160 made of that: a difference is a mistake, unless the
// extension's README names it.
//
// A Source never speaks to the hub. Who made it asks for its offer when it says that it has
// changed, and sends it calls. A page that has nothing must not notice that somebody looks: a
// PageServer says nothing before a server has announced itself unless its owner tells it to, and
// LibraryTools calls only what it took before the page's scripts ran.
package pagejs
