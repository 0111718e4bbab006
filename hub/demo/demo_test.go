package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/demo"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// taker is the least hub: it takes what tabs register and tell.
type taker struct {
	peers *tabtransport.Peers

	mu      sync.Mutex
	items   map[spec.Kind][]json.RawMessage
	updated []string
}

func newTaker() *taker {
	h := &taker{peers: tabtransport.NewPeers(), items: map[spec.Kind][]json.RawMessage{}}
	h.peers.Handle(h)
	return h
}

func (h *taker) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	if !c.Attested {
		return tabtransport.Accepted{}, errors.New("not attested")
	}
	return tabtransport.Accepted{Peer: "demo"}, nil
}

func (h *taker) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch m := msg.(type) {
	case *spec.Register:
		h.items[m.Kind] = m.Items
		h.peers.Respond(from, id, spec.Registered{Accepted: len(m.Items)}, nil)
	case *spec.ResourceUpdated:
		h.updated = append(h.updated, m.URI)
	}
}

func (h *taker) Disconnected(spec.PeerID, error) {}

// send sends a request to the demo tab and returns its raw result.
func (h *taker) send(t *testing.T, req spec.Request, progress func(spec.Progress)) (json.RawMessage, bool) {
	t.Helper()
	resp, err := h.peers.SendRequest(t.Context(), spec.TabAddr{Peer: "demo"}, req, tabtransport.Wait{Max: time.Minute, Progress: progress})
	if err != nil {
		t.Fatalf("%s: %v", req.Method(), err)
	}
	return resp.Result, resp.Failed
}

// call runs a tool and decodes its structured content into out.
func (h *taker) call(t *testing.T, name, args string, out any) {
	t.Helper()
	raw, failed := h.send(t, &spec.ExecuteTool{ToolName: name, Args: json.RawMessage(args)}, nil)
	if failed {
		t.Fatalf("%s: %s", name, raw)
	}
	result := struct {
		StructuredContent any `json:"structuredContent"`
	}{out}
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, h *taker) *demo.Tab {
	t.Helper()
	tab, err := demo.Join(t.Context(), h.peers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	return tab
}

// The real hub accepts all items of the shop, under the shop's domain, and caches those
// that the shop marks.
func TestJoinTheHub(t *testing.T) {
	h := hubtest.Open(t, hub.Options{})
	tab, err := demo.Join(t.Context(), h.Tabs)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := h.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_demo_tabhub__add_to_cart", Args: json.RawMessage(`{"productId":2}`)})
	if err != nil || !strings.Contains(string(raw), `"totalCents":4200`) {
		t.Errorf("add_to_cart: %s %v", raw, err)
	}
	raw, err = h.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_demo_tabhub__add_to_cart", Args: json.RawMessage(`{"productId":0}`)})
	if err != nil || !strings.Contains(string(raw), "there is no product 0") {
		t.Errorf("a product 0: %s %v", raw, err)
	}
	raw, err = h.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_demo_tabhub__add_to_cart", Args: json.RawMessage(`{"productId":"two"}`)})
	if err != nil || !strings.Contains(string(raw), string(spec.FailInvalidArguments)) {
		t.Errorf("a product in words: %s %v", raw, err)
	}
	if n := len(h.Lists.List(lists.ListResources).Items) + len(h.Lists.List(lists.ListTemplates).Items) + len(h.Lists.List(lists.ListPrompts).Items); n != 4 {
		t.Errorf("%d resources, templates and prompts, want 4", n)
	}
	tab.Close()
	if items := h.Lists.List(lists.ListTools).Items; len(items) != 1 || items[0].Source != "search_products" {
		t.Errorf("after the demo: %+v, want what is cached", items)
	}
}

// A session in the shop: what is put into the cart is in it, and an order empties it.
func TestShopping(t *testing.T) {
	h := newTaker()
	join(t, h)

	var found struct{ Products []demo.Product }
	h.call(t, "search_products", `{"query":"PEN ink","maxPriceCents":6000}`, &found)
	if len(found.Products) != 1 || found.Products[0].Name != "Fountain pen" {
		t.Fatalf("found %+v, want the pen", found.Products)
	}
	pen := found.Products[0]

	var cart demo.Cart
	h.call(t, "add_to_cart", `{"productId":6}`, &cart)
	h.call(t, "add_to_cart", `{"productId":6,"quantity":2}`, &cart)
	h.call(t, "add_to_cart", `{"productId":1}`, &cart)
	h.call(t, "remove_from_cart", `{"productId":1}`, &cart)
	if len(cart.Items) != 1 || cart.Items[0].Quantity != 3 || cart.TotalCents != 3*pen.PriceCents {
		t.Fatalf("cart %+v, want three pens", cart)
	}

	var first, second demo.Order
	h.call(t, "checkout", `{}`, &first)
	if raw, failed := h.send(t, &spec.ExecuteTool{ToolName: "checkout", Args: json.RawMessage(`{}`)}, nil); !failed {
		t.Errorf("an empty cart was ordered: %s", raw)
	}
	h.call(t, "add_to_cart", `{"productId":1}`, &cart)
	h.call(t, "checkout", `{}`, &second)
	if first.OrderNumber != 1 || second.OrderNumber != 2 || first.TotalCents != 3*pen.PriceCents {
		t.Errorf("orders %+v, %+v", first, second)
	}
	if len(h.updated) != 7 {
		t.Errorf("the cart changed seven times, %d updates came", len(h.updated))
	}
}

// The picture is a PNG that an image viewer takes.
func TestProductPicture(t *testing.T) {
	h := newTaker()
	join(t, h)
	for id := range 8 {
		raw, failed := h.send(t, &spec.ExecuteTool{ToolName: "product_picture", Args: json.RawMessage(`{"productId":` + string(rune('1'+id)) + `}`)}, nil)
		var result struct {
			Content []struct {
				Type, MimeType string
				Data           []byte
			}
		}
		if err := json.Unmarshal(raw, &result); err != nil || failed {
			t.Fatalf("product %d: %s %v", id+1, raw, err)
		}
		img, err := png.Decode(bytes.NewReader(result.Content[0].Data))
		if err != nil {
			t.Fatalf("product %d: %v", id+1, err)
		}
		if img.Bounds().Dx() != 256 {
			t.Errorf("product %d: %v", id+1, img.Bounds())
		}
	}
}

// A slow tool reports progress, and stops when its call is cancelled.
func TestWrapGift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTaker()
		tab, err := demo.Join(t.Context(), h.peers)
		if err != nil {
			t.Fatal(err)
		}
		defer tab.Close()
		var progress []float64
		start := time.Now()
		raw, failed := h.send(t, &spec.ExecuteTool{ToolName: "wrap_gift", Args: json.RawMessage(`{"productId":1,"seconds":40}`)}, func(p spec.Progress) {
			progress = append(progress, p.Progress/(*p.Total))
		})
		if failed || !strings.Contains(string(raw), "Stoneware mug is wrapped") {
			t.Errorf("result %s", raw)
		}
		if took := time.Since(start); took != 40*time.Second {
			t.Errorf("took %v, asked for 40 s", took)
		}
		if len(progress) != 161 || progress[0] != 0 || progress[160] != 1 {
			t.Errorf("%d steps of progress: %v", len(progress), progress)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = h.peers.SendRequest(ctx, spec.TabAddr{Peer: "demo"}, &spec.ExecuteTool{ToolName: "wrap_gift", Args: json.RawMessage(`{"productId":1,"seconds":60}`)}, tabtransport.Wait{Max: time.Minute})
		if err == nil {
			t.Error("a cancelled call had a result")
		}
		tab.Close() // waits for what is running
		if took := time.Since(start); took != time.Second {
			t.Errorf("wrapping went on for %v after it was cancelled", took-time.Second)
		}
	})
}

func TestResourcesAndPrompt(t *testing.T) {
	h := newTaker()
	join(t, h)
	h.call(t, "add_to_cart", `{"productId":3}`, &demo.Cart{})
	for uri, want := range map[string]string{"shop://catalog": "Watering can", "shop://cart": "Desk lamp", "shop://products/3": "Desk lamp"} {
		raw, _ := h.send(t, &spec.ReadResource{URI: uri}, nil)
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s, want %s in it", uri, raw, want)
		}
	}
	raw, _ := h.send(t, &spec.GetPrompt{Name: "choose_gift", Args: json.RawMessage(`{"occasion":"a birthday","budget":"50"}`)}, nil)
	if !strings.Contains(string(raw), "a birthday") || !strings.Contains(string(raw), "50 euros") {
		t.Errorf("prompt %s", raw)
	}
	text, _ := h.send(t, &spec.Text{}, nil)
	if !strings.Contains(string(text), "Desk lamp, 79.00 euros") {
		t.Errorf("text %s", text)
	}
}

// What cannot be done is said in a sentence that helps.
func TestBadRequests(t *testing.T) {
	h := newTaker()
	join(t, h)
	for args, want := range map[string]string{
		`{"productId":99}`:  "there is no product 99",
		`{"productId":"x"}`: "not what add_to_cart takes",
		`[]`:                "not what add_to_cart takes",
	} {
		raw, failed := h.send(t, &spec.ExecuteTool{ToolName: "add_to_cart", Args: json.RawMessage(args)}, nil)
		if !failed || !strings.Contains(string(raw), want) {
			t.Errorf("add_to_cart %s: %s, want %q", args, raw, want)
		}
	}
	for _, req := range []spec.Request{
		&spec.ReadResource{URI: "shop://nothing"}, &spec.ReadResource{URI: "shop://products/x"},
		&spec.GetPrompt{Name: "nobody"}, &spec.Screenshot{},
	} {
		_, err := h.peers.SendRequest(t.Context(), spec.TabAddr{Peer: "demo"}, req, tabtransport.Wait{})
		if _, ok := errors.AsType[*spec.Error](err); !ok {
			t.Errorf("%#v: %v, want an error with a code", req, err)
		}
	}
}

// tester is the caller in tests.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}
