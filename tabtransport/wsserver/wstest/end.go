package wstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// TabDial returns a tabtest.Dial that connects over WebSockets to path and speaks
// tabhub.v1.
func (l *Listener) TabDial(path string) tabtest.Dial {
	return func(t testing.TB, conn tabtransport.Conn) (tabtest.End, error) {
		header := http.Header{}
		if conn.Origin != "" {
			header.Set("Origin", conn.Origin)
		}
		e := &end{
			t:         t,
			ws:        l.WebSocket(t, path, header, spec.Subprotocol),
			requests:  make(chan tabtest.Request, 1024),
			cancelled: make(chan string, 1024),
			answers:   make(map[string]chan frame),
			done:      make(chan struct{}),
		}
		go e.read()
		t.Cleanup(e.Cut)
		if conn.Hello == nil {
			return e, nil
		}
		if _, err := e.ask(0, spec.MethodHello, conn.Hello); err != nil {
			return nil, err
		}
		return e, nil
	}
}

// end is a browser as the peer of a WebSocket.
type end struct {
	t         testing.TB
	ws        *websocket.Conn
	requests  chan tabtest.Request
	cancelled chan string
	done      chan struct{} // closed when read has ended; err says why
	err       error

	mu      sync.Mutex // and writes to ws
	answers map[string]chan frame
	lastID  int
}

type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	TabID   int64           `json:"tabId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *spec.Error     `json:"error,omitempty"`
}

func (e *end) read() {
	defer close(e.done)
	for {
		var f frame
		if e.err = e.ws.ReadJSON(&f); e.err != nil {
			return
		}
		id, _ := f.ID.(string)
		switch f.Method {
		case "":
			e.mu.Lock()
			ch := e.answers[id]
			delete(e.answers, id)
			e.mu.Unlock()
			if ch != nil {
				ch <- f
			}
		case spec.MethodPing:
			e.write(frame{ID: id, Result: json.RawMessage("{}")})
		case spec.MethodCancel:
			var c spec.Cancel
			json.Unmarshal(f.Params, &c)
			e.cancelled <- c.RequestID
		default:
			r := tabtest.Request{ID: id, Tab: f.TabID, Method: f.Method}
			if f.Method == spec.MethodExecuteTool {
				json.Unmarshal(f.Params, &r.Call)
			}
			e.requests <- r
		}
	}
}

func (e *end) write(f frame) {
	f.JSONRPC = "2.0"
	b, err := json.Marshal(f)
	if err != nil {
		e.t.Errorf("encode frame: %v", err)
		return
	}
	e.writeRaw(b)
}

func (e *end) writeRaw(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ws.WriteMessage(websocket.TextMessage, b)
}

func (e *end) ask(tab int64, method string, params any) (json.RawMessage, error) {
	ch := make(chan frame, 1)
	e.mu.Lock()
	e.lastID++
	id := fmt.Sprintf("end-%d", e.lastID)
	e.answers[id] = ch
	e.mu.Unlock()
	e.write(frame{ID: id, TabID: tab, Method: method, Params: Marshal(params)})
	select {
	case f := <-ch:
		if f.Error != nil {
			return nil, f.Error
		}
		return f.Result, nil
	case <-e.done:
		return nil, e.err
	}
}

func (e *end) Notify(tab int64, msg spec.Inbound) {
	method, params := Encode(msg)
	// Spliced, so that items arrive as the test wrote them.
	e.writeRaw(fmt.Appendf(nil, `{"jsonrpc":"2.0","tabId":%d,"method":%q,"params":%s}`, tab, method, params))
}

func (e *end) Ask(tab int64, msg spec.Inbound) (json.RawMessage, error) {
	method, params := Encode(msg)
	return e.ask(tab, method, params)
}

func (e *end) Next() tabtest.Request { return <-e.requests }

func (e *end) Answer(r tabtest.Request, resp spec.Response, err *spec.Error) {
	if err != nil {
		e.write(frame{ID: r.ID, TabID: r.Tab, Error: err})
		return
	}
	result := resp.Result
	if r.Method == spec.MethodExecuteTool {
		result = fmt.Appendf(nil, `{"success":%t,"payload":%s}`, !resp.Failed, result)
	}
	e.writeRaw(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"tabId":%d,"result":%s}`, r.ID, r.Tab, result))
}

func (e *end) Progress(r tabtest.Request, progress float64) {
	e.write(frame{TabID: r.Tab, Method: spec.MethodProgress, Params: Marshal(spec.Progress{RequestID: r.ID, Progress: progress})})
}

func (e *end) Waits(r tabtest.Request) {
	e.write(frame{TabID: r.Tab, Method: spec.MethodProgress, Params: Marshal(spec.Progress{RequestID: r.ID, Waiting: true})})
}

func (e *end) Continues(r tabtest.Request) {
	e.write(frame{TabID: r.Tab, Method: spec.MethodProgress, Params: Marshal(spec.Progress{RequestID: r.ID, Continues: true})})
}

func (e *end) Cancelled() string { return <-e.cancelled }

func (e *end) Closed() spec.CloseCode {
	<-e.done
	closed, ok := errors.AsType[*websocket.CloseError](e.err)
	if !ok {
		e.t.Errorf("connection ended with %v, not with a close frame", e.err)
		return 0
	}
	return spec.CloseCode(closed.Code)
}

func (e *end) Cut() {
	e.ws.NetConn().Close()
	<-e.done
}

// Encode returns the method and the parameters of a message.
func Encode(msg spec.Inbound) (method string, params json.RawMessage) {
	switch msg := msg.(type) {
	case *spec.Register:
		list := map[spec.Kind]string{spec.KindTool: "Tools", spec.KindResource: "Resources", spec.KindPrompt: "Prompts"}[msg.Kind]
		params = append(params, `{"`...)
		params = append(params, list[0]|0x20)
		params = append(params, list[1:]+`":[`...)
		for i, item := range msg.Items {
			if i > 0 {
				params = append(params, ',')
			}
			params = append(params, item...)
		}
		params = append(params, ']')
		if rest := Marshal(msg); len(rest) > len("{}") {
			params = append(append(params, ','), rest[1:len(rest)-1]...)
		}
		if msg.Update {
			return "browser/update" + list, append(params, '}')
		}
		return "browser/register" + list, append(params, '}')
	case *spec.TabState:
		return spec.MethodTabState, Marshal(msg)
	case *spec.TabClosed:
		return spec.MethodTabClosed, Marshal(msg)
	case *spec.ResourceUpdated:
		return spec.MethodResourceUpdated, Marshal(msg)
	case *spec.ResumeCall:
		return spec.MethodResumeCall, Marshal(msg)
	}
	panic(fmt.Sprintf("no method for %T", msg))
}

// Marshal encodes v, which can be encoded.
func Marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
