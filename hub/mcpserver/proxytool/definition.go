package proxytool

import (
	"encoding/json"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/record"
)

// The names of the tools. A page's tool cannot get them.
const (
	Name     = "proxy"
	ReadName = "proxy_read"
)

// New returns the tools proxy and proxy_read of a hub, whose other builtin tools are
// others. log, if not nil, gets a record of each operation that is no call of something
// that there is: of the calls those who serve them leave one.
func New(h Hub, others []builtin.Tool, log func(record.Entry)) []builtin.Tool {
	p := &proxy{hub: h, builtin: others, log: log}
	for i := range others {
		t := &others[i]
		p.builtinItems = append(p.builtinItems, hub.Item{
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
	Description: `Proxy for the open browser tabs: lists, describes and calls their tools, resources and prompts, and this server's own tools; also those that are not in the list of tools: of sites with many, or of pages that were opened later. ` +
		`Find: {"action":"list","type":"tool","filter":{"query":"add to cart"}}. ` +
		`Describe: {"action":"info","type":"tool","path":NAME}. ` +
		`Run: {"action":"call","type":"tool","path":NAME,"args":{…}}. ` +
		`For resources the path is the URI, for prompts the name. ` +
		`Batch: {"action":"batch","operations":[{…},{…}]} runs up to 100 of these, in order, even if one fails; neighbours that only read run side by side. ` +
		`What became of a call whose answer you have not got: {"action":"outcome"}; call it again only if it was not_sent. ` +
		`proxy_read does the same where nothing is to be changed.`,
	Input:       input,
	Annotations: &builtin.Annotations{Title: "Tools of browser tabs", Destructive: true, OpenWorld: true},
}

// reading is for hosts that ask the user before a tool may change something, and decide by
// the tool's name and annotations, not by what a call of proxy is for.
var reading = builtin.Tool{
	Name:  ReadName,
	Title: "Read through browser tabs",
	Description: `Like proxy, with the same parameters, but changes nothing: lists and describes everything, reads resources and prompts, and calls tools whose readOnlyHint is true. ` +
		`Any other call is refused; make it with proxy.`,
	Input:       input,
	Annotations: &builtin.Annotations{Title: "Read through browser tabs", ReadOnly: true, OpenWorld: true},
}

// input is flat, without oneOf and the like at its top, which some hosts refuse: that
// each action but batch needs a type is for the tool to say. There is no schema of the
// output: a client that is given one refuses each result that does not fit, and what call
// returns is another tool's.
var input = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{` +
	`"action":{"type":"string","enum":["list","info","call","batch","outcome"],"description":"What to do."},` +
	`"type":{"type":"string","enum":["tool","resource","prompt"],"description":"What to do it with. Required, but for batch and outcome, which ignore it."},` +
	`"path":{"type":"string","description":"Name of the tool or prompt, or URI of the resource. For info and call only, where it is required."},` +
	`"args":{"anyOf":[{"type":"object"},{"type":"string"}],"description":"Arguments of the tool or prompt: an object, or a string that holds one as JSON. For call only."},` +
	`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many to list at most. For list only; 20 if there is a query."},` +
	`"offset":{"type":"integer","minimum":0,"description":"How many to skip. For list only."},` +
	`"filter":{"type":"object","additionalProperties":false,"description":"Which to list; all conditions must hold. For list only.","properties":{` +
	`"query":{"type":"string","description":"Words to look for in name, title and description. The best matches come first."},` +
	`"domain":{"type":"string","description":"The site, such as example.com or localhost:3000."},` +
	`"prefix":{"type":"string","description":"What the name or URI begins with."},` +
	`"tags":{"type":"array","maxItems":32,"items":{"type":"string"},"description":"Tags, of which it has at least one."}}},` +
	`"operations":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object"},"description":"For batch only: the parameters of each operation."},` +
	`"partial":{"type":"boolean","description":"For batch only, and programs that read progress notifications: put each operation's result into the one that tells its end."},` +
	`"id":{"type":"string","description":"For outcome only: the call's id, as its result has it in _meta; your latest call without it."}` +
	`}}`)
