// Package packs keeps the packs of one user: documents that give tools to the pages of sites that
// offer none. A pack gives its tools once its owner has accepted it; another document of its name waits
// until the owner accepts or rejects that, and what gave the tools before goes on to. Browsers are told of
// the active ones, and items of tabs are looked up here by the name and the hash of their document, so no
// other text than the one that was accepted is ever run.
package packs
