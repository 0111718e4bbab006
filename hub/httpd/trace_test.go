package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// A user who moves to another node takes the tabs along. Who traces them is told so by the end of
// the stream, and is not left in silence.
func TestTraceEndsWithTheHub(t *testing.T) {
	d := open(t, func(_ *GuardOptions, o *Options) {
		o.Trace = func(ctx context.Context, _ spec.UserID, f func(*tabtransport.Traced) error) error {
			if err := f(&tabtransport.Traced{Event: tabtransport.EventBegun}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
	})
	stream := bufio.NewReader(d.startStream("/api/trace"))
	if line, err := stream.ReadString('\n'); err != nil || !strings.Contains(line, "begun") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := d.server.o.Tenants.LetGo(t.Context(), spec.LocalUser); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(stream); err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// Who asks for one site or one tab is shown that, also when it comes for the first time, and
// learns of gaps; others' tabs are the transport's to leave out.
func TestTraceOfASite(t *testing.T) {
	var d *testServer
	d = open(t, func(_ *GuardOptions, o *Options) {
		o.Trace = func(_ context.Context, user spec.UserID, f func(*tabtransport.Traced) error) error {
			if user != spec.LocalUser {
				t.Errorf("the tabs of %q are traced", user)
			}
			for _, m := range []tabtransport.Traced{
				{Event: tabtransport.EventBegun},
				{Method: "known", Tab: d.tenant.Hub.Tabs()[0].Addr},
				{Method: "joins", Tab: spec.TabAddr{Peer: "new"}, Origin: "https://shop.example.com"},
				{Method: "registers", Tab: spec.TabAddr{Peer: "browser", Tab: 7}, Body: json.RawMessage(`{"params":{"tabUrl":"https://shop.example.com/cart"}}`)},
				{Method: "browser", Tab: spec.TabAddr{Peer: "browser"}},
				{Event: tabtransport.EventMissed},
			} {
				if err := f(&m); err != nil {
					return err
				}
			}
			return io.EOF
		}
	})
	for query, want := range map[string][]string{
		"":                        {"begun", "known", "joins", "registers", "browser", "missed"},
		"?site=demo.tabhub":       {"begun", "known", "missed"},
		"?site=demo.tabhub&tab=1": {"begun", "known", "missed"},
		"?site=demo.tabhub&tab=2": {"begun", "missed"},
		"?site=shop.example.com":  {"begun", "joins", "registers", "missed"},
	} {
		_, body := d.askOwner("GET", "/api/trace"+query, "")
		var got []string
		for _, m := range regexp.MustCompile(`"(?:event|method)":"(\w+)"`).FindAllStringSubmatch(body, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]string{"?site=a%20b": "write it as", "?tab=1": "a site, which must be given", "?site=demo.tabhub&tab=x": "number of a tab"} {
		if status, body := d.askOwner("GET", "/api/trace"+query, ""); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}
