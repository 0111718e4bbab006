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
// action takes is checked by its entry in a table, and how long a string may be by maxLength: a
// model does not have to know that.

const (
	schemaStart = `{"type":"object","required":["action"],"properties":{"action":{"type":"string","enum":[`

	browserIDParam = `"browserId":{"type":"string","description":"Needed if of several browsers none has the focus"}`
)

// maxLength returns how many characters a string may have, of which it needs one.
func maxLength(param string) int {
	switch param {
	case "url":
		return 2048
	case "tool":
		return 256
	case "profile":
		return 128
	}
	return 64
}

// tabInput is the schema of browser_tab with these actions.
func tabInput(actions string) json.RawMessage {
	return json.RawMessage(schemaStart + actions + `]},` +
		`"tabId":{"type":"string","description":"As list shows it. Not for list and new"},` +
		browserIDParam + `,` +
		`"url":{"type":"string","description":"For new and claim"},` +
		`"active":{"type":"boolean","description":"For new and claim: in front, which disturbs the user"},` +
		`"name":{"type":"string","description":"For claim: what you do there, shown to others"},` +
		`"minutes":{"type":"number","exclusiveMinimum":0,"maximum":1440,"description":"For claim: after your latest call; 10 by default"},` +
		`"reads":{"type":"boolean","description":"For claim: other agents may read the tab"}` +
		`}}`)
}

var tabTool = builtin.Tool{
	Name:  TabTool,
	Title: "Browser tabs",
	Description: `Lists, opens (new), shows (activate) and closes the tabs of the user's connected browsers: find a tab, or open the page whose tools you want, then browser_page wait. ` +
		`close_others: all tabs of the browser but tabId. ` +
		`claim: keeps tabId, a new tab at url, or the tab of your calls for you alone: your calls of its site go there, other agents' do not. Claim for several steps where others may work on the same site; release (tabId, or all) when done. ` +
		`use: your calls of its site go to tabId. ` +
		`Close only what the user asked you to close.`,
	Input:       tabInput(`"list","new","close","close_others","activate","claim","release","use"`),
	Annotations: &builtin.Annotations{Destructive: true},
}

var pageTool = builtin.Tool{
	Name:  PageTool,
	Title: "Browser page",
	Description: `Moves a tab (goto, back, forward, reload) and looks at its page. ` +
		`wait: until the page has registered tools, and names them; until one is there; or until it rests: it has loaded and changes no more. ` +
		`screenshot: the tab must be in front (browser_tab activate). ` +
		`text: the page's visible text; not the user's words.`,
	Input: json.RawMessage(schemaStart + `"goto","back","forward","reload","wait","screenshot","text"]},` +
		`"tabId":{"type":"string","description":"By default the one called or chosen last, else the one in front"},` +
		`"browserId":{"type":"string"},` +
		`"url":{"type":"string","description":"For goto"},` +
		`"for":{"type":"string","enum":["tools","tool","rest"],"description":"For wait"},` +
		`"tool":{"type":"string","description":"For wait: its name"},` +
		`"timeoutMs":{"type":"integer","minimum":1,"maximum":600000,"description":"For wait; 10000 by default"},` +
		`"maxChars":{"type":"integer","minimum":1,"maximum":2000000,"description":"For text; 20000 by default"}` +
		`}}`),
	Annotations: &builtin.Annotations{},
}

// instanceTool is browser_instance.
var instanceTool = builtin.Tool{
	Name:  InstanceTool,
	Title: "Browser instances",
	Description: `Starts (new) and closes browsers with the companion extension on the user's machine, beside the user's own, with profiles of their own. ` +
		`The other tools take their browserId. profiles: those that there are.`,
	Input: json.RawMessage(schemaStart + `"list","new","close","profiles"]},` +
		`"instanceId":{"type":"string","description":"For close"},` +
		`"url":{"type":"string","description":"For new"},` +
		`"mode":{"type":"string","enum":["chromium","testing","chrome"],"description":"For new; testing is Chrome for Testing, chrome needs the extension loaded by hand"},` +
		`"headless":{"type":"boolean","description":"For new"},` +
		`"profile":{"type":"string","description":"For new: one of profiles, or a new name"},` +
		`"closeOtherTabs":{"type":"boolean","description":"For new: those that the profile opens"}` +
		`}}`),
	Annotations: &builtin.Annotations{Destructive: true},
	Listed:      builtin.LocalOnly,
}
