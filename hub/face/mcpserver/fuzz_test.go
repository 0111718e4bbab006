package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// Whatever a client sends, the server lives on and says only JSON-RPC messages, each
// on a line of its own.
func FuzzStream(f *testing.F) {
	for _, line := range []string{
		initializeLine("2025-03-26"),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`,
		`{"jsonrpc":"2.0","id":"a\u0000","method":"tools/call","params":{"name":"echo","arguments":{"a":1},"_meta":{"progressToken":1}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{}]`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","requestState":"x.y","inputResponses":{},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["tabhub://a/x"]},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"tabhub-1","error":{"code":1,"message":"x"}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
	} {
		f.Add([]byte(line))
	}
	s := New(newScripted(), Options{MaxBody: 1 << 16})
	s.methods.AskPrefix = "tabhub-"
	f.Fuzz(func(t *testing.T, line []byte) {
		in := strings.NewReader(initializeLine("2025-03-26") + "\n" + string(line) + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		var out bytes.Buffer
		if err := s.ServeStream(asTester(context.Background()), in, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `{"jsonrpc":"2.0","id":"last","result":{}}`) {
			t.Errorf("the stream did not live on: %s", out.Bytes())
		}
		for l := range bytes.Lines(out.Bytes()) {
			var one struct{ JSONRPC string }
			var batch []struct{ JSONRPC string }
			if json.Unmarshal(l, &one) != nil && json.Unmarshal(l, &batch) != nil {
				t.Errorf("not a message: %q", l)
			}
		}
	})
}
