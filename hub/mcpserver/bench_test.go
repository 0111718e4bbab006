package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tabhub/hub"
)

// What is compared: this package's way of a call, and mcp-go's own transports with
// the same tools, whose results carry raw bytes there too.

// rawContent is content of mcp-go that is written as it is.
type rawContent struct {
	mcp.TextContent
	json json.RawMessage
}

func (c rawContent) MarshalJSON() ([]byte, error) { return c.json, nil }

func libraryServer(tools int) *server.MCPServer {
	s := server.NewMCPServer("library", "1", server.WithToolCapabilities(true))
	for i := range tools {
		t := mcp.NewToolWithRawSchema(fmt.Sprintf("tool_%d", i), "echo the arguments back", json.RawMessage(benchSchema))
		s.AddTool(t, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{rawContent{json: json.RawMessage(benchContent)}}}, nil
		})
	}
	return s
}

const (
	benchSchema  = `{"type":"object","properties":{"text":{"type":"string","description":"what to echo"},"n":{"type":"integer"}}}`
	benchContent = `{"type":"text","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`
)

func benchHub(tools int) *scripted {
	h := newScripted()
	var items []string
	result := json.RawMessage(`{"content":[` + benchContent + `]}`)
	for i := range tools {
		name := fmt.Sprintf("tool_%d", i)
		items = append(items, `{"name":"`+name+`","description":"echo the arguments back","inputSchema":`+benchSchema+`}`)
		h.tools[name] = func(context.Context, hub.Call) (json.RawMessage, error) { return result, nil }
	}
	h.set(hub.ListTools, items...)
	return h
}

const benchCall = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"tool_0","arguments":{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","n":17}}}`

// overPipes runs serve with a client at the far ends of two pipes of the system.
func overPipes(b *testing.B, serve func(ctx context.Context, in io.Reader, out io.Writer)) (io.Writer, *bufio.Reader) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { serve(ctx, inR, outW) })
	b.Cleanup(func() {
		inW.Close()
		wg.Wait()
		cancel()
		inR.Close()
		outR.Close()
		outW.Close()
	})
	r := bufio.NewReaderSize(outR, 1<<20)
	fmt.Fprintln(inW, initializeLine("2025-06-18"))
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if _, err := r.ReadSlice('\n'); err != nil {
		b.Fatal(err)
	}
	return inW, r
}

func streams(tools int) map[string]func(ctx context.Context, in io.Reader, out io.Writer) {
	return map[string]func(ctx context.Context, in io.Reader, out io.Writer){
		"tabhub": func(ctx context.Context, in io.Reader, out io.Writer) {
			_ = New(benchHub(tools), Options{}).ServeStream(asTester(ctx), in, out)
		},
		"mcp-go": func(ctx context.Context, in io.Reader, out io.Writer) {
			_ = server.NewStdioServer(libraryServer(tools)).Listen(ctx, in, out)
		},
	}
}

// BenchmarkStreamCall is a call and its answer over two pipes, one at a time.
func BenchmarkStreamCall(b *testing.B) {
	for name, serve := range streams(1) {
		b.Run(name, func(b *testing.B) {
			w, r := overPipes(b, serve)
			line := []byte(benchCall + "\n")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := r.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStreamCalls64 keeps 64 calls under way.
func BenchmarkStreamCalls64(b *testing.B) {
	for name, serve := range streams(1) {
		b.Run(name, func(b *testing.B) {
			w, r := overPipes(b, serve)
			line := []byte(benchCall + "\n")
			b.ReportAllocs()
			room := make(chan struct{}, 64)
			go func() {
				for range b.N {
					room <- struct{}{}
					w.Write(line)
				}
			}()
			b.ResetTimer()
			for range b.N {
				if _, err := r.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
				<-room
			}
		})
	}
}

// BenchmarkStreamList is tools/list from the second time on.
func BenchmarkStreamList(b *testing.B) {
	for _, tools := range []int{10, 1000, 10_000} {
		for name, serve := range streams(tools) {
			if name == "mcp-go" && tools > 1000 {
				continue // takes most of a second
			}
			b.Run(fmt.Sprintf("%s/%d", name, tools), func(b *testing.B) {
				w, r := overPipes(b, serve)
				for b.Loop() {
					io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n")
					for {
						if _, err := r.ReadSlice('\n'); err == nil {
							break
						} else if err != bufio.ErrBufferFull {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkHTTPCall is a call over a kept-alive loopback connection; bare is
// net/http alone.
func BenchmarkHTTPCall(b *testing.B) {
	modernCall := strings.Replace(benchCall, `"params":{`, `"params":{`+modernMeta+`,`, 1)
	answer := []byte(`{"jsonrpc":"2.0","id":17,"result":{"content":[` + benchContent + `]}}`)
	for name, h := range map[string]http.Handler{
		"tabhub": New(benchHub(1), Options{}).MCP(),
		"mcp-go": server.NewStreamableHTTPServer(libraryServer(1), server.WithStateful(true)),
		"bare": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Write(answer)
		}),
	} {
		ts := httptest.NewServer(h)
		b.Cleanup(ts.Close)
		for era, call := range map[string]string{"2025-06-18": benchCall, "2026-07-28": modernCall} {
			b.Run(name+"/"+era, func(b *testing.B) {
				post := func(body string, header http.Header) *http.Response {
					r, _ := http.NewRequest("POST", ts.URL, strings.NewReader(body))
					r.Header = header
					resp, err := ts.Client().Do(r)
					if err != nil {
						b.Fatal(err)
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					return resp
				}
				header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {era}}
				if era == "2026-07-28" {
					header.Set("Mcp-Method", "tools/call")
					header.Set("Mcp-Name", "tool_0")
				} else {
					header.Set("Mcp-Session-Id", post(initializeLine(era), header).Header.Get("Mcp-Session-Id"))
				}
				b.ReportAllocs()
				for b.Loop() {
					if resp := post(call, header); resp.StatusCode != 200 {
						b.Fatal(resp.Status)
					}
				}
			})
		}
	}
}
