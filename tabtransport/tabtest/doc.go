// Package tabtest tests what implements tabtransport.TabHubTransport: Run is the
// contract that every transport must keep, End the far end that a test scripts, and
// Page a fake tab for tests of what lies behind a transport.
package tabtest
