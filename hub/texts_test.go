package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// An author who writes in any script without tricks finds every byte in the list.
func TestTextsThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		rest := `"title":"Größe \u00e4ndern 😀 \ud83d\ude00","annotations":{"title":"ä"},"inputSchema":{"type":"object","description":"商品 \u003cb\u003e\n\t","properties":{"nom":{"type":"string","enum":["é","\u00e9"],"pattern":"^\\u202e\\p{L}$"}}}`
		w.register(w.page("https://e.com", "a"), 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"t","description":"d",` + rest + `}`)}})
		if got, want := string(jsonOf(w.hub.Lists.List(lists.ListTools))), `[{"name":"website_tool_e_com_t","description":"[e.com] d",`+rest+`}]`; got != want {
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
			return spec.Response{}, &spec.Error{Code: spec.CodeInternal, Message: "no\u202e milk\u009b", Data: json.RawMessage(`{"why":"a\u202eb","at\ud800":["\ude00"]}`)}
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
		result, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_e_com_x", By: reporting(func(p spec.Progress) { told = append(told, p.Message) })})
		if err != nil || !strings.Contains(string(result), `\"message\":\"no milk\"`) || len(told) != 1 || told[0] != "half[2J" {
			t.Errorf("call: %s, %v, progress %+q", result, err, told)
		}
		_, err = w.hub.Calls.GetPrompt(t.Context(), tester, "website_prompt_e_com_p", nil)
		if remote, ok := errors.AsType[*spec.Error](err); !ok || remote.Message != "no milk" || string(remote.Data) != `{"why":"ab","at`+"\ufffd"+`":["\ufffd"]}` {
			t.Errorf("prompt: %#v", err)
		}
	})
}
