package proxytool

import (
	"encoding/json"

	"tabhub/hub/builtin"
	"tabhub/storage"
)

// Name is the tool's name. It is not a name that a page's tool can get.
const Name = "proxy"

// New returns the tool proxy of a hub. record, if not nil, gets a record of each operation
// that does not reach the hub, which records the others: list, info, and what is refused.
func New(h Hub, record func(storage.Record)) builtin.Tool {
	t := definition
	t.Call = (&proxy{hub: h, log: record}).call
	t.Subject = subject
	return t
}

// The schema is flat, without oneOf and the like at its top, which some hosts refuse.
var definition = builtin.Tool{
	Name:  Name,
	Title: "Tools of browser tabs",
	Description: `Proxy for the open browser tabs: lists, describes and calls their tools, resources and prompts, also those that are not in the list of tools: of sites with many, or of pages that were opened later. ` +
		`Find: {"action":"list","type":"tool","filter":{"query":"add to cart"}}. ` +
		`Describe: {"action":"info","type":"tool","path":NAME}. ` +
		`Run: {"action":"call","type":"tool","path":NAME,"args":{…}}. ` +
		`For resources the path is the URI, for prompts the name. ` +
		`Batch: {"action":"batch","operations":[{…},{…}]} runs up to 100 of these side by side.`,
	Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action","type"],"properties":{` +
		`"action":{"type":"string","enum":["list","info","call","batch"],"description":"What to do."},` +
		`"type":{"type":"string","enum":["tool","resource","prompt"],"description":"What to do it with. Ignored by batch, where it may be left out."},` +
		`"path":{"type":"string","description":"Name of the tool or prompt, or URI of the resource. For info and call only, where it is required."},` +
		`"args":{"anyOf":[{"type":"object"},{"type":"string"}],"description":"Arguments of the tool or prompt: an object, or a string that holds one as JSON. For call only."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many to list at most. For list only; 20 if there is a query."},` +
		`"offset":{"type":"integer","minimum":0,"description":"How many to skip. For list only."},` +
		`"filter":{"type":"object","additionalProperties":false,"description":"Which to list; all conditions must hold. For list only.","properties":{` +
		`"query":{"type":"string","description":"Words to look for in name, title and description. The best matches come first."},` +
		`"domain":{"type":"string","description":"The site, such as example.com or localhost:3000."},` +
		`"prefix":{"type":"string","description":"What the name or URI begins with."},` +
		`"tags":{"type":"array","maxItems":32,"items":{"type":"string"},"description":"Tags, of which it has at least one."}}},` +
		`"operations":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object"},"description":"For batch only: the parameters of each operation."}` +
		`}}`),
	Annotations: &builtin.Annotations{Title: "Tools of browser tabs", Destructive: true, OpenWorld: true},
}
