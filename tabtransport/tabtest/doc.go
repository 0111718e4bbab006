// Package tabtest tests implementations of tabtransport.TabHubTransport: Run is the
// contract of every transport, End a fake peer, a browser or tab, which a test moves step
// by step.
package tabtest
