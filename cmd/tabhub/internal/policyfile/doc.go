// Package policyfile reads the file of policy-file: rules of package policy as JSON,
// which may have comments and trailing commas. It is strict, since a rule that was misread
// would let something happen that its author has denied: each error names a line and says
// what to write instead.
//
// A File is read again when it has changed. What is wrong with it then is logged, and what
// was read before stays, also when the file is gone.
package policyfile
