package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// A shell puts what it completes on the line that Enter runs: nothing that a page has named may
// be more there than a word, nor a flag.
func TestCompletionOfHostileNames(t *testing.T) {
	p, _ := serveTest(t)
	browser, err := tabtransport.Join(t.Context(), p.tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", Capabilities: []spec.Capability{}},
	}, func(context.Context, tabtransport.Incoming) (spec.Response, error) {
		return spec.Response{}, spec.Errorf(spec.CodeInternal, "not in this test")
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	var resources, arguments []string
	for _, name := range []string{"good", "$(touch${IFS}x)a", "$(touch${IFS}x)b", "`x`", "a;b", "a|b", "a&b", "a>b", "a b", `a\b`, "'", `"`, "{x}", "*", "!!"} {
		resources = append(resources, fmt.Sprintf(`{"uri":%q,"name":"n"}`, "evil:"+name))
		arguments = append(arguments, fmt.Sprintf(`{"name":%q}`, name))
	}
	arguments = append(arguments, `{"name":"--data-dir"}`)
	for kind, items := range map[spec.Kind][]string{
		spec.KindResource: resources,
		spec.KindPrompt:   {`{"name":"p","arguments":[` + strings.Join(arguments, ",") + `]}`},
	} {
		m := &spec.Register{Kind: kind, TabURL: "https://evil.example.com/"}
		for _, item := range items {
			m.Items = append(m.Items, json.RawMessage(item))
		}
		if _, err := browser.Ask(t.Context(), 1, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		line []string
		want string
	}{
		{[]string{"call", "tabhub://evil"}, "tabhub://evil.example.com/evil:good"},
		{[]string{"call", "website_prompt_evil_example_com_p", ""}, "good="},
	} {
		var out bytes.Buffer
		run(t.Context(), append([]string{"__completeNoDesc", "--data-dir", string(p.dir)}, tt.line...), strings.NewReader(""), &out, new(bytes.Buffer), noEnv)
		if offered, _, _ := strings.Cut(out.String(), "\n:"); offered != tt.want {
			t.Errorf("%q is completed with %q, want %q alone", tt.line, offered, tt.want)
		}
	}
}
