package main

import (
	"encoding/json"
	"strings"

	"tabhub/describe"
	"tabhub/hub/consent"
	"tabhub/hub/policy"
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
		Who: by.Who, Session: by.Session, Of: policy.OfRelay, Site: policy.Site{Any: true},
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
	switch {
	case wholeBrowser[domain], strings.Contains(strings.ToLower(name), "cookie"), command == "DOM.setFileInputFiles":
		return policy.Destructive
	case reading[command], watched[domain] && (name == "enable" || name == "disable"):
		return policy.Read
	}
	return policy.Write
}

// wholeBrowser are the domains whose commands are for more than one page, or for what sites
// have stored: cookies, and all that keeps a person signed in.
var wholeBrowser = map[string]bool{
	"Autofill": true, "Browser": true, "CacheStorage": true, "DOMStorage": true, "Extensions": true, "FedCm": true,
	"Fetch": true, "IndexedDB": true, "SystemInfo": true, "Security": true, "Storage": true, "Target": true, "WebAuthn": true,
}

// watched are the domains that tell of a page by events once they are enabled.
var watched = map[string]bool{
	"Accessibility": true, "CSS": true, "Console": true, "DOM": true, "DOMSnapshot": true, "Log": true, "Network": true,
	"Page": true, "Performance": true, "Runtime": true,
}

// reading are the commands that change nothing in a page.
var reading = map[string]bool{
	"Accessibility.getAXNodeAndAncestors": true,
	"Accessibility.getChildAXNodes":       true,
	"Accessibility.getFullAXTree":         true,
	"Accessibility.getPartialAXTree":      true,
	"Accessibility.getRootAXNode":         true,
	"Accessibility.queryAXTree":           true,
	"CSS.getComputedStyleForNode":         true,
	"DOM.describeNode":                    true,
	"DOM.getAttributes":                   true,
	"DOM.getBoxModel":                     true,
	"DOM.getContentQuads":                 true,
	"DOM.getDocument":                     true,
	"DOM.getFlattenedDocument":            true,
	"DOM.getNodeForLocation":              true,
	"DOM.getOuterHTML":                    true,
	"DOM.performSearch":                   true,
	"DOM.getSearchResults":                true,
	"DOM.querySelector":                   true,
	"DOM.querySelectorAll":                true,
	"DOM.requestNode":                     true,
	"DOM.resolveNode":                     true,
	"DOMSnapshot.captureSnapshot":         true,
	"Network.getRequestPostData":          true,
	"Network.getResponseBody":             true,
	"Page.captureScreenshot":              true,
	"Page.captureSnapshot":                true,
	"Page.getFrameTree":                   true,
	"Page.getLayoutMetrics":               true,
	"Page.getNavigationHistory":           true,
	"Page.getResourceContent":             true,
	"Page.getResourceTree":                true,
	"Page.printToPDF":                     true,
	"Performance.getMetrics":              true,
}
