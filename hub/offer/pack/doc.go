// Package pack reads packs: documents that give tools to sites that offer none (spec/docs/PACKS.md).
// Parse takes no document that a reader could understand in two ways, that hides something, or whose
// hints say less than its steps do. What a pack may do is put in words for its owner, and so is what
// became of a call.
//
// A Pack is immutable. Everything here is a pure function, safe for concurrent use, and does
// not block.
package pack
