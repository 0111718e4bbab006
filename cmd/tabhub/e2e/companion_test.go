package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/wsserver/wstest"
)

// bank is a site that others would like to be.
const bank = "https://bank.example"

const transferTool = `[{"name":"transfer","inputSchema":{"type":"object"}}]`

// pairingText is the file pairing.json of a copy of the extension.
type pairingText struct{ Pairing, Hub, Key, Address string }

// writeExtension writes a copy of the extension for this place's hub.
func (p *place) writeExtension() (dir string, text pairingText) {
	p.t.Helper()
	dir = p.t.TempDir()
	if _, stderr, exit := p.run("extension", dir, "--hub", "ws://"+p.tabsAt()+"/tabs"); exit != 0 {
		p.t.Fatal(stderr)
	}
	text, err := readPairing(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return dir, text
}

func readPairing(dir string) (text pairingText, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "pairing.json"))
	if err == nil {
		err = json.Unmarshal(b, &text)
	}
	return text, err
}

// companion is a browser with the companion extension and one tab, as the hub sees it.
type companion struct {
	t     testing.TB
	peer  *wstest.Peer
	calls atomic.Int32
	packs chan []spec.ActivePack // what it hears of packs, if it knows them
	ended chan struct{}          // closed when the connection is; err says how
	err   error
	next  pairing.Key // after the handshake with the key of an invitation
}

// pair connects a browser that shows that it knows the key of a pairing. The error is the
// hub's word.
func (p *place) pair(id spec.PairingID, key pairing.Key, browser spec.BrowserID, can ...spec.Capability) (*companion, error) {
	p.t.Helper()
	peer, _, err := wstest.Connect(p.within(), "ws://"+p.tabsAt()+"/tabs", http.Header{"Origin": {extension.Origin}}, spec.Subprotocol)
	if err != nil {
		p.t.Fatal(err)
	}
	x := &companion{t: p.t, peer: peer, packs: make(chan []spec.ActivePack, 8), ended: make(chan struct{})}
	p.t.Cleanup(func() { peer.Close() })
	script := pairing.Transcript{Pairing: id, Address: "ws://" + p.tabsAt(), BrowserNonce: pairing.NewNonce()}
	answer, err := x.ask("pair", spec.MethodPair, fmt.Sprintf(`{"protocolVersion":"tabhub.v1","pairing":%q,"nonce":%q}`, id, script.BrowserNonce))
	if err != nil {
		return nil, err
	}
	script.Hub, _ = rawjson.String(rawjson.Get(answer, "hub"))
	script.HubNonce, _ = rawjson.String(rawjson.Get(answer, "nonce"))
	if proof, _ := rawjson.String(rawjson.Get(answer, "proof")); proof != script.HubProof(key) {
		p.t.Fatalf("the hub does not prove itself: %s", answer)
	}
	capabilities, _ := json.Marshal(append([]spec.Capability{}, can...))
	hello := fmt.Sprintf(`{"protocolVersion":"tabhub.v1","browserId":%q,"browserName":"Browser %[1]s","session":"s","capabilities":%s,"proof":%q}`, browser, capabilities, script.BrowserProof(key))
	if _, err := x.ask("hello", spec.MethodHello, hello); err != nil {
		return nil, err
	}
	x.next = script.NextKey(key)
	return x, nil
}

// ask sends a request and waits for the answer. It is for the beginning, when nothing
// else comes.
func (x *companion) ask(id, method, params string) (json.RawMessage, error) {
	x.peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"tabId":1,"method":%q,"params":%s}`, id, method, params))
	for {
		frame, err := x.peer.Receive()
		if err != nil {
			return nil, err
		}
		x.hear(frame)
		if got, _ := rawjson.String(rawjson.Get(frame, "id")); got != id || rawjson.Get(frame, "method") != nil {
			continue
		}
		a := answerOf(frame)
		if a.err != nil {
			return nil, fmt.Errorf("%s", a.err)
		}
		return a.result, nil
	}
}

// hear takes what the hub says of packs.
func (x *companion) hear(frame []byte) {
	if method, _ := rawjson.String(rawjson.Get(frame, "method")); method != spec.MethodPacks {
		return
	}
	var heard spec.Packs
	if err := json.Unmarshal(rawjson.Get(frame, "params"), &heard); err != nil {
		x.t.Error(err)
	}
	x.packs <- heard.Packs
}

// offer opens a tab at url with the tools, and runs calls of them until the connection
// ends.
func (x *companion) offer(url, tools string) {
	x.t.Helper()
	if _, err := x.ask("tools", "browser/registerTools", fmt.Sprintf(`{"tools":%s,"tabUrl":%q,"title":"Title"}`, tools, url)); err != nil {
		x.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		defer close(x.ended)
		for {
			frame, err := x.peer.Receive()
			if err != nil {
				x.err = err
				return
			}
			x.hear(frame)
			id := rawjson.Get(frame, "id")
			switch method, _ := rawjson.String(rawjson.Get(frame, "method")); method {
			case spec.MethodPing:
				x.peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
			case spec.MethodRun:
				x.calls.Add(1)
				x.peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"tabId":1,"result":{"steps":[{"verb":"click","did":"yes","words":"clicked button \"Pay\""}],"value":{"sent":%s}}}`, id, rawjson.Get(frame, "params", "args")))
			case spec.MethodExecuteTool:
				x.calls.Add(1)
				x.peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"tabId":1,"result":{"success":true,"payload":%s}}`, id, echo(rawjson.Get(frame, "params", "args"))))
			}
		}
	})
	x.t.Cleanup(func() {
		x.peer.Close()
		serving.Wait()
	})
}

// companion connects a browser with a copy of the extension, and a tab at url in it.
func (p *place) companion(copied pairingText, browser spec.BrowserID, url, tools string, can ...spec.Capability) *companion {
	p.t.Helper()
	key, err := pairing.ParseKey(copied.Key)
	if err != nil {
		p.t.Fatal(err)
	}
	x, err := p.pair(spec.PairingID(copied.Pairing), key, browser, can...)
	if err != nil {
		p.t.Fatal(err)
	}
	x.offer(url, tools)
	return x
}
