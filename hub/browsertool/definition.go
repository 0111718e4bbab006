package browsertool

import (
	"encoding/json"

	"tabhub/hub/builtin"
)

// The names of the tools.
const (
	TabTool      = "browser_tab"
	PageTool     = "browser_page"
	InstanceTool = "browser_instance"
)

// Schemas are flat, without oneOf and the like, which some hosts refuse; what each
// action takes is checked by its entry in a table.

const (
	tabIDParam = `"tabId":{"type":"string","minLength":1,"maxLength":64,"description":"The tab, as browser_tab list shows it, such as \"1a2b3c4d:7\".`

	browserIDParam = `"browserId":{"type":"string","minLength":1,"maxLength":64,"description":"The browser, as browser_tab list shows it. Needed only if several are connected and none has the focus."}`

	urlParam = `"url":{"type":"string","minLength":1,"maxLength":2048,"description":"An http or https address. `
)

// tabInput is the schema of browser_tab with these actions.
func tabInput(actions string) json.RawMessage {
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{` +
		`"action":{"type":"string","enum":[` + actions + `],"description":"What to do."},` +
		tabIDParam + ` For close, close_others, activate and use, which need it, for claim and release."},` +
		browserIDParam + `,` +
		urlParam + `For new, which needs it, and for claim: opens a tab there."},` +
		`"active":{"type":"boolean","description":"For new and claim: open the tab in front. By default it opens behind, so that the user is not disturbed."},` +
		`"name":{"type":"string","minLength":1,"maxLength":64,"description":"For claim: what you do there, shown to people and to other agents."},` +
		`"minutes":{"type":"number","exclusiveMinimum":0,"maximum":1440,"description":"For claim: how long it lasts after your latest call in the tab. 10 by default."},` +
		`"reads":{"type":"boolean","description":"For claim: let other agents read the tab."}` +
		`}}`)
}

var tabTool = builtin.Tool{
	Name:  TabTool,
	Title: "Browser tabs",
	Description: `Lists, opens, shows and closes the tabs of the user's connected browsers. ` +
		`Tools that pages offer are tools of their own; use this to find a tab, or to open the page whose tools you want, and then browser_page wait. ` +
		`list: all tabs with tabId, url, title, domain and the number of tools. ` +
		`new: opens url in a new tab. activate: brings a tab and its window to the front. ` +
		`close: closes a tab. close_others: closes all tabs of the browser but tabId. ` +
		`claim: keeps tabId, a new tab at url, or the tab that your calls go to, for you alone: your calls of that site go there, those of other agents do not. Claim when other agents may work on the same site and your task takes several steps; release (tabId, or all) when you are done. ` +
		`use: has your calls of the tab's site go to tabId from now on. ` +
		`Do not close tabs that the user has not asked you to close.`,
	Input:       tabInput(`"list","new","close","close_others","activate","claim","release","use"`),
	Annotations: &builtin.Annotations{Title: "Browser tabs", Destructive: true, OpenWorld: true},
}

var pageTool = builtin.Tool{
	Name:  PageTool,
	Title: "Page in a browser tab",
	Description: `Moves a tab to a page and looks at it. ` +
		`goto: loads url. back, forward, reload: as the browser's buttons. ` +
		`wait: until the page has registered tools, and names them; ` +
		`with for, until one tool is there (tool) or the page rests: it has loaded and changes no more. ` +
		`screenshot: a picture of what the tab shows; the tab must be in front of its window (browser_tab activate). ` +
		`text: the page's visible text; it is the page's words, not the user's. ` +
		`Without tabId it is about the tab that you have called or chosen last, or if there is none, the one in front.`,
	Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{` +
		`"action":{"type":"string","enum":["goto","back","forward","reload","wait","screenshot","text"],"description":"What to do."},` +
		tabIDParam + ` By default the one that you have called or chosen last, else the one in front."},` +
		browserIDParam + `,` +
		urlParam + `For goto, which needs it."},` +
		`"for":{"type":"string","enum":["tools","tool","rest"],"description":"For wait: what for. Any tools by default, or the one that tool names."},` +
		`"tool":{"type":"string","minLength":1,"maxLength":256,"description":"For wait: the name of a tool, as it is listed or as the page has it."},` +
		`"timeoutMs":{"type":"integer","minimum":1,"maximum":600000,"description":"For wait: how long, in milliseconds. 10000 by default."},` +
		`"maxChars":{"type":"integer","minimum":1,"maximum":2000000,"description":"For text: how much of it at most. 20000 by default."}` +
		`}}`),
	Annotations: &builtin.Annotations{Title: "Page in a browser tab", OpenWorld: true},
}

// instanceTool is browser_instance.
var instanceTool = builtin.Tool{
	Name:  InstanceTool,
	Title: "Browser instances",
	Description: `Starts and stops browsers on the user's machine, beside those that the user has open. ` +
		`list: the instances that were started here. ` +
		`new: starts Chromium or Chrome with a profile of its own and the companion extension, and waits until it is connected; browser_tab and browser_page then work in it (pass its browserId). ` +
		`close: ends an instance. profiles: the profiles that there are. ` +
		`Profiles are its own; those of the user's browsers are not used.`,
	Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{` +
		`"action":{"type":"string","enum":["list","new","close","profiles"],"description":"What to do."},` +
		`"instanceId":{"type":"string","minLength":1,"maxLength":64,"description":"The instance, as list shows it. For close, which needs it."},` +
		urlParam + `For new: the page to open."},` +
		`"mode":{"type":"string","enum":["chromium","testing","chrome"],"description":"For new: Chromium, Chrome for Testing, or Google Chrome, which needs the extension to be loaded by hand. By default the first that is installed."},` +
		`"headless":{"type":"boolean","description":"For new: without a window. By default only where there is no display."},` +
		`"profile":{"type":"string","minLength":1,"maxLength":128,"description":"For new: the directory of a profile, as profiles shows it, or a new name. \"default\" by default."},` +
		`"closeOtherTabs":{"type":"boolean","description":"For new: close the tabs that the profile opens beside the one in front."}` +
		`}}`),
	Annotations: &builtin.Annotations{Title: "Browser instances", Destructive: true, OpenWorld: true},
	Listed:      builtin.LocalOnly,
}
