package wstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/spec/transcript"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
)

// Replay plays a transcript against a Server, as transcript.Play does. Its steps are:
//
//	open PATH [SUBPROTOCOL] [ORIGIN]    a peer connects
//	> FRAME                             the peer sends
//	< FRAME                             the hub sends
//	cut                                 the connection is lost
//	closed CODE                         the hub has closed the connection
//	wait DURATION
//	told EVENT                          what the hub has learned
//	ask TAB METHOD PARAMS [in DURATION] the hub asks a tab (0: the peer) for Claude Code
//	got RESULT                          the answer: JSON, "failed" JSON, or "error" TEXT
//	give up REASON                      the hub's caller stops waiting
//	answer TAB ID RESULT                the hub answers a message
//	refuse CODE MESSAGE                 the hub will refuse the next peer
//	drop TAB                            the hub gives up a tab
//	paired                              the peer's extension is paired with the hub
//
// Frames and results are compared as transcript.Vars does. A peer that is paired
// has "$pairing" and "$nonce"; once the hub has answered with "$hubNonce" and "$hubProof",
// "$proof" is the peer's.
func Replay(t *testing.T, script string) { transcript.Play(t, script, start) }

// ReplayFiles plays the transcripts of the files that match a pattern.
func ReplayFiles(t *testing.T, pattern string) { transcript.Run(t, pattern, start) }

// ReplayFilesVia is ReplayFiles where all peers come by another listener.
func ReplayFilesVia(t *testing.T, pattern string, via func(testing.TB, *Listener) *Listener) {
	transcript.Run(t, pattern, func(t *testing.T, v transcript.Vars) transcript.Player {
		p := start(t, v).(*player)
		p.listener = via(t, p.listener)
		return p
	})
}

func start(t *testing.T, v transcript.Vars) transcript.Player {
	pairings := tabtest.NewPairings(t)
	pauses := make(chan bool, 1)
	srv := wsserver.New(wsserver.Options{
		Instance: "hub-1",
		Pair: func(_ *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
			return pairings.PairAt(m, address)
		},
		Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
			id, err := pairings.Check(hello, ex)
			return tabtransport.Admission{Pairing: id, Attested: id != ""}, err
		},
		Owner: func(_ tabtransport.Admission, _ spec.TabAddr, request any) (any, error) {
			switch request := request.(type) {
			case *spec.Dashboard:
				return spec.DashboardResult{URL: "http://127.0.0.1:3300/#code=good-once"}, nil
			case *spec.Pause:
				pauses <- *request.On
			case *spec.PackScript:
				return spec.PackScriptResult{Document: `{"tabhubPack":1,"script":"document.modelContext.registerTool({})"}`}, nil
			case *spec.Recorded:
				return spec.RecordedResult{Name: request.Name}, nil
			}
			return struct{}{}, nil
		},
		Watch: func(ctx context.Context, _ tabtransport.Admission, _ spec.PeerID, tell func(any)) {
			tell(spec.Packs{Packs: []spec.ActivePack{{PackRef: spec.PackRef{Name: "shop-tools", Hash: "9f86"}, Match: []string{"https://shop.example.com/*"}, Tools: []spec.ActivePackTool{{Name: "order"}}}}})
			state := spec.OwnerState{Apps: []spec.OwnerApp{{Name: "Claude Code", Calls: 3, LastMs: 1500}}}
			for {
				tell(state)
				select {
				case state.Paused = <-pauses:
					time.Sleep(ownerStateDelay)
				case <-ctx.Done():
					return
				}
			}
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/tabs", srv.Tabs())
	mux.Handle("/", srv.WebMCP())
	p := &player{T: t, pairings: pairings, tr: srv.Transport(spec.LocalUser), listener: Serve(t, mux), vars: v}
	t.Cleanup(func() { srv.Close(context.Background()) })
	p.tr.Handle(p)
	return p
}

// ownerStateDelay is between a change of what the owner sees and its telling.
const ownerStateDelay = 250 * time.Millisecond

// address is where the peer has dialed.
const address = "ws://127.0.0.1:3300"

// player plays the hub behind the server, and the peer before it.
type player struct {
	*testing.T
	pairings tabtest.Pairings
	copied   pairing.Copy // of a peer that is paired
	tr       *tabtransport.Peers
	listener *Listener
	ws       *websocket.Conn
	vars     transcript.Vars
	peer     spec.PeerID
	got      chan string
	giveUp   context.CancelCauseFunc

	mu      sync.Mutex
	events  []string // told and not yet mentioned
	frames  []string // from the hub, the same
	closed  error
	refusal *spec.Error
}

// Rest implements transcript.Player.
func (p *player) Rest() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(append([]string{}, p.events...), p.frames...)
}

// Step implements transcript.Player.
func (p *player) Step(verb, rest string) error {
	switch verb {
	case "open":
		return p.open(strings.Fields(rest))
	case ">":
		return p.ws.WriteMessage(websocket.TextMessage, []byte(rest))
	case "<":
		err := p.vars.Expect(rest, p.next(&p.frames))
		if err == nil && strings.Contains(rest, `"$hubProof"`) {
			err = p.prove()
		}
		return err
	case "paired":
		p.copied = p.pairings.Issue("", address)
		p.vars["pairing"], p.vars["nonce"] = string(p.copied.Pairing), pairing.NewNonce()
	case "told":
		if got := p.next(&p.events); got != rest {
			return fmt.Errorf("told %s", got)
		}
	case "cut":
		return p.ws.NetConn().Close()
	case "closed":
		p.mu.Lock()
		defer p.mu.Unlock()
		if e, ok := errors.AsType[*websocket.CloseError](p.closed); !ok || strconv.Itoa(e.Code) != rest {
			return fmt.Errorf("closed: %v", p.closed)
		}
	case "wait":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case "ask":
		return p.ask(rest)
	case "got":
		select {
		case got := <-p.got:
			if got != rest {
				return fmt.Errorf("got %s", got)
			}
		default:
			return errors.New("the hub still waits for the answer")
		}
	case "give":
		p.giveUp(errors.New(strings.TrimPrefix(rest, "up ")))
	case "answer":
		f := strings.SplitN(rest, " ", 3)
		p.tr.Respond(p.addr(f[0]), json.RawMessage(f[1]), json.RawMessage(f[2]), nil)
	case "refuse":
		code, message, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(code)
		p.mu.Lock()
		p.refusal = spec.Errorf(n, "%s", message)
		p.mu.Unlock()
		return err
	case "drop":
		p.tr.Disconnect(p.addr(rest), spec.CloseGoingAway, "dropped")
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

// prove checks the hub's proof and makes the peer's.
func (p *player) prove() error {
	t := pairing.Transcript{
		Pairing: p.copied.Pairing, Hub: p.copied.Hub, Address: address,
		BrowserNonce: p.vars["nonce"], HubNonce: p.vars["hubNonce"],
	}
	if p.vars["hubProof"] != t.HubProof(p.copied.Key) {
		return errors.New("the hub's proof is wrong")
	}
	p.vars["proof"] = t.BrowserProof(p.copied.Key)
	return nil
}

func (p *player) open(args []string) error {
	var subprotocols []string
	header := http.Header{}
	if len(args) > 1 && args[1] != "-" {
		subprotocols = strings.Split(args[1], ",")
	}
	if len(args) > 2 {
		header.Set("Origin", args[2])
	}
	ws := p.listener.WebSocket(p, args[0], header, subprotocols...)
	p.mu.Lock()
	p.ws, p.closed = ws, nil
	p.mu.Unlock()
	go func() {
		for {
			_, b, err := ws.ReadMessage()
			p.mu.Lock()
			if err != nil {
				if p.ws == ws {
					p.closed = err
				}
				p.mu.Unlock()
				return
			}
			p.frames = append(p.frames, string(b))
			p.mu.Unlock()
		}
	}()
	return nil
}

// next is transcript.Next under the lock.
func (p *player) next(list *[]string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return transcript.Next(list)
}

func (p *player) addr(tab string) spec.TabAddr {
	n, err := strconv.ParseInt(tab, 10, 64)
	if err != nil {
		p.Fatalf("tab %q: %v", tab, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return spec.TabAddr{Peer: p.peer, Tab: n}
}

func (p *player) ask(rest string) error {
	f := strings.SplitN(rest, " ", 3)
	params, within, limited := strings.Cut(f[2], " in ")
	wait := tabtransport.Wait{For: "Claude Code", Progress: func(m spec.Progress) { p.tell("progress %v %s", m.Progress, m.Message) }}
	if limited {
		d, err := time.ParseDuration(within)
		if err != nil {
			return err
		}
		wait.Timeout, wait.Max = d, spec.CallTimeoutMax
	}
	req, err := NewRequest(f[1], params)
	if err != nil {
		return err
	}
	to := p.addr(f[0])
	ctx, cancel := context.WithCancelCause(p.Context())
	got := make(chan string, 1)
	p.got, p.giveUp = got, cancel
	go func() {
		resp, err := p.tr.SendRequest(ctx, to, req, wait)
		switch {
		case err != nil:
			got <- "error " + err.Error()
		case resp.Failed:
			got <- "failed " + string(resp.Result)
		default:
			got <- string(resp.Result)
		}
	}()
	return nil
}

// NewRequest returns the request of the hub with that method and those parameters.
func NewRequest(method, params string) (spec.Request, error) {
	for _, m := range spec.MessageTypes() {
		if req, ok := m.Params.(spec.Request); ok && m.Method == method {
			return req, json.Unmarshal([]byte(params), req)
		}
	}
	return nil, fmt.Errorf("the hub has no request %q", method)
}

func (p *player) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, fmt.Sprintf(format, args...))
}

// Connect implements tabtransport.Handler.
func (p *player) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	p.mu.Lock()
	refusal := p.refusal
	p.refusal = nil
	p.mu.Unlock()
	if refusal != nil {
		return tabtransport.Accepted{}, refusal
	}
	id := "tab"
	if h := c.Hello; h != nil {
		switch {
		case h.BrowserID != "":
			id = string(h.BrowserID)
		case h.TabKey != "":
			id = h.TabKey
		}
	}
	about := ""
	if c.Origin != "" {
		about += " from " + c.Origin
	}
	if c.ClaimedOrigin != "" {
		about += " claiming " + c.ClaimedOrigin
	}
	p.tell("%s connected, %s%s", id, c.Dialect, about)
	p.mu.Lock()
	p.peer = spec.PeerID(id)
	p.mu.Unlock()
	result := spec.HelloResult{Hub: "tabhub", Version: "1.0.0"}
	if c.Hello != nil && c.Hello.BrowserID != "" && c.Hello.BrowserSecret == "" && c.Pairing == "" {
		result.BrowserSecret = "a-secret-of-the-hub"
	}
	return tabtransport.Accepted{Peer: spec.PeerID(id), Result: result}, nil
}

// Message implements tabtransport.Handler.
func (p *player) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	method, params := Encode(msg)
	text := fmt.Sprintf("%s %s %s", from, method, params)
	if id != nil {
		text += " as " + string(id)
	}
	p.tell("%s", text)
}

// Disconnected implements tabtransport.Handler.
func (p *player) Disconnected(peer spec.PeerID, _ error) { p.tell("%s disconnected", peer) }
