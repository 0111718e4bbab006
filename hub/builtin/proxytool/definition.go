package proxytool

import (
	"encoding/json"

	"tabhub/hub/builtin"
	"tabhub/hub/lists"
	"tabhub/hub/trust/record"
)

// The names of the tools. A page's tool cannot get them.
const (
	Name     = "proxy"
	ReadName = "proxy_read"
)

// The schemas are flat, without oneOf and the like at the top, which some hosts refuse: that
// each action but batch and outcome needs a type is for the tool to say. partial is not in them,
// since it is for programs. There is no schema of
// the output: a client that is given one refuses each result that does not fit, and what call
// returns is another tool's.

// New returns the tools proxy and proxy_read of a hub, whose other builtin tools are
// others. log, if not nil, gets a record of each operation that is no call of something
// that there is: the calls are recorded where they are served.
func New(h Hub, others []builtin.Tool, log func(record.Entry)) []builtin.Tool {
	p := &proxy{hub: h, builtin: others, log: log}
	for i := range others {
		t := &others[i]
		p.builtinItems = append(p.builtinItems, lists.Item{
			Name: t.Name, Source: t.Name, JSON: t.Definition(), OnlyReads: onlyReads(t),
		})
	}
	all := []builtin.Tool{acting, reading}
	for i := range all {
		t := &all[i]
		t.Call = p.handler(t.Name, onlyReads(t))
		t.Subject = subject
	}
	return all
}

func onlyReads(t *builtin.Tool) bool { return t.Annotations != nil && t.Annotations.ReadOnly }

var acting = builtin.Tool{
	Name:  Name,
	Title: "Tools of browser tabs",
	Description: `Proxy for the open browser tabs: lists, describes (info) and calls the tools, resources and prompts of their pages, also unlisted ones, and this server's own. ` +
		`batch runs up to 100 operations in order, even if one fails. ` +
		`outcome: what became of a call whose answer you have not got; call again only if it was not_sent. ` +
		`proxy_read is for what changes nothing.`,
	Input: json.RawMessage(`{"type":"object","required":["action"],"properties":{` +
		`"action":{"type":"string","enum":["list","info","call","batch","outcome"]},` +
		`"type":{"type":"string","enum":["tool","resource","prompt"]},` +
		`"path":{"type":"string","description":"Name, or a resource's URI"},` +
		`"args":{"anyOf":[{"type":"object","properties":{}},{"type":"string"}],"description":"For call"},` +
		`"limit":{"type":"integer","description":"To 1000"},` +
		`"offset":{"type":"integer"},` +
		`"filter":{"type":"object","description":"For list; all must hold","properties":{` +
		`"query":{"type":"string","description":"Words; best matches first"},` +
		`"domain":{"type":"string"},` +
		`"prefix":{"type":"string"},` +
		`"tags":{"type":"array","items":{"type":"string"}}}},` +
		`"operations":{"type":"array","items":{"type":"object","properties":{}},"description":"For batch: the parameters of each"},` +
		`"id":{"type":"string","description":"For outcome: from a call's _meta; by default your latest"}` +
		`}}`),
	Annotations: &builtin.Annotations{Destructive: true},
}

// reading is for hosts that ask the user before a tool may change something, and decide by
// the tool's name and annotations, not by what a call of proxy is for. That of proxy describes
// its parameters.
var reading = builtin.Tool{
	Name:        ReadName,
	Title:       "Read browser tabs",
	Description: `Like proxy, with the same parameters, but changes nothing: calls only tools whose readOnlyHint is true. Use proxy for others.`,
	Input: json.RawMessage(`{"type":"object","required":["action"],"properties":{` +
		`"action":{"type":"string","enum":["list","info","call","batch","outcome"]},` +
		`"type":{"type":"string","enum":["tool","resource","prompt"]},` +
		`"path":{"type":"string"},` +
		`"args":{"anyOf":[{"type":"object","properties":{}},{"type":"string"}]},` +
		`"limit":{"type":"integer"},"offset":{"type":"integer"},` +
		`"filter":{"type":"object","properties":{}},` +
		`"operations":{"type":"array","items":{}},` +
		`"id":{"type":"string"}` +
		`}}`),
	Annotations: &builtin.Annotations{ReadOnly: true},
}
