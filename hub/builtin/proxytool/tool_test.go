package proxytool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// fakeHub is a hub with fixed contents.
type fakeHub struct {
	mu    sync.Mutex
	lists map[lists.ListKind]*lists.Listing
	tools map[string]func(ctx context.Context, c call.Request) (json.RawMessage, error)
	reads map[string]string // URI → ReadResourceResult
	fails map[string]error  // name or URI → error
	got   []call.Request

	prompts map[string]string // name → GetPromptResult

	ledger *ledger.Ledger
}

func (w *fakeHub) Ledger() *ledger.Ledger { return w.ledger }

func (w *fakeHub) List(kind lists.ListKind) *lists.Listing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.lists[kind]; l != nil {
		return l
	}
	return &lists.Listing{}
}

func (w *fakeHub) Find(kind spec.Kind, name string) (lists.Item, error) {
	for _, k := range map[spec.Kind][]lists.ListKind{
		spec.KindTool: {lists.ListTools}, spec.KindPrompt: {lists.ListPrompts}, spec.KindResource: {lists.ListResources, lists.ListTemplates},
	}[kind] {
		for _, it := range w.List(k).Items {
			if it.Name == name {
				return it, nil
			}
		}
	}
	return lists.Item{}, &lists.UnknownError{Kind: kind, Name: name}
}

func (w *fakeHub) FindFor(_ *consent.Caller, kind spec.Kind, name string) (lists.Item, error) {
	return w.Find(kind, name)
}

func (w *fakeHub) ListFor(_ *consent.Caller, kind lists.ListKind) *lists.Listing { return w.List(kind) }

func (w *fakeHub) Shows(*policy.Action) bool { return true }

func (w *fakeHub) Call(ctx context.Context, c call.Request) (json.RawMessage, error) {
	w.mu.Lock()
	w.got = append(w.got, c)
	w.mu.Unlock()
	if f := w.tools[c.Name]; f != nil {
		return f(ctx, c)
	}
	return nil, &lists.UnknownError{Kind: spec.KindTool, Name: c.Name, Nearest: []string{"calculator_add"}}
}

func (w *fakeHub) ReadResource(_ context.Context, _ *consent.Caller, uri string) (json.RawMessage, error) {
	if r, ok := w.reads[uri]; ok {
		return json.RawMessage(r), nil
	}
	if err := w.fails[uri]; err != nil {
		return nil, err
	}
	return nil, &lists.UnknownError{Kind: spec.KindResource, Name: uri}
}

func (w *fakeHub) GetPrompt(_ context.Context, _ *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	if r, ok := w.prompts[name]; ok {
		return json.RawMessage(r), nil
	}
	if name == "greet" {
		return fmt.Appendf(nil, `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi %s"}}]}`, rawjson.Get(args, "who")), nil
	}
	return nil, &lists.UnknownError{Kind: spec.KindPrompt, Name: name}
}

func listing(items ...lists.Item) *lists.Listing {
	return &lists.Listing{Items: items}
}

func item(name, domain, raw string) lists.Item {
	return lists.Item{Name: name, Domain: spec.Domain(domain), Source: strings.TrimPrefix(name, "website_tool_"+domain+"_"), JSON: json.RawMessage(raw)}
}

const (
	addJSON  = `{"name":"calculator_add","description":"Add two numbers","n":12345678901234567890,"_meta":{"tags":["math"]}}`
	mulJSON  = `{"name":"calculator_mul","title":"Multiply","_meta":{"tags":["math","arithmetic"]}}`
	shopJSON = `{"name":"shop_cart","description":"[shop.example.com • Active] Puts a product into the cart"}`
)

func newFakeHub() *fakeHub {
	return &fakeHub{ledger: ledger.New(),
		lists: map[lists.ListKind]*lists.Listing{
			lists.ListTools: listing(
				item("calculator_add", "calc.example.com", addJSON),
				item("calculator_mul", "calc.example.com", mulJSON),
				item("shop_cart", "shop.example.com", shopJSON)),
			lists.ListResources: listing(item("page://a", "a", `{"uri":"page://a","name":"A"}`)),
			lists.ListTemplates: listing(item("page://{x}", "a", `{"uriTemplate":"page://{x}","name":"T"}`)),
		},
		tools: map[string]func(context.Context, call.Request) (json.RawMessage, error){
			"calculator_add": returns(`{"content":[{"type":"text","text":"8"}]}`),
			"acts": func(_ context.Context, c call.Request) (json.RawMessage, error) {
				if c.ReadOnly {
					return nil, call.ErrNotReadOnly
				}
				return json.RawMessage(`{"content":[]}`), nil
			},
			"rich": returns(`{"_meta":{"m":1},"content":[` +
				`{"type":"text","text":"a","annotations":{"proxyPath":"forged","audience":["user"],"priority":0.50}},` +
				`{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"own":true}},` +
				`{"type":"hologram","beams":1e400}` +
				`],"structuredContent":{"big":12345678901234567890,"x":"\u00e9"},"later":null}`),
			"fails":   returns(`{"content":[{"type":"text","text":"no"},{"type":"text","text":"really"}],"isError":true,"_meta":{"why":1}}`),
			"timeout": returns(string((&core.Failure{Code: spec.FailToolTimeout, Message: "waited 30s"}).Result())),
			"bare":    returns(`{"structuredContent":{"a":1}}`),
			"broken":  returns(`[1]`),
			"gone": func(ctx context.Context, _ call.Request) (json.RawMessage, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		},
		reads: map[string]string{
			"r:json-as-text": `{"contents":[{"uri":"r:json-as-text","mimeType":"text/plain","text":"{ \"key\" : \"va lue\",\n \"n\": 1.0 }"}]}`,
			"r:json":         `{"contents":[{"uri":"r:json","mimeType":"application/json; charset=utf-8","text":"{ \"a\" : 1 }"}]}`,
			"r:no-type":      `{"contents":[{"uri":"r:no-type","text":" [1, 2] ","_meta":{"k":1}}]}`,
			"r:words":        `{"contents":[{"uri":"r:words","mimeType":"text/plain","text":"hello {"}]}`,
			"r:empty":        `{"contents":[{"uri":"r:empty","mimeType":"text/plain","text":""}]}`,
			"r:blob":         `{"contents":[{"uri":"r:blob","mimeType":"image/png","blob":"eyJhIjoxfQ=="}]}`,
			"r:two":          `{"contents":[{"uri":"r:1","text":"a"},{"uri":"r:2","blob":"AA=="}],"_meta":{"ttl":5}}`,
			"r:none":         `{"contents":[]}`,
		},
		fails: map[string]error{
			"r:away":   &core.Failure{Code: spec.FailNotConnected, Message: "the tab is away"},
			"r:denied": &spec.Error{Code: -32002, Message: "not yours", Data: json.RawMessage(`{"uri":"x"}`)},
		},
	}
}

func returns(s string) func(context.Context, call.Request) (json.RawMessage, error) {
	return func(context.Context, call.Request) (json.RawMessage, error) { return json.RawMessage(s), nil }
}

func run(t *testing.T, w *fakeHub, args string) string {
	t.Helper()
	r := (&proxy{hub: w}).call(t.Context(), tester, json.RawMessage(args))
	if err := rawjson.Valid(r, spec.MaxDepth); err != nil {
		t.Fatalf("%s: the result is not JSON: %v\n%s", args, err, r)
	}
	return string(r)
}

// textOf returns the one text of a result that must be an error.
func textOf(t *testing.T, result string) string {
	t.Helper()
	var r struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		t.Fatal(err)
	}
	if !r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("want isError and one text block, got %s", result)
	}
	return r.Content[0].Text
}

func TestErrors(t *testing.T) {
	const actions, kinds = "allowed: list, info, call, batch, outcome", "allowed: tool, resource, prompt"
	for _, c := range []struct{ args, want string }{
		{``, "Parameter 'action' is required: one of list, info, call, batch, outcome; Parameter 'type' is required: one of tool, resource, prompt"},
		{`{"action":"list"}`, "Parameter 'type' is required: one of tool, resource, prompt"},
		{`{"type":"tool"}`, "Parameter 'action' is required: one of list, info, call, batch, outcome"},
		{`{"action":null,"type":"tool"}`, "Parameter 'action' is required: one of list, info, call, batch, outcome"},
		{`{"action":"info","type":"tool"}`, "Parameter 'path' is required for action 'info'"},
		{`{"action":"call","type":"tool","path":"calculator_add","path":null}`, "Parameter 'path' is required for action 'call'"},
		{`{"action":"info","type":"tool","path":""}`, "Parameter 'path' is required for action 'info'"},
		{`{"action":"list","type":"tool","args":{}}`, "Parameter 'args' should not be provided for action 'list'"},
		{`{"action":"list","type":"tool","path":"x"}`, "Parameter 'path' should not be provided for action 'list'"},
		{`{"action":"info","type":"tool","path":"x","limit":1}`, "Parameter 'limit' is only allowed for 'list' action"},
		{`{"action":"call","type":"tool","path":"x","offset":0}`, "Parameter 'offset' is only allowed for 'list' action"},
		{`{"action":"call","type":"tool","path":"x","filter":{}}`, "Parameter 'filter' is only allowed for 'list' action"},
		{`{"action":"list","type":"tool","operations":[{}]}`, "Parameter 'operations' is only allowed for 'batch' action"},
		{`{"action":"delete","type":"tool"}`, "Parameter 'action' is 'delete'; " + actions},
		{`{"action":"list","type":"tools"}`, "Parameter 'type' is 'tools'; " + kinds},
		{`{"action":"list","type":"tool","page":2}`, "Unknown parameter 'page'; allowed: action, type, path, args, limit, offset, filter, operations, partial, id"},
		{`{"action":"list","type":"tool","partial":true}`, "Parameter 'partial' is only allowed for 'batch' action"},
		{`{"action":"batch","operations":[{}],"partial":"yes"}`, "Parameter 'partial' is 'yes'; allowed: true, false"},
		{`{"action":"list","type":"tool","limit":0}`, "Parameter 'limit' is 0; allowed: an integer from 1 to 1000"},
		{`{"action":"list","type":"tool","limit":1.5}`, "Parameter 'limit' is 1.5; allowed: an integer from 1 to 1000"},
		{`{"action":"list","type":"tool","limit":"5"}`, "Parameter 'limit' is '5'; allowed: an integer from 1 to 1000"},
		{`{"action":"list","type":"tool","offset":-1}`, "Parameter 'offset' is -1; allowed: an integer from 0 to 2147483647"},
		{`{"action":"info","type":"tool","path":5}`, "Parameter 'path' must be a string, not 5"},
		{`{"action":"call","type":"tool","path":"calculator_add","args":[1]}`, "Parameter 'args' is an array; allowed: an object, or a string that holds one as JSON"},
		{`{"action":"call","type":"tool","path":"calculator_add","args":"[1]"}`, "Parameter 'args' is '[1]'; allowed: an object, or a string that holds one as JSON"},
		{`{"action":"call","type":"tool","path":"calculator_add","args":"a=1"}`, "Parameter 'args' is a string that is not JSON; allowed: an object, or a string that holds one as JSON: invalid JSON at byte 0"},
		{`{"action":"list","type":"tool","filter":{"name":"x"}}`, "Unknown filter 'name'; allowed: prefix, domain, tags, query"},
		{`{"action":"list","type":"tool","filter":{"prefix":1}}`, "Filter 'prefix' must be a string, not 1"},
		{`{"action":"list","type":"tool","filter":{"tags":"math"}}`, "Filter 'tags' must be an array of strings, not 'math'"},
		{`{"action":"list","type":"tool","filter":{"tags":[1]}}`, "Filter 'tags' must be an array of strings, not an array"},
		{`{"action":"list","type":"tool","filter":{"query":"` + strings.Repeat("word ", 40) + `"}}`, "Filter 'query' has more than 32 words"},
		{`{"action":"list","type":"tool","filter":{"tags":[` + strings.Repeat(`"x",`, 99) + `"math"]}}`, "Filter 'tags' has 100 entries; allowed: 32"},
		{`{"action":"batch"}`, "Parameter 'operations' is required for action 'batch'"},
		{`{"action":"batch","operations":{}}`, "Parameter 'operations' is an object; allowed: an array, or a string that holds one as JSON"},
		{`{"action":"batch","operations":[]}`, "Parameter 'operations' has 0 entries; allowed: 1 to 100"},
		{`{"action":"batch","operations":[` + strings.Repeat("{},", 999) + `{}]}`, "Parameter 'operations' has 1000 entries; allowed: 1 to 100, so send several batches"},
		{`{"action":"batch","operations":[{}],"path":"x"}`, "Parameter 'path' should not be provided for action 'batch'"},
		{`[]`, "The parameters must be an object: invalid JSON at byte 0"},
		{`{"action":"info","type":"tool","path":"x"}`, "Tool 'x' not found"},
		{`{"action":"info","type":"prompt","path":"x"}`, "Prompt 'x' not found"},
		{`{"action":"info","type":"tool","path":"cart"}`, "Tool 'cart' not found; nearest: shop_cart"},
		{`{"action":"call","type":"tool","path":"calculator_ad"}`, "Unknown tool: 'calculator_ad'; nearest: calculator_add"},
		{`{"action":"call","type":"tool","path":"proxy"}`, "Unknown tool: 'proxy'"},
		{`{"action":"info","type":"tool","path":"proxy"}`, "Tool 'proxy' not found"},
		{`{"action":"call","type":"tool","path":"` + strings.Repeat("x", 9000) + `"}`, "Parameter 'path' has 9000 bytes; allowed: 8192"},
		{`{"action":"call","type":"tool","path":"broken"}`, "the answer is not a result of the protocol"},
	} {
		got := textOf(t, run(t, newFakeHub(), c.args))
		if got != c.want && !(strings.HasPrefix(got, c.want) && (strings.HasSuffix(c.want, "JSON") || strings.HasSuffix(c.want, "words") ||
			strings.HasSuffix(c.want, "byte 0") || strings.HasSuffix(c.want, "100") || strings.HasSuffix(c.want, "not JSON"))) {
			t.Errorf("%.200s\n got %s\nwant %s", c.args, got, c.want)
		}
		if len(got) > 500 {
			t.Errorf("%.200s: an error of %d bytes", c.args, len(got))
		}
	}
}

// resource is the JSON of a result with one embedded resource, whose data is also structured.
func resource(uri, text, structured, annotations, mirror string) string {
	return `{"content":[{"type":"resource","resource":{"uri":"` + uri + `","mimeType":"application/json","text":` +
		string(rawjson.AppendString(nil, text)) + `},"annotations":{` + annotations + `},"_meta":{"tabhub/proxy":{` + mirror + `}}}],"structuredContent":` + structured + `}`
}

func TestSuccesses(t *testing.T) {
	const (
		toolAnnotations = `"proxyAction":"call","proxyType":"tool","proxyPath":"%s"`
		resNotes        = `"proxyAction":"call","proxyType":"resource","proxyPath":"%s"`
	)
	noted := func(notes, path string) string {
		n := fmt.Sprintf(notes, path)
		return `"annotations":{` + n + `},"_meta":{"tabhub/proxy":{` + n + `}}`
	}
	page := func(total, offset, limit int) string {
		return fmt.Sprintf(`,"totalCount":%d,"offset":%d,"limit":%d`, total, offset, limit)
	}
	list := func(kind, dataType, text, paged string) string {
		n := `"proxyAction":"list","proxyType":"` + kind + `",`
		return resource("proxy:list/"+kind, text, `{"items":`+text+paged+`}`, n+`"pythonType":"`+dataType+`","many":true`+paged, n+`"dataType":"`+dataType+`","multiple":true`+paged)
	}
	info := func(kind, path, dataType, text string) string {
		n := `"proxyAction":"info","proxyType":"` + kind + `","proxyPath":"` + path + `",`
		return resource("proxy:info/"+kind+"/"+path, text, text, n+`"pythonType":"`+dataType+`","many":false`, n+`"dataType":"`+dataType+`","multiple":false`)
	}
	for _, c := range []struct{ name, args, want string }{
		{"list", `{"action":"list","type":"tool"}`, list("tool", "Tool", `[`+addJSON+`,`+mulJSON+`,`+shopJSON+`]`, "")},
		{"list with nulls", `{"action":"list","type":"tool","path":null,"args":null,"limit":null,"filter":null}`,
			list("tool", "Tool", `[`+addJSON+`,`+mulJSON+`,`+shopJSON+`]`, "")},
		{"resources, then templates", `{"action":"list","type":"resource"}`,
			list("resource", "Resource|ResourceTemplate", `[{"uri":"page://a","name":"A"},{"uriTemplate":"page://{x}","name":"T"}]`, "")},
		{"empty list", `{"action":"list","type":"prompt"}`, list("prompt", "Prompt", `[]`, "")},
		{"limit", `{"action":"list","type":"tool","limit":1}`, list("tool", "Tool", `[`+addJSON+`]`, page(3, 0, 1))},
		{"limit and offset", `{"action":"list","type":"tool","limit":1000,"offset":1}`, list("tool", "Tool", `[`+mulJSON+`,`+shopJSON+`]`, page(3, 1, 1000))},
		{"offset beyond", `{"action":"list","type":"tool","offset":7}`, list("tool", "Tool", `[]`, page(3, 7, 1000))},
		{"prefix", `{"action":"list","type":"tool","filter":{"prefix":"calculator_"}}`, list("tool", "Tool", `[`+addJSON+`,`+mulJSON+`]`, "")},
		{"prefix, paged", `{"action":"list","type":"tool","filter":{"prefix":"calculator_"},"limit":1,"offset":1}`, list("tool", "Tool", `[`+mulJSON+`]`, page(2, 1, 1))},
		{"filter as string", `{"action":"list","type":"tool","filter":"{\"prefix\":\"shop\"}"}`, list("tool", "Tool", `[`+shopJSON+`]`, "")},
		{"filter given twice", `{"action":"list","type":"tool","filter":{"prefix":"shop","prefix":null,"tags":["x"],"tags":["math"],"domain":"d","domain":null}}`, list("tool", "Tool", `[`+addJSON+`,`+mulJSON+`]`, "")},
		{"domain", `{"action":"list","type":"tool","filter":{"domain":"SHOP.example.com"}}`, list("tool", "Tool", `[`+shopJSON+`]`, "")},
		{"one of the tags", `{"action":"list","type":"tool","filter":{"tags":["arithmetic","x"]}}`, list("tool", "Tool", `[`+mulJSON+`]`, "")},
		{"tags and prefix", `{"action":"list","type":"tool","filter":{"tags":["math"],"prefix":"calculator_a"}}`, list("tool", "Tool", `[`+addJSON+`]`, "")},
		{"query", `{"action":"list","type":"tool","filter":{"query":"multiply"}}`, list("tool", "Tool", `[`+mulJSON+`]`, page(1, 0, 20))},
		{"query, nothing found", `{"action":"list","type":"tool","filter":{"query":"zebra"}}`, list("tool", "Tool", `[]`, page(0, 0, 20))},
		{"empty filter", `{"action":"list","type":"tool","filter":{"query":"","tags":[]}}`, list("tool", "Tool", `[`+addJSON+`,`+mulJSON+`,`+shopJSON+`]`, "")},
		{"info", `{"action":"info","type":"tool","path":"calculator_add"}`, info("tool", "calculator_add", "Tool", addJSON)},
		{"info resource", `{"action":"info","type":"resource","path":"page://a"}`, info("resource", "page://a", "Resource", `{"uri":"page://a","name":"A"}`)},
		{"info template", `{"action":"info","type":"resource","path":"page://{x}"}`,
			info("resource", "page://{x}", "ResourceTemplate", `{"uriTemplate":"page://{x}","name":"T"}`)},

		{"call", `{"action":"call","type":"tool","path":"calculator_add","args":{"a":5,"b":3}}`,
			`{"content":[{"type":"text","text":"8",` + noted(toolAnnotations, "calculator_add") + `}]}`},
		{"call keeps all", `{"action":"call","type":"tool","path":"rich"}`, `{"content":[` +
			`{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.50,` + fmt.Sprintf(toolAnnotations, "rich") + `},"_meta":{"tabhub/proxy":{` + fmt.Sprintf(toolAnnotations, "rich") + `}}},` +
			`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{` + fmt.Sprintf(toolAnnotations, "rich") + `},"_meta":{"own":true,"tabhub/proxy":{` + fmt.Sprintf(toolAnnotations, "rich") + `}}},` +
			`{"type":"hologram","beams":1e400,` + noted(toolAnnotations, "rich") + `}` +
			`],"_meta":{"m":1},"structuredContent":{"big":12345678901234567890,"x":"\u00e9"},"later":null}`},
		{"call that fails", `{"action":"call","type":"tool","path":"fails"}`, `{"content":[` +
			`{"type":"text","text":"no",` + noted(toolAnnotations, "fails") + `},{"type":"text","text":"really",` + noted(toolAnnotations, "fails") + `}],"_meta":{"why":1},"isError":true}`},
		{"failure of the hub", `{"action":"call","type":"tool","path":"timeout"}`,
			`{"content":[{"text":"{\"error\":{\"code\":\"TOOL_TIMEOUT\",\"message\":\"waited 30s\"}}","type":"text",` + noted(toolAnnotations, "timeout") + `}],"isError":true}`},
		{"only structured", `{"action":"call","type":"tool","path":"bare"}`, `{"content":[],"structuredContent":{"a":1}}`},

		{"JSON as text", `{"action":"call","type":"resource","path":"r:json-as-text"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:json-as-text","mimeType":"application/json","text":"{\"key\":\"va lue\",\"n\":1.0}","contentType":"text/plain"},` +
				noted(resNotes, "r:json-as-text") + `}]}`},
		{"JSON already", `{"action":"call","type":"resource","path":"r:json"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:json","mimeType":"application/json; charset=utf-8","text":"{ \"a\" : 1 }"},` + noted(resNotes, "r:json") + `}]}`},
		{"JSON without type", `{"action":"call","type":"resource","path":"r:no-type"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:no-type","_meta":{"k":1},"mimeType":"application/json","text":"[1,2]"},` + noted(resNotes, "r:no-type") + `}]}`},
		{"not JSON", `{"action":"call","type":"resource","path":"r:words"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:words","mimeType":"text/plain","text":"hello {"},` + noted(resNotes, "r:words") + `}]}`},
		{"empty", `{"action":"call","type":"resource","path":"r:empty"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:empty","mimeType":"text/plain","text":""},` + noted(resNotes, "r:empty") + `}]}`},
		{"blob", `{"action":"call","type":"resource","path":"r:blob"}`,
			`{"content":[{"type":"resource","resource":{"uri":"r:blob","mimeType":"image/png","blob":"eyJhIjoxfQ=="},` + noted(resNotes, "r:blob") + `}]}`},
		{"several contents", `{"action":"call","type":"resource","path":"r:two"}`, `{"content":[` +
			`{"type":"resource","resource":{"uri":"r:1","text":"a"},` + noted(resNotes, "r:two") + `},` +
			`{"type":"resource","resource":{"uri":"r:2","blob":"AA=="},` + noted(resNotes, "r:two") + `}],"_meta":{"ttl":5}}`},
		{"no contents", `{"action":"call","type":"resource","path":"r:none"}`, `{"content":[]}`},
		{"resource away", `{"action":"call","type":"resource","path":"r:away"}`,
			`{"content":[{"text":"{\"error\":{\"code\":\"NOT_CONNECTED\",\"message\":\"the tab is away\"}}","type":"text",` + noted(resNotes, "r:away") + `}],"isError":true}`},
		{"page's own error", `{"action":"call","type":"resource","path":"r:denied"}`,
			`{"content":[{"type":"text","text":"{\"error\":{\"code\":-32002,\"message\":\"not yours\",\"data\":{\"uri\":\"x\"}}}",` + noted(resNotes, "r:denied") + `}],"isError":true}`},

		{"prompt", `{"action":"call","type":"prompt","path":"greet","args":{"who":5}}`, resource("proxy:call/prompt/greet",
			`{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi 5"}}]}`,
			`{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi 5"}}]}`,
			`"proxyAction":"call","proxyType":"prompt","proxyPath":"greet","pythonType":"GetPromptResult"`,
			`"proxyAction":"call","proxyType":"prompt","proxyPath":"greet","dataType":"GetPromptResult"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, newFakeHub(), c.args); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
			}
		})
	}
}

// TestArguments: what reaches the tool is what the client wrote, to the byte.
func TestArguments(t *testing.T) {
	big := `{"data":"` + strings.Repeat("0123456789", 1<<20) + `"}`
	for name, c := range map[string]struct{ args, want string }{
		"object":   {`{"a": 12345678901234567890, "b":"\u00e9" }`, `{"a": 12345678901234567890, "b":"\u00e9" }`},
		"string":   {`"{\"a\":1}"`, `{"a":1}`},
		"spaced":   {`" {\"a\":1}\n"`, `{"a":1}`},
		"none":     {`null`, ``},
		"10 MB":    {big, big},
		"as 10 MB": {string(rawjson.AppendString(nil, big)), big},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeHub()
			run(t, w, `{"action":"call","type":"tool","path":"calculator_add","args":`+c.args+`}`)
			if len(w.got) != 1 || string(w.got[0].Args) != c.want || w.got[0].By.Said != "test" || w.got[0].Name != "calculator_add" {
				t.Errorf("got %.200s", fmt.Sprint(w.got))
			}
		})
	}
}

// TestNeverItself: a page's tool of the name proxy, where pages' own names are
// listed, is not listed either, or a model would call it in place of this one.
func TestNeverItself(t *testing.T) {
	w := newFakeHub()
	w.lists[lists.ListTools] = listing(item("proxy", "d", `{"name":"proxy"}`), item("x", "d", `{"name":"x"}`))
	for _, args := range []string{`{"action":"list","type":"tool"}`, `{"action":"list","type":"tool","filter":{"query":"proxy x"}}`} {
		if got := run(t, w, args); !strings.Contains(got, `"text":"[{\"name\":\"x\"}]"`) {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// TestRecorded: what the hub does not see is in the log, too; what it sees is not
// there twice.
func TestRecorded(t *testing.T) {
	for args, want := range map[string]string{
		`{"action":"list","type":"tool"}`:                               "list tool: ok",
		`{"action":"info","type":"tool","path":"calculator_add"}`:       "info tool calculator_add: ok",
		`{"action":"info","type":"tool","path":"x"}`:                    "info tool x: unknown",
		`{"action":"call","type":"tool","path":"x"}`:                    "call tool x: unknown",
		`{"action":"call","type":"tool"}`:                               "call tool: refused",
		`{"action":"call","type":"tool","path":"calculator_add"}`:       "",
		`{"action":"batch","operations":[{},{"action":"list"}]}`:        ": refused,list: refused",
		`{"action":"call","type":"resource","path":"r:away"}`:           "",
		`{"action":"call","type":"tool","path":"calculator_add","x":1}`: "call tool calculator_add: refused",
	} {
		var mu sync.Mutex
		var got []string
		tool := &proxy{hub: newFakeHub(), log: func(r record.Entry) {
			mu.Lock()
			defer mu.Unlock()
			if r.Event != record.Proxy || r.Said != "test" || r.Time.IsZero() {
				t.Errorf("record %+v", r)
			}
			got = append(got, r.Tool+": "+r.Outcome)
		}}
		tool.call(t.Context(), tester, json.RawMessage(args))
		if s := strings.Join(got, ","); len(s) != len(want) || !strings.Contains(s+","+s, want) {
			t.Errorf("%s: recorded %q, want %q", args, s, want)
		}
	}
}

// TestCancelled: a client that gave up gets no answer, and the page's tool hears.
func TestCancelled(t *testing.T) {
	for _, args := range []string{
		`{"action":"call","type":"tool","path":"gone"}`,
		`{"action":"batch","operations":[{"action":"list","type":"tool"},{"action":"call","type":"tool","path":"gone"}]}`,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newFakeHub()
		entered := make(chan struct{})
		gone := w.tools["gone"]
		w.tools["gone"] = func(ctx context.Context, c call.Request) (json.RawMessage, error) {
			close(entered)
			return gone(ctx, c)
		}
		go func() {
			<-entered
			cancel(errors.New("the client gave up"))
		}()
		if r := (&proxy{hub: w}).call(ctx, tester, json.RawMessage(args)); r != nil {
			t.Errorf("%s: answered %s", args, r)
		}
	}
}

// TestDefinition: hosts validate it, and what they know of it costs every session.
func TestDefinition(t *testing.T) {
	for i, tool := range New(newFakeHub(), nil, nil) {
		var d struct {
			Name, Description string
			InputSchema       struct {
				Type       string
				Required   []string
				Properties map[string]struct{ Enum []string }
			}
			OutputSchema json.RawMessage
			Annotations  struct{ ReadOnlyHint, DestructiveHint bool }
		}
		if err := json.Unmarshal(tool.Definition(), &d); err != nil {
			t.Fatal(err)
		}
		s := d.InputSchema
		if d.Name != []string{"proxy", "proxy_read"}[i] || s.Type != "object" ||
			fmt.Sprint(s.Required) != "[action]" || fmt.Sprint(s.Properties["action"].Enum) != "[list info call batch outcome]" ||
			fmt.Sprint(s.Properties["type"].Enum) != "[tool resource prompt]" || len(s.Properties) != len(parameters)-1 {
			t.Errorf("%+v", d)
		}
		// A host asks the user before a call of the one, and not of the other.
		if reads := i == 1; d.Annotations.ReadOnlyHint != reads || d.Annotations.DestructiveHint == reads {
			t.Errorf("%s: %+v", d.Name, d.Annotations)
		}
		// Clients look for the tool by this word (spec/PROTOCOL.md, "The proxy tool").
		if !strings.Contains(strings.ToLower(d.Description), "proxy") {
			t.Errorf("the description does not say what it is: %s", d.Description)
		}
	}
}

func FuzzCall(f *testing.F) {
	for _, s := range []string{
		`{"action":"call","type":"tool","path":"rich","args":"{}"}`,
		`{"action":"list","type":"tool","filter":{"query":"add numbers","tags":["math"]},"limit":2}`,
		`{"action":"batch","operations":[{"action":"info","type":"resource","path":"page://a"},5,null,[]]}`,
		`{"action":"call","type":"resource","path":"r:json-as-text"}`,
	} {
		f.Add([]byte(s))
	}
	w := newFakeHub()
	delete(w.tools, "gone")
	tool := &proxy{hub: w}
	f.Fuzz(func(t *testing.T, args []byte) {
		r := tool.call(t.Context(), tester, args)
		if err := rawjson.Valid(r, spec.MaxDepth+8); err != nil {
			t.Errorf("%s: %v", r, err)
		}
		w.mu.Lock()
		w.got = nil
		w.mu.Unlock()
	})
}

// tester is on whose behalf tests call.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}

// reporting is tester, whose client wants to hear of progress.
func reporting(progress func(spec.Progress)) *consent.Caller {
	by := *tester
	by.Progress = progress
	return &by
}

// call calls the tool with the main name, and returns nil if it was cancelled.
func (t *proxy) call(ctx context.Context, by *consent.Caller, args json.RawMessage) json.RawMessage {
	result, _ := t.handler(Name, false)(ctx, by, args)
	return result
}
