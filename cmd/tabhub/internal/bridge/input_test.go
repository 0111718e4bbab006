package bridge

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// bye is the last line of a bridge whose client goes.
var bye = strings.TrimSuffix(farewell, "\n")

// printf … | tabhub stdio prints the answers and ends.
func TestClosedInputWaitsForAnswers(t *testing.T) {
	r := newRig(t)
	r.send(initLine, call(`1`, "buy"))
	r.stdin.Close()
	h := <-r.hubs
	h.gets(initLine, call(`1`, "buy"), bye)
	if h.in.Scan() {
		t.Fatalf("the hub got %s after the end", h.in.Text())
	}
	h.send(initAnswer, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	h.conn.Close()
	r.gets(initAnswer, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := <-r.done; err != nil {
		t.Errorf("a client that goes is no error: %v", err)
	}
}

// A hub that hangs does not keep the process of a client that has gone.
func TestClosedInputAndHungHub(t *testing.T) {
	r := newRigWith(t, Options{leaveTimeout: time.Millisecond})
	h := <-r.hubs
	r.passes(h, initLine, call(`1`, "buy"))
	r.stdin.Close()
	for _, want := range []string{`NOT_CONNECTED`, `{"jsonrpc":"2.0","id":0,"error":`} {
		if got := next(t, "the client's stream", r.stdout); !strings.Contains(got, want) {
			t.Errorf("the client got %s, want %s", got, want)
		}
	}
	if err := <-r.done; err != nil {
		t.Errorf("a client that goes is no error: %v", err)
	}
}

// What PowerShell pipes begins with a mark, and what printf pipes need not end with a
// line break.
func TestMarkAndLastLineWithoutBreak(t *testing.T) {
	for _, text := range []string{initLine + "\n" + call(`1`, "buy"), initLine} {
		r := newRig(t)
		go func() {
			io.WriteString(r.stdin, string(bom)+text)
			r.stdin.Close()
		}()
		h := <-r.hubs
		h.gets(append(strings.Split(text, "\n"), bye)...)
		if h.in.Scan() {
			t.Fatalf("the hub got %s after the end", h.in.Text())
		}
		h.conn.Close()
		if got := next(t, "the client's stream", r.stdout); !strings.Contains(got, `"id":`) {
			t.Errorf("the client got %s", got)
		}
	}
}

func TestInputClosedAtOnce(t *testing.T) {
	r := newRig(t)
	r.stdin.Close()
	select {
	case h := <-r.hubs:
		h.conn.Close()
	case err := <-r.done:
		r.done <- err
	}
	if err := <-r.done; err != nil {
		t.Error(err)
	}
}

func TestBrokenPipe(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	h.send(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	r.gets(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	inR, _ := io.Pipe()
	outR, outW := io.Pipe()
	outR.Close()
	near, far := net.Pipe()
	go io.WriteString(far, "{}\n")
	err := Run(t.Context(), Options{In: inR, Out: outW, Connect: func(context.Context) (net.Conn, error) { return near, nil }})
	if err == nil {
		t.Error("the bridge ended as if the client had read all")
	}
}

// Large messages cross whole, and so does what comes in pieces.
func TestLargeAndSplitLines(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"s":"%s"}}}`, strings.Repeat(`x\"y`, 2<<20))
	sent := make(chan struct{})
	go func() {
		io.WriteString(r.stdin, big+"\n")
		close(sent)
	}()
	h.gets(big)
	<-sent
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"result":{"s":"%s"}}`, strings.Repeat("z", 9<<20))
	go func() {
		io.WriteString(h.conn, answer[:100])
		io.WriteString(h.conn, answer[100:]+"\n"+toolsNew+"\n")
	}()
	r.gets(answer, toolsNew)
}

func TestBatch(t *testing.T) {
	const agreed = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}`
	r := newRig(t)
	h := <-r.hubs
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	r.passes(h, initLine, initDone, list)
	tools := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","annotations":{"readOnlyHint":true}}]}}`
	h.send(agreed, tools)
	r.gets(agreed, tools)
	batch := `[` + call(`2`, "buy") + `,` + call(`3`, "read") + `]`
	r.passes(h, batch)
	h.conn.Close()
	if got := next(t, "the client's stream", r.stdout); !strings.Contains(got, `"id":2,`) || !strings.Contains(got, lostText) {
		t.Fatalf("the unsafe call of a batch got %s", got)
	}
	h = <-r.hubs
	h.rejoin()
	h.gets(call(`3`, "read"))
}

// What the hub has refused without an id, because it could not read it, is not asked
// again and not answered again.
func TestRefusedLines(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	bad := []string{
		`{"jsonrpc":"2.0","id":2,"method":"tools/call"`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
		`[` + call(`4`, "buy") + `,` + call(`5`, "read") + `]`, // 2025-06-18 has no batches
	}
	r.passes(h, bad...)
	h = r.reconnect(h)
	r.gets(toolsNew)
	r.stdin.Close()
	h.gets(bye)
	if h.in.Scan() {
		t.Errorf("the next hub got %s", h.in.Text())
	}
	h.conn.Close()
	if r.stdout.Scan() {
		t.Errorf("the client got %s", r.stdout.Text())
	}
}

// A client may call a request what it likes, even what the bridge calls its own.
func TestClientUsesTheBridgesID(t *testing.T) {
	r := newRig(t)
	h := r.begin()
	h = r.reconnect(h)
	r.gets(toolsNew)
	ping := `{"jsonrpc":"2.0","id":"tabhub:replay:1","method":"ping"}`
	r.passes(h, ping)
	answer := `{"jsonrpc":"2.0","id":"tabhub:replay:1","result":{}}`
	h.send(answer)
	r.gets(answer)
}

func BenchmarkForward(b *testing.B) {
	s := newSession()
	line := []byte(call(`12345`, "buy") + "\n")
	answer := []byte(`{"jsonrpc":"2.0","id":12345,"result":{"content":[{"type":"text","text":"hello"}]}}` + "\n")
	b.ReportAllocs()
	for b.Loop() {
		s.fromClient(line)
		s.fromHub(answer)
	}
}
