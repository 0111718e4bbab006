package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// What steers a reader must not get from a page into a list, wherever it stands and
// however it is written. What a call needs stays, or the tool is not listed.
func TestTextsOfItems(t *testing.T) {
	const rtl, tag = `\u202e`, `\udb40\udc41`
	for _, c := range []struct {
		kind   spec.Kind
		list   ListKind
		item   string
		want   string // in the list
		reason string // why it is not listed, or a part of it
	}{
		{spec.KindTool, ListTools, `{"name":"t","title":"a` + rtl + `b\u001b[2J","description":"c` + tag + `d\nline\u0085"}`,
			`{"name":"website_tool_e_com_t","description":"[e.com] cd\nline","title":"ab[2J","inputSchema":{"type":"object"}}`, ""},
		{spec.KindTool, ListTools, "{\"name\":\"t\",\"description\":\"a\u202eb\U000e0041\u200b\u009b\"}",
			`{"name":"website_tool_e_com_t","description":"[e.com] ab","inputSchema":{"type":"object"}}`, ""},
		{spec.KindTool, ListTools, `{"name":"t","description":"d","annotations":{"title":"a` + tag + `","readOnlyHint":true,"vendor":"x","anthropic/x":1},"steer":{"openai/x":1},"_meta":{"openai/outputTemplate":"x","tags":["a` + rtl + `"]},"icons":[{"src":"javascript:x"},{"src":"https://e.com/i.png"}]}`,
			`{"name":"website_tool_e_com_t","description":"[e.com] d","annotations":{"title":"a","readOnlyHint":true},"icons":[{"src":"https://e.com/i.png"}],"_meta":{"tags":["a"]},"inputSchema":{"type":"object"}}`, ""},
		{spec.KindTool, ListTools, `{"name":"t","description":"d","_meta":{"openai/x":1},"icons":[{"src":"file:///etc/passwd"}]}`,
			`{"name":"website_tool_e_com_t","description":"[e.com] d","inputSchema":{"type":"object"}}`, ""},
		{spec.KindTool, ListTools, `{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"a` + rtl + `","title":"` + tag + `b","$comment":"c` + tag + `","examples":["x` + tag + `",1.0]}},"$defs":{"d":{"anyOf":[{"description":"` + rtl + `e"}]}}},"outputSchema":{"type":"object","description":"o` + rtl + `"}}`,
			`{"name":"website_tool_e_com_t","description":"[e.com] d","inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"a","title":"b","$comment":"c","examples":["x",1.0]}},"$defs":{"d":{"anyOf":[{"description":"e"}]}}},"outputSchema":{"type":"object","description":"o"}}`, ""},
		{spec.KindTool, ListTools, `{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"q":{"enum":["a\u200fb","\u0645\u06cc\u200c\u062e","\n"],"description":"` + rtl + `"}}}}`,
			`{"name":"website_tool_e_com_t","description":"[e.com] d","inputSchema":{"type":"object","properties":{"q":{"enum":["a\u200fb","\u0645\u06cc\u200c\u062e","\n"],"description":""}}}}`, ""},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q` + tag + `":{}}}}`, "", `inputSchema: properties["q\U000e0041"] holds the character U+E0041, which cannot be seen`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q":{"enum":["a","b` + rtl + `"]}}}}`, "", `inputSchema: properties.q.enum[1] holds the character U+202E`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q":{"const":{"a":["\u001b"]}}}}}`, "", `inputSchema: properties.q.const.a[0] holds the character U+001B`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q":{"default":"` + tag + `"}}}}`, "", `properties.q.default holds`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q":{"pattern":"[` + rtl + `]"}}}}`, "", `properties.q.pattern holds`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","required":["` + tag + `"]}}`, "", `required[0] holds`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","x-vendor":{"note":"` + tag + `"}}}`, "", `x-vendor.note holds`},
		{spec.KindTool, ListTools, `{"name":"t","inputSchema":{"type":"object","properties":{"q\u200d\u200c\u200d\u200c":{}}}}`, "", `holds the character U+200D`},
		{spec.KindTool, ListTools, `{"name":"t","outputSchema":{"type":"object","properties":{"\u200b":{}}}}`, "", `outputSchema: properties["\u200b"] holds the character U+200B`},
		{spec.KindTool, ListTools, `{"name":"t` + tag + `"}`, "", "name holds the character U+E0041"},
		{spec.KindTool, ListTools, "{\"name\":\"t\u009b\"}", "", "name has a control character"},
		{spec.KindResource, ListResources, `{"uri":"x:y","name":"n` + rtl + `","title":"` + tag + `t","description":"d` + rtl + `","mimeType":"text/plain` + tag + `","future":1}`,
			`{"uri":"tabhub://e.com/x:y","description":"[e.com] d","title":"t","mimeType":"text/plain","name":"n"}`, ""},
		{spec.KindResource, ListResources, `{"uri":"x:` + rtl + `","name":"n"}`, "", "uri holds the character U+202E"},
		{spec.KindResource, ListTemplates, `{"uriTemplate":"x:` + tag + `{id}","name":"n"}`, "", "uriTemplate is not"},
		{spec.KindPrompt, ListPrompts, `{"name":"p","description":"d","arguments":[{"name":"a","title":"t` + rtl + `","description":"` + tag + `d","required":true,"odd":"` + rtl + `"}]}`,
			`{"name":"website_prompt_e_com_p","description":"[e.com] d","arguments":[{"name":"a","title":"t","description":"d","required":true}]}`, ""},
		{spec.KindPrompt, ListPrompts, `{"name":"p","arguments":[{"name":"a` + tag + `"}]}`, "", "arguments[].name holds the character U+E0041"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newFixture(t, Options{})
			r := w.register(w.page("https://e.com", "a"), 0, register(c.kind, "https://e.com/", c.item))
			got := string(w.hub.List(c.list).JSON)
			if c.reason != "" {
				told := append(r.Rejected, r.Warnings...)
				if (got == "[]") != (len(r.Rejected) == 1) || describe.HidesInJSON([]byte(got)) || len(told) != 1 || !strings.Contains(told[0].Reason, c.reason) {
					t.Errorf("%s\nis listed as %s, told %+v, want %q", c.item, got, told, c.reason)
				}
				if len(told) == 1 && describe.Visible(told[0].Name+told[0].Reason) != told[0].Name+told[0].Reason {
					t.Errorf("the rejection itself hides something: %+q", told[0])
				}
				return
			}
			if got != "["+c.want+"]" {
				t.Errorf("%s\nis listed as %s\nwant %s; %+v", c.item, got, c.want, r.Rejected)
			}
		})
	}
}

// An author who writes in any script without tricks finds every byte in the list.
func TestTextsThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		rest := `"title":"Größe \u00e4ndern 😀 \ud83d\ude00","annotations":{"title":"ä"},"inputSchema":{"type":"object","description":"商品 \u003cb\u003e\n\t","properties":{"名":{"enum":["é","\u00e9"],"pattern":"^\\u202e\\p{L}$"}}}`
		w.register(w.page("https://e.com", "a"), 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"t","description":"d",` + rest + `}`)}})
		if got, want := string(w.hub.List(ListTools).JSON), `[{"name":"website_tool_e_com_t","description":"[e.com] d",`+rest+`}]`; got != want {
			t.Errorf("listed\n%s\nwant\n%s", got, want)
		}
	})
}

// What a page reports while it works, and what it says is wrong, is read, too.
func TestTextsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		page, err := w.peers.Join(t.Context(), tabtransport.Conn{Origin: "https://e.com"}, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
			in.Progress(1, nil, "half\u202e\x1b[2J\U000e0041")
			return spec.Response{}, &spec.Error{Code: spec.CodeInternal, Message: "no\u202e milk\u009b", Data: json.RawMessage(`{"why":"a\u202eb"}`)}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Close()
		for _, m := range []*spec.Register{tools("", "x"), register(spec.KindPrompt, "", `{"name":"p"}`)} {
			if _, err := page.Ask(t.Context(), 0, m); err != nil {
				t.Fatal(err)
			}
		}
		var told []string
		result, err := w.hub.Call(t.Context(), Call{Name: "website_tool_e_com_x", By: reporting(func(p spec.Progress) { told = append(told, p.Message) })})
		if err != nil || !strings.Contains(string(result), `\"message\":\"no milk\"`) || len(told) != 1 || told[0] != "half[2J" {
			t.Errorf("call: %s, %v, progress %+q", result, err, told)
		}
		_, err = w.hub.GetPrompt(t.Context(), tester, "website_prompt_e_com_p", nil)
		if remote, ok := errors.AsType[*spec.Error](err); !ok || remote.Message != "no milk" || string(remote.Data) != `{"why":"ab"}` {
			t.Errorf("prompt: %#v", err)
		}
	})
}
