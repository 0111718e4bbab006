package daemon

import (
	"encoding/json"
	"strings"

	"tabhub/describe"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// forwardCDP is the method that carries commands of the Chrome DevTools Protocol.
const forwardCDP = "forwardCDPCommand"

// relayAction is what a client's request to an extension comes to: its name is the method and, if it carries a command of the Chrome DevTools Protocol, that one's,
// such as "forwardCDPCommand Page.navigate". Which site it reaches nobody can tell: the
// extension's tab is chosen by other requests, and many commands are for the whole browser.
func relayAction(by *consent.Caller, method string, params json.RawMessage) policy.Action {
	name, class := method, relayClasses[method]
	if method == forwardCDP {
		command, _ := rawjson.String(rawjson.Get(params, "method"))
		name, class = strings.TrimSpace(method+" "+command), classOfCDP(command)
	}
	if class == policy.ClassUnset {
		class = policy.Write
	}
	return policy.Action{
		Principal: by.Principal, Session: by.Session, Of: policy.OfRelay, Site: policy.Site{Any: true},
		Name: describe.Clean(name, spec.MaxName), Class: class,
	}
}

// relayClasses are those of the methods that do no more than read. Any other one is taken to
// change something.
var relayClasses = map[string]policy.Class{
	"connect":            policy.Read, // of which events come to the client
	"listBrowsers":       policy.Read,
	"getTabs":            policy.Read,
	"getConsoleMessages": policy.Read,
	"getNetworkRequests": policy.Read,
	"getResponseBody":    policy.Read,
	"screenshot":         policy.Read,
}

// classOfCDP returns the class of a command of the Chrome DevTools Protocol, written
// Domain.name.
func classOfCDP(command string) policy.Class {
	domain, name, _ := strings.Cut(command, ".")
	if wholeBrowser[domain] || strings.Contains(strings.ToLower(name), "cookie") || command == "DOM.setFileInputFiles" {
		return policy.Destructive
	}
	return policy.Write
}

// wholeBrowser are the domains whose commands are for more than one page, or for what sites
// have stored: cookies, and all that keeps a person signed in.
var wholeBrowser = map[string]bool{
	"Autofill": true, "Browser": true, "CacheStorage": true, "DOMStorage": true, "Extensions": true, "FedCm": true,
	"Fetch": true, "IndexedDB": true, "SystemInfo": true, "Security": true, "Storage": true, "Target": true, "WebAuthn": true,
}
