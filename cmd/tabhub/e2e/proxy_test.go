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

// proxySDKs are the SDK and the revision of TypeScript clients that the vectors are asked of.
var proxySDKs = []string{"v2 2026-07-28"}

// What the tool proxy answers with is the contract of its specification. It must hold
// for what a client shows to its model, too: typed clients drop annotations that they
// do not know, and then _meta has what these say.
func TestProxyVectors(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	p := newPlace(t)
	p.serve("--tools", "-browser_tab,-browser_page,-browser_script,-browser_instance") // whose definitions are no contract
	v.Tab.open(p)
	t.Run("raw", func(t *testing.T) {
		f := p.http()
		for _, x := range v.Vectors {
			a := f.ask("tools/call", fmt.Sprintf(`{"name":"proxy","arguments":%s}`, x.Arguments))
			if a.err != nil {
				t.Errorf("%s: %s", x.Arguments, a.err)
				continue
			}
			check(t, x.Arguments, x.Result, a.result)
		}
	})
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
	for _, sdk := range proxySDKs {
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
