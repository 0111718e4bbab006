// Package tabtest tests what implements tabtransport.TabHubTransport and what lies
// behind one: Run is the contract that every transport must keep, End the fake
// browser or tab at the far end, which a test moves step by step.
package tabtest
