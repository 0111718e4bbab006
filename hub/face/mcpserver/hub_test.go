package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// What a page made is what a client gets, whatever MCP's types know of it.
func TestNothingIsLostBetweenTabAndClient(t *testing.T) {
	synctest.Test(t, testNothingIsLost)
}

func testNothingIsLost(t *testing.T) {
	odd := []string{
		`{"name":"plain.dotted","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890,"default":[1.0,1E3]},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{}}},"annotations":{"cache":true,"openWorldHint":true},"_meta":{"com.example.shop/x":{"deep":[null],"k":"\u00e9\ud83d\ude00"}},"icons":[{"src":"https://example.com/x.png"}]}`,
		`{"name":"plain_dotted","description":"collides after cleaning","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
	}
	big := strings.Repeat("5 MB of text é\\n", 5<<20/16)
	results := map[string]string{
		"unknown":    `{"_meta":{"com.example.shop/b":[]},"content":[{"type":"text","text":"t","payload":{"z":1e-400}}],"structuredContent":{"big":9007199254740993,"f":1.0},"isError":false,"later":{"x":1}}`,
		"image":      `{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.10}}],"structuredContent":{}}`,
		"large":      `{"content":[{"type":"text","text":"` + big + `"}],"structuredContent":{}}`,
		"error":      `{"content":[{"type":"text","text":"no"}],"isError":true}`,
		"duplicates": `{"content":[{"type":"text","text":""}],"structuredContent":{},"a":1,"a":2}`,
	}
	h := hubtest.Open(t, hub.Options{})
	var got json.RawMessage
	h.JoinTab("https://shop.example.com", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		got = bytes.Clone(in.Request.(*spec.ExecuteTool).Args)
		var args struct{ Want string }
		_ = json.Unmarshal(got, &args)
		return spec.Response{Result: json.RawMessage(results[args.Want])}, nil
	}, odd...)
	time.Sleep(time.Second) // for the change to be over before there is a client
	c := streamTo(t, newServer(t, h.ClientView(), Options{}))
	c.initialize("2025-11-25")

	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)), &list); err != nil || len(list.Result.Tools) != 2 {
		t.Fatalf("%v: %s", err, list.Result.Tools)
	}
	names := map[string]bool{}
	for i, raw := range list.Result.Tools {
		var made, listed map[string]json.RawMessage
		_ = json.Unmarshal([]byte(odd[i]), &made)
		_ = json.Unmarshal(raw, &listed)
		for key, value := range made {
			if key != "name" && key != "description" && string(listed[key]) != string(value) {
				t.Errorf("tool %d, %s:\n got %s\nwant %s", i, key, listed[key], value)
			}
		}
		names[string(listed["name"])] = true
	}
	if len(names) != 2 {
		t.Fatalf("two tools share a name: %v", names)
	}
	for name := range names {
		for want, result := range results {
			args := `{"want":"` + want + `","n":9007199254740993,"f":1.0,"s":"\u2028","nested":{"a":[1,{}]}}`
			answer := c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":` + name + `,"arguments":` + args + `}}`)
			if answer = unlabelled(t, answer, "shop.example.com"); answer != `{"jsonrpc":"2.0","id":2,"result":`+result+`}` {
				t.Errorf("%s %s: got %.300s", name, want, answer)
			}
			if string(got) != args {
				t.Errorf("the page got %s\nwant %s", got, args)
			}
		}
	}
}
