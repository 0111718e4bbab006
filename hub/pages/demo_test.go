package pages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"strings"
	"testing"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// useDemo reports the progress of a tool of the demo, cancels a call, and reads what it has besides.
func (s *site) useDemo(page *chromium.Page) {
	t := s.t
	t.Helper()
	var steps []spec.Progress
	s.send(t.Context(), s.name("wrap_gift"), `{"productId":2,"seconds":1}`, func(p spec.Progress) { steps = append(steps, p) })
	if len(steps) != 5 || *steps[4].Total != 4 || steps[4].Progress != 4 || steps[0].Message != "Cutting the paper" {
		t.Errorf("progress %+v, want five steps", steps)
	}

	// A call that is cancelled stops in the page.
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{}, 100)
	go func() {
		<-started
		cancel()
	}()
	_, err := s.hub.Calls.Call(ctx, call.Request{Name: s.name("wrap_gift"), Args: json.RawMessage(`{"productId":2,"seconds":60}`), By: reporting(func(spec.Progress) { started <- struct{}{} })})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call ended with %v", err)
	}
	page.WaitFor(`document.querySelector("#calls [data-end=failed]")`)

	s.await("the resources, the template and the prompt", func() bool {
		return len(s.hub.Lists.List(lists.ListResources).Items) == 2 && len(s.hub.Lists.List(lists.ListTemplates).Items) == 1 && len(s.hub.Lists.List(lists.ListPrompts).Items) == 1
	})
	resources := s.hub.Lists.List(lists.ListResources).Items
	product := strings.Replace(s.hub.Lists.List(lists.ListTemplates).Items[0].Name, "{id}", "6", 1)
	for uri, want := range map[string]string{resources[0].Name: "totalCents", resources[1].Name: "Walnut bowl", product: "Fountain pen"} {
		if raw, err := s.hub.Calls.ReadResource(t.Context(), tester, uri); err != nil || !bytes.Contains(raw, []byte(want)) {
			t.Errorf("%s: %s %v, want %s in it", uri, raw, err, want)
		}
	}
	prompt := s.hub.Lists.List(lists.ListPrompts).Items[0].Name
	if raw, err := s.hub.Calls.GetPrompt(t.Context(), tester, prompt, json.RawMessage(`{"occasion":"a wedding"}`)); err != nil || !bytes.Contains(raw, []byte("a wedding")) {
		t.Errorf("prompt: %s %v", raw, err)
	}
}

// What a new user sees first: the demo's tools work from a client, and the page
// shows what was done.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.url("/demo"))

	var found struct {
		Products []struct {
			ID         int64
			Name       string
			PriceCents int64
		}
	}
	if err := json.Unmarshal(s.call("search_products", `{"query":"pen"}`).StructuredContent, &found); err != nil || len(found.Products) != 2 {
		t.Fatalf("search: %+v %v", found, err)
	}
	if r := s.call("add_to_cart", `{"productId":6,"quantity":2}`); r.IsError {
		t.Fatalf("add_to_cart: %+v", r)
	}
	page.WaitFor(`document.querySelector("#cart").textContent.includes("2 × Fountain pen")`)
	if r := s.call("checkout", `{}`); string(r.StructuredContent) != `{"orderNumber":1,"totalCents":10800}` {
		t.Errorf("checkout: %s", r.StructuredContent)
	}
	if r := s.call("checkout", `{}`); !r.IsError || !strings.Contains(r.text(), "the cart is empty") {
		t.Errorf("checkout of an empty cart: %+v", r)
	}
	page.WaitFor(`document.querySelector("[data-count=checkout]").textContent === "2"`)
	page.WaitFor(`document.querySelectorAll("#calls [data-end=ok]").length === 3 && document.querySelectorAll("#calls [data-end=failed]").length === 1`)

	picture := s.call("product_picture", `{"productId":1}`)
	if len(picture.Content) == 0 || picture.Content[0].MimeType != "image/png" {
		t.Fatalf("picture: %+v", picture)
	}
	if _, err := png.Decode(bytes.NewReader(picture.Content[0].Data)); err != nil {
		t.Errorf("picture: %v", err)
	}

	s.useDemo(page)
	page.WaitFor(`document.querySelectorAll("#calls [data-end=failed]").length === 2`)

	page.Close()
	s.await("only what is cached is left", func() bool {
		names := s.names()
		return len(names) == 1 && strings.HasSuffix(names[0], "_search_products")
	})
}

// The hub's control requests: the text of the page, and where it goes.
func TestControl(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.url("/demo"))
	s.name("checkout")
	addr := s.hub.Tabs(nil)[0].Addr
	resp, err := s.hub.Calls.Control(t.Context(), tester, addr, &spec.Text{})
	if err != nil || !bytes.Contains(resp.Result, []byte("Corner Shop")) {
		t.Errorf("text: %s %v", resp.Result, err)
	}
	for _, url := range []string{"https://example.com/", "javascript:alert(1)", "data:text/html,x", "http://["} {
		if _, err := s.hub.Calls.Control(t.Context(), tester, addr, &spec.Navigate{URL: url}); err == nil {
			t.Errorf("the page went to %s", url)
		}
	}
	if _, err := s.hub.Calls.Control(t.Context(), tester, addr, &spec.Screenshot{}); err == nil {
		t.Error("a page without the power to do so made a screenshot")
	}
	if _, err := s.hub.Calls.Control(t.Context(), tester, addr, &spec.Navigate{URL: "/demo#cart"}); err != nil {
		t.Error(err)
	}
	s.await("the hub knows the new URL", func() bool { return strings.HasSuffix(s.hub.Tabs(nil)[0].URL, "/demo#cart") })
	page.WaitFor(`location.hash === "#cart"`)
	rest := func(wait int64) (got spec.RestResult) {
		t.Helper()
		resp, err := s.hub.Calls.Control(t.Context(), tester, addr, &spec.Rest{WaitMs: wait})
		if err == nil {
			err = json.Unmarshal(resp.Result, &got)
		}
		if err != nil {
			t.Errorf("rest: %v", err)
		}
		return got
	}
	page.Eval(`(() => { let n = 0; const add = () => { document.body.append(++n); if (n < 5) setTimeout(add, 300); else window.all = true; }; add(); })()`)
	if got := rest(20_000); !got.Rested || page.Eval(`window.all`) != "true" {
		t.Errorf("a page that changes for a while: %+v", got)
	}
	page.Eval(`void setInterval(() => document.body.append("."), 100)`)
	if got := rest(1500); got.Rested || got.Changes < 5 {
		t.Errorf("a page that changes on and on: %+v", got)
	}
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, leave)
	if _, err := s.hub.Calls.Control(ctx, tester, addr, &spec.Rest{WaitMs: 600_000}); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
}
