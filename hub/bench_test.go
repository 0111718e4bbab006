package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// echo joins tabs to a new Hub whose tools answer at once.
func echo(b *testing.B, tabs, each int) (*Hub, []*tabtransport.Local) {
	peers := tabtransport.NewPeers()
	h, err := Open(b.Context(), Options{User: spec.LocalUser, Mode: policy.ModeOpen, Transport: peers, Store: &storagetest.Memory{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Close(context.Background()) })
	var ends []*tabtransport.Local
	for i := range tabs {
		l, err := peers.Join(b.Context(), tabtransport.Conn{Origin: fmt.Sprintf("https://site%d.example.com", i)}, func(context.Context, tabtransport.Incoming) (spec.Response, error) {
			return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"hello"}]}`)}, nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(l.Close)
		m := &spec.Register{Kind: spec.KindTool}
		for k := range each {
			m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":"tool_%d","description":"echo the arguments back to the caller, as they came in","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}}}}`, k)))
		}
		if _, err := l.Ask(b.Context(), 0, m); err != nil {
			b.Fatal(err)
		}
		ends = append(ends, l)
	}
	return h, ends
}

// BenchmarkCall is a call's own cost in the hub, with a tab in the process: its
// goroutine and hand-over are in it.
func BenchmarkCall(b *testing.B) {
	h, _ := echo(b, 10, 10)
	args := json.RawMessage(`{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","n":7}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Calls.Call(b.Context(), call.Request{By: tester, Name: "website_tool_site3_example_com_tool_4", Args: args}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallOfSites is a call after which another site is called, so that what goes from
// one to the other is looked for; with arguments of 1 KiB and 1 MiB.
func BenchmarkCallOfSites(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h, _ := echo(b, 2, 1)
			args := json.RawMessage(`{"text":"` + strings.Repeat("x y 12345 ", size/10) + `"}`)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := h.Calls.Call(b.Context(), call.Request{By: tester, Name: fmt.Sprintf("website_tool_site%d_example_com_tool_0", i%2), Args: args}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCallParallel(b *testing.B) {
	h, _ := echo(b, 10, 10)
	args := json.RawMessage(`{"text":"x","n":7}`)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := h.Calls.Call(b.Context(), call.Request{By: tester, Name: fmt.Sprintf("website_tool_site%d_example_com_tool_4", i%10), Args: args}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
