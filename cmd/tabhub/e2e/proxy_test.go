package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// nodeClients is where the scripts and packages of the Node clients are.
const nodeClients = "../testdata/clients"

// vectors say what the tool proxy answers with.
type vectors struct {
	Tab     proxyTab
	Vectors []struct{ Arguments, Result json.RawMessage }
}

func readVectors(t testing.TB) *vectors {
	t.Helper()
	raw, err := os.ReadFile(nodeClients + "/proxy.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return &v
}

// What the tool proxy answers with is the contract of its specification. It must hold
// for what a client shows to its model, too: typed clients drop annotations that they
// do not know, and then _meta has what these say.
func TestProxyVectors(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	p := newPlace(t)
	p.serve("--tools", "-browser_tab,-browser_page,-browser_instance") // whose definitions are no contract
	v.Tab.open(p)
	for name, open := range map[string]func(*place) face{
		"stdio":           func(p *place) face { return p.stdio() },
		"Streamable HTTP": func(p *place) face { return p.http() },
		"SSE":             func(p *place) face { return p.sse() },
	} {
		t.Run("raw "+name, func(t *testing.T) {
			f := open(p)
			for _, x := range v.Vectors {
				a := f.ask("tools/call", fmt.Sprintf(`{"name":"proxy","arguments":%s}`, x.Arguments))
				if a.err != nil {
					t.Errorf("%s: %s", x.Arguments, a.err)
					continue
				}
				check(t, x.Arguments, x.Result, a.result)
			}
		})
	}
	t.Run("Go SDK", func(t *testing.T) {
		h := p.host()
		for _, x := range v.Vectors {
			result, err := h.session.CallTool(p.within(), &mcp.CallToolParams{Name: "proxy", Arguments: x.Arguments})
			if err != nil {
				t.Errorf("%s: %v", x.Arguments, err)
				continue
			}
			raw, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.ReplaceAll(typed(t, x.Result), []byte(`,"text":""`), nil) // is left out by Marshal alone
			check(t, x.Arguments, want, raw)
		}
	})
	for _, sdk := range []string{"v1 2025-11-25", "v2 2025-11-25", "v2 2026-07-28"} {
		t.Run("TypeScript SDK "+sdk, func(t *testing.T) {
			cmd := node(t, append([]string{"proxy.mjs"}, strings.Fields(sdk)...)...)
			server, err := json.Marshal(p.command("stdio", "--listen", p.listen).Args)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(p.env, "TABHUB_COMMAND="+string(server))
			stdout, stderr, exit := runCommand(t, cmd)
			var shown []json.RawMessage
			if err := json.Unmarshal([]byte(stdout), &shown); err != nil || exit != 0 || len(shown) != len(v.Vectors) {
				t.Fatalf("exit code %d, %v\n%s\n%s", exit, err, stdout, stderr)
			}
			for i, x := range v.Vectors {
				check(t, x.Arguments, typed(t, x.Result), shown[i])
			}
		})
	}
}

// A host that lists tools once, at its start, and drops what comes later must reach
// the tools of tabs that are opened afterwards: in a hub that knows such hosts by
// their name, as in one that lists everything.
func TestFrozenClientReachesLaterTabs(t *testing.T) {
	t.Parallel()
	for _, expose := range []string{"auto", "all", "proxy"} {
		t.Run("--expose "+expose, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve("--expose", expose)
			c := p.stdioRaw()
			if a := c.ask("initialize", strings.Replace(initializeParams, `"e2e"`, `"claude-ai"`, 1)); a.err != nil {
				t.Fatalf("initialize: %s", a.err)
			}
			c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			once := c.tools()
			if once.find("proxy") == nil || len(once.names()) != 0 {
				t.Fatalf("at its start the client lists %s", once)
			}
			p.open(&tab{key: "later", tools: `[{"name":"order_tea","description":"Orders tea","inputSchema":{"type":"object"}}]`, run: func(_ string, args json.RawMessage) string {
				return echo(args)
			}})

			var found []struct{ Name string }
			a := c.call("proxy", `{"action":"list","type":"tool","filter":{"query":"order some tea"}}`)
			text, _ := rawjson.String(rawjson.Get(first(rawjson.Get(a.result, "content")), "resource", "text"))
			if json.Unmarshal([]byte(text), &found) != nil || len(found) != 1 {
				t.Fatalf("proxy lists %s %s", a.err, a.result)
			}
			a = c.call("proxy", fmt.Sprintf(`{"action":"call","type":"tool","path":%q,"args":{"cups":2}}`, found[0].Name))
			text, _ = rawjson.String(rawjson.Get(first(rawjson.Get(a.result, "content")), "text"))
			if a.outcome() != "ok" || text != `{"cups":2}` {
				t.Errorf("proxy calls: %s %s", a.err, a.result)
			}
			if now := len(c.tools().names()); (now != 0) != (expose == "all") {
				t.Errorf("%d tools of pages are listed", now)
			}
		})
	}
}

// A model that has only proxy, and one step, can open a page and use it: the operations of
// a batch that act keep their order.
func TestBatchOpensATabAndCallsInIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	url := website(t)
	p.browse().Open(url + "/?1")
	buy := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 }).named("_buy")
	op := func(tool, args string) string {
		return fmt.Sprintf(`{"action":"call","type":"tool","path":%q,"args":%s}`, tool, args)
	}
	a := c.call("proxy", `{"action":"batch","operations":[`+
		op("browser_tab", fmt.Sprintf(`{"action":"new","url":%q,"active":true}`, url+"/?2"))+`,`+
		op("browser_page", `{"action":"wait"}`)+`,`+op(buy, `{"n":3}`)+`]}`)
	var got struct {
		Meta struct {
			Proxy struct {
				Results []struct {
					Call              string
					StructuredContent struct{ At string }
				}
			} `json:"tabhub/proxy"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(a.result, &got); err != nil {
		t.Fatalf("%v: %s %s", err, a.err, a.result)
	}
	if results := got.Meta.Proxy.Results; len(results) != 3 || results[2].StructuredContent.At != "?2" || results[2].Call == "" {
		t.Fatalf("the batch: %s", a.result)
	}
	type line struct{ Tool, Via, Outcome, Call string }
	var log []line
	stdout, stderr, exit := p.run("log", "--event", "call", "--json")
	for d := json.NewDecoder(strings.NewReader(stdout)); d.More(); {
		var l line
		if err := d.Decode(&l); err != nil || exit != 0 {
			t.Fatalf("%v: %s %s", err, stdout, stderr)
		}
		log = append(log, l)
	}
	log = log[max(0, len(log)-3):]
	want := []string{"browser_tab new proxy ok", "browser_page wait proxy ok", "buy proxy ok"}
	for i, w := range want {
		if i >= len(log) || strings.Join([]string{log[i].Tool, log[i].Via, log[i].Outcome}, " ") != w || log[i].Call != got.Meta.Proxy.Results[i].Call {
			t.Errorf("the log: %+v", log)
		}
	}
}

// first returns the first element of an array, nil if there is none.
func first(array json.RawMessage) json.RawMessage {
	for x := range rawjson.Elements(array) {
		return x
	}
	return nil
}

// What a model may get wrong by size is refused or carried, and the client goes on.
func TestProxyTakesLargeInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	p.open(&tab{key: "large", tools: `[{"name":"size","description":"d","inputSchema":{"type":"object"}}]`, run: func(_ string, args json.RawMessage) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, len(args))
	}})
	c := p.stdio()
	path := c.tools().named("_size")
	args := `{"data":"` + strings.Repeat("0123456789", 1<<20) + `"}`
	asString := string(rawjson.AppendString(nil, args))
	for name, args := range map[string]string{"an object": args, "a string": asString} {
		a := c.call("proxy", fmt.Sprintf(`{"action":"call","type":"tool","path":%q,"args":%s}`, path, args))
		if text, _ := rawjson.String(rawjson.Get(first(rawjson.Get(a.result, "content")), "text")); text != fmt.Sprint(10<<20+len(`{"data":""}`)) {
			t.Errorf("10 MB in %s: %s, the page got %.200s bytes", name, a.outcome(), text)
		}
	}
	op := fmt.Sprintf(`{"action":"call","type":"tool","path":%q}`, path)
	a := c.call("proxy", `{"action":"batch","operations":[`+strings.Repeat(op+",", 999)+op+`]}`)
	if text, _ := rawjson.String(rawjson.Get(first(rawjson.Get(a.result, "content")), "text")); !strings.Contains(text, "1000 entries") {
		t.Errorf("a batch of 1,000: %s %.300s", a.outcome(), a.result)
	}
	a = c.call("proxy", `{"action":"batch","operations":[`+strings.Repeat(op+",", 99)+op+`]}`)
	if blocks := strings.Count(string(a.result), `"text":"2"`); a.outcome() != "ok" || blocks != 100 {
		t.Errorf("a batch of 100: %s, %d answers", a.outcome(), blocks)
	}
}

// node returns a command that runs a script with the Node of the clients' packages.
func node(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	program, err := filepath.Abs(nodeClients + "/node_modules/node/bin/node")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		const reason = "needs the packages of cmd/tabhub/testdata/clients: npm ci"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = nodeClients
	return cmd
}

// check compares what a client shows with what it should show.
func check(t *testing.T, arguments, want, got json.RawMessage) {
	t.Helper()
	shown := decoded(t, unlabelled(got))
	// What each result of revision 2026-07-28 says.
	delete(shown, "resultType")
	if meta, ok := shown["_meta"].(map[string]any); ok {
		delete(meta, "io.modelcontextprotocol/serverInfo")
		if len(meta) == 0 {
			delete(shown, "_meta")
		}
	}
	if !reflect.DeepEqual(decoded(t, want), shown) {
		t.Errorf("%s\n got %s\nwant %s", arguments, got, want)
	}
}

// labels match where a result says that it is from, and which call it answers, also in JSON
// within a string. Each run names the tab and the call otherwise.
var labels = []*regexp.Regexp{
	regexp.MustCompile(`\\*"(?:tabhub/)?call\\*":\\*"[A-Z2-7]{10}\\*",?`),
	regexp.MustCompile(`\\*"tabhub/source\\*":\{[^{}]*\},?`),
	regexp.MustCompile(`\\*"_meta\\*":\{\},?`),
	regexp.MustCompile(`,(\})`), // what these leave
}

func unlabelled(result json.RawMessage) json.RawMessage {
	for _, label := range labels {
		result = label.ReplaceAll(result, []byte("$1"))
	}
	return result
}

func decoded(t *testing.T, raw json.RawMessage) (v map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// typed returns what is left of a result in a client that has a type for all of it.
func typed(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	result := decoded(t, raw)
	for _, block := range result["content"].([]any) {
		block := block.(map[string]any)
		maps.DeleteFunc(block["annotations"].(map[string]any), func(key string, _ any) bool {
			return key != "audience" && key != "priority" && key != "lastModified"
		})
		if resource, ok := block["resource"].(map[string]any); ok {
			delete(resource, "contentType")
		}
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// proxyTab is what the tab of the vectors offers.
type proxyTab struct {
	Tools, Resources, Prompts []struct {
		Definition, Result json.RawMessage
	}
}

// open opens the tab.
func (x *proxyTab) open(p *place) {
	p.t.Helper()
	results := map[string]string{} // by name, URI or URI template
	offer := func(items []struct{ Definition, Result json.RawMessage }) string {
		var all []string
		for _, it := range items {
			all = append(all, string(it.Definition))
			for _, key := range []string{"name", "uri", "uriTemplate"} {
				if id, ok := rawjson.String(rawjson.Get(it.Definition, key)); ok {
					results[id] = string(it.Result)
				}
			}
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	quoted := func(b []byte) string { return string(rawjson.AppendString(nil, string(b))) }
	tab := p.open(&tab{key: "vectors", tools: offer(x.Tools), run: func(tool string, args json.RawMessage) string {
		return strings.ReplaceAll(results[tool], `"ARGS"`, quoted(args))
	}})
	for kind, items := range map[string]string{"Resources": offer(x.Resources), "Prompts": offer(x.Prompts)} {
		a := tab.ask(quoted([]byte(kind)), fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"browser/register%s","params":{%q:%s,"tabUrl":%q,"title":"Vectors"}}`,
			kind, kind, strings.ToLower(kind), items, tabOrigin+"/vectors"))
		if a.err != nil || !strings.HasSuffix(string(a.result), `"rejected":[]}`) {
			p.t.Fatalf("the hub did not take the %s: %s %s", kind, a.err, a.result)
		}
	}
	tab.ended.Go(func() {
		for {
			select {
			case <-tab.ctx.Done():
				return
			case frame := <-tab.others:
				method, _ := rawjson.String(rawjson.Get(frame, "method"))
				name, _ := rawjson.String(rawjson.Get(frame, "params", "name"))
				uri := rawjson.Get(frame, "params", "uri")
				var result string
				switch method {
				case spec.MethodReadResource:
					name, _ = rawjson.String(uri)
					if strings.HasPrefix(name, "note://page/") {
						name = "note://page/{n}"
					}
					result = strings.ReplaceAll(results[name], `"URI"`, string(uri))
				case spec.MethodGetPrompt:
					result = strings.ReplaceAll(results[name], `"ARGS"`, quoted(rawjson.Get(frame, "params", "args")))
				default:
					continue
				}
				tab.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, rawjson.Get(frame, "id"), result))
			}
		}
	})
}
