package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/hubtest"
	"tabhub/spec/rawjson"
)

// oddTools are legal, and each is of a kind that a program which decodes and encodes
// again would change.
var oddTools = []string{
	`{"name":"numbers","description":"d","inputSchema":{"type":"object","properties":{"id":{"type":"integer","minimum":-9007199254740993,"maximum":12345678901234567890},"one":{"const":1.0},"small":{"default":1e-7},"large":{"examples":[1E+300,-0,0.10]}}}}`,
	`{"name":"escapes","description":"d","title":"Café <b>&amp;","inputSchema":{"type":"object","description":"\u003cé\ud83d\ude00😀\/","properties":{"ab":{"type":"string","pattern":"^\\p{L}+$","default":"caf\u00e9 \/ <b>&amp;<\/b>"}}}}`,
	`{"name":"refs","description":"d","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"}}}},"type":"object","properties":{"head":{"$ref":"#/$defs/node"}}}}`,
	`{"name":"unknown","description":"d","inputSchema":{"type":"object","properties":{"v":{"default":[null,true,{"":""},[[[{"x":1}]]]]}}},"_meta":{"tags":["caf\u00e9", "\/"]},"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]}`,
	`{"name":"annotated","description":"d","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":0.010}},"required":["n"]},"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}}`,
	`{"name":"alike","description":"d","inputSchema":{"type":"object","properties":{"name":{},"Name":{},"NAME":{},"type":{},"Type":{}}}}`,
	`{"name":"deep","description":"d","inputSchema":{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"object","properties":{"a":`, 13) + `{}` + strings.Repeat(`}}`, 13) + `}}}`,
	`{ "name" : "spaced" ,	"description" : "d" , "inputSchema" : { "type" :  "object" , "properties" : { } } , "annotations" : { "readOnlyHint" : true } }`,
	`{"name":"cart.items.list","description":"d","inputSchema":{"type":"object","properties":{}}}`,
	`{"name":"cart_items.list","description":"d","inputSchema":{"type":"object","properties":{}}}`,
	`{"name":"cart-items/list","description":"d","inputSchema":{"type":"object","properties":{}}}`,
	`{"name":"日本語","description":"d","inputSchema":{"type":"object","properties":{}}}`,
	`{"name":"中文字","description":"d","inputSchema":{"type":"object","properties":{}}}`,
	`{"name":"a_name_that_is_far_too_long_for_the_sixty_four_characters_which_hosts_allow_for_names","description":"d","inputSchema":{"type":"object","properties":{}}}`,
}

var megabytes = strings.Repeat(`five megabytes é \u00e9 \/ \" 😀 `, 5<<20/35)

// oddArguments are what clients send.
var oddArguments = []string{
	`{}`,
	`{"id":12345678901234567890,"neg":-9007199254740993,"one":1.0,"int":1,"exp":1E+2,"tiny":1e-400,"zero":-0,"frac":0.10}`,
	`{"text":"caf\u00e9 é \/ \ud83d\ude00 😀 \u0000 \u2028 <>&","a\/b":1}`,
	`{"name":1,"Name":2,"NAME":3," name":4,"":5,"toolName":"other","args":{"x":1}}`,
	`{ "spaced" : [ 1 , 2 ,	{ } ] , "n" : null }`,
	`{"deep":` + strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300) + `}`,
	`{"big":"` + megabytes + `"}`,
}

// oddResults are what pages answer with.
var oddResults = []string{
	`{"content":[]}`,
	`{"_meta":{"tags":["\u00e9", "\/"]},"content":[{"type":"text","text":"caf\u00e9 \/ é \u2028 \ud83d\ude00"}],"n":12345678901234567890,"isError":false}`,
	`{"content":[{"type":"text","text":"{\"n\":1.0}"}],"structuredContent":{"n":1.0,"N":1,"big":-9007199254740993,"exp":1E+400,"zero":-0}}`,
	`{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.50}},{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}`,
	`{"content":[{"type":"text","text":"t","depth":3,"frames":[1,2.0]},{"type":"resource_link","uri":"shop://x","name":"x"},{"type":"resource","resource":{"uri":"shop://x","text":"t","_meta":{}}}],"futureMember":{"a":[{}]}}`,
	`{ "content" : [ { "type" : "text" , "text" : "spaced" } ] ,	"structuredContent" : { } }`,
	`{"structuredContent":{"deep":` + strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300) + `},"content":[{"type":"text","text":"deep"}]}`,
	`{"content":[{"type":"text","text":"the page says no"}],"isError":true,"code":"E_STOCK"}`,
	`{"content":[{"type":"text","text":"` + megabytes + `"}]}`,
}

// What a page says and what a client says arrive as they were said, whatever the
// client's way to the hub: a number that was rounded or a field that was dropped is
// a wrong order somewhere.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	calls := make(chan [2]string, 1) // the tool and the arguments that the page got
	results := make(chan string, 1)
	p.open(&tab{key: "odd", tools: "[" + strings.Join(oddTools, ",") + "]", run: func(tool string, args json.RawMessage) string {
		calls <- [2]string{tool, string(args)}
		return <-results
	}})
	for name, f := range map[string]face{"bridge": p.stdio(), "Streamable HTTP": p.http(), "SSE": p.sse()} {
		t.Run(name, func(t *testing.T) {
			list := listTools(t, f)
			names := checkOddTools(t, p, list)

			for i := range max(len(oddArguments), len(oddResults)) {
				args, result := oddArguments[i%len(oddArguments)], oddResults[i%len(oddResults)]
				results <- result
				a := f.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, names["unknown"], args))
				if a.err != nil {
					t.Fatalf("call %d: %s", i, a.err)
				}
				if got := <-calls; got[1] != args {
					t.Errorf("the page got the arguments\n%s\nwant\n%s", clip(got[1]), clip(args))
				}
				if a.said() != result {
					t.Errorf("the client got the result\n%s\nwant\n%s", clip(string(a.result)), clip(result))
				}
			}
			// Each name leads to the tool that it stands for.
			for source, name := range names {
				results <- oddResults[0]
				if a := f.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name)); a.err != nil {
					t.Fatalf("call of %s: %s", name, a.err)
				}
				if got := <-calls; got[0] != source {
					t.Errorf("%s called the page's tool %q, want %q", name, got[0], source)
				}
			}
		})
	}
}

// checkOddTools compares what a client lists with oddTools, and returns the public
// names by the page's.
func checkOddTools(t *testing.T, p *place, list tools) (names map[string]string) {
	t.Helper()
	names = make(map[string]string)
	var reports []struct{ Name, Source string }
	p.api("/api/tools", &reports)
	for _, r := range reports {
		if r.Source != "" {
			names[r.Source] = r.Name
		}
	}
	if len(names) != len(oddTools) || len(list.names()) != len(oddTools) || len(slices.Compact(slices.Sorted(maps.Values(names)))) != len(oddTools) {
		t.Fatalf("%d tools are listed under the names %v, want %d", len(list.names()), names, len(oddTools))
	}
	for _, registered := range oddTools {
		source := nameOf(json.RawMessage(registered))
		listed := list.find(names[source])
		want := map[string]string{}
		for key, value := range rawjson.Members([]byte(registered)) {
			want[key] = string(value)
		}
		// These two are the hub's to write.
		want["name"], want["description"] = string(rawjson.Get(listed, "name")), string(rawjson.Get(listed, "description"))
		got := map[string]string{}
		for key, value := range rawjson.Members(listed) {
			got[key] = string(value)
		}
		if !maps.Equal(got, want) {
			t.Errorf("the page's tool\n%s\nis listed as\n%s", registered, listed)
		}
	}
	return names
}

func clip(s string) string {
	if len(s) <= 700 {
		return s
	}
	return fmt.Sprintf("%s … %s (%d bytes)", s[:300], s[len(s)-300:], len(s))
}

// Line breaks between the tokens of JSON are all that changes: a client that reads
// lines would take them for the end of the message.
func TestLineBreaksBetweenTokens(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	const args, result = "{\r\n\t\"a\": [\n1.0 ]\n}", "{\n  \"content\": [\r\n  ]\n}"
	got := make(chan string, 1)
	p.open(&tab{key: "x", tools: `[{"name":"t"}]`, run: func(_ string, args json.RawMessage) string {
		got <- string(args)
		return result
	}})
	c := p.stdio()
	name := c.tools().named("_t")
	resp, body, err := post(p.within(), p.url()+"/api/call", bearer(p.token()), fmt.Sprintf("{\"name\":%q,\"arguments\":%s}", name, args))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("call: %v %s %v", resp, body, err)
	}
	if args := <-got; args != "{\r\n\t\"a\": [\n1.0 ]\n}" {
		t.Errorf("the page got the arguments %q", args)
	}
	want := strings.NewReplacer("\n", " ", "\r", " ").Replace(result)
	if hubtest.Said(body) != want {
		t.Errorf("over HTTP: %q, want %q", body, want)
	}
	a := c.call(name, `{}`)
	<-got
	if a.said() != want {
		t.Errorf("over stdio: %q, want %q", a.result, want)
	}
}
