// Package keyword reads JSON Schema as pages write it: which keywords there are, of what
// form their values must be, and what older drafts call them. Package schema, which checks
// arguments, and package listed, which writes the schemas for clients, both read through it.
//
// All functions are pure. They take valid JSON and do not keep it, but what they return
// shares memory with it.
package keyword
