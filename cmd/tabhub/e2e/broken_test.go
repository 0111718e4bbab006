package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"tabhub/hub/httpd"
	"tabhub/spec/rawjson"
)

// An answer that could not be written, as its client's connection had broken, is given once to the
// client when it asks the same again. The page works once.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	var runs atomic.Int64
	begun, finish := make(chan bool, 10), make(chan bool, 10)
	p.open(&tab{key: "x", tools: `[{"name":"pay"}]`, run: func(string, json.RawMessage) string {
		n := runs.Add(1)
		begun <- true
		<-finish
		return fmt.Sprintf(`{"content":[{"type":"text","text":"payment %d"}]}`, n)
	}})
	first := p.sse()
	pay := fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, listTools(t, first).named("_pay"))
	first.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + pay + `}`)
	<-begun
	first.leave()
	p.until("the hub knows that the client has left", func() bool {
		var all []httpd.ClientSession
		p.api("/api/sessions", &all)
		for _, s := range all {
			if s.Connected {
				return false
			}
		}
		return true
	})
	finish <- true
	again := p.sse()
	for i, want := range []struct {
		text     string
		repeated bool
	}{{"payment 1", true}, {"payment 2", false}} {
		if !want.repeated {
			finish <- true
		}
		got := again.ask("tools/call", pay)
		if repeated := rawjson.Get(got.result, "_meta", "tabhub/repeated") != nil; !strings.Contains(string(got.result), want.text) || repeated != want.repeated || runs.Load() != int64(i+1) {
			t.Errorf("asked %d times: the page worked %d times, and the client got %s %s", i+1, runs.Load(), got.result, got.err)
		}
	}
}
