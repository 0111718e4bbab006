package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Origin of the tab; its domain is demo.tabhub.
const Origin = "https://demo.tabhub"

const title = "Corner Shop"

// wrapStep is how often wrapping a gift reports its progress.
const wrapStep = 250 * time.Millisecond

// Tab is the shop as a joined tab. It is safe for concurrent use.
type Tab struct {
	shop  *shop
	local *tabtransport.Local
}

// Join joins the shop to a hub as one tab, and returns when the hub has taken its
// tools, resources and prompt. ctx bounds only the joining. The caller closes the
// Tab.
func Join(ctx context.Context, hub tabtransport.Attacher) (*Tab, error) {
	catalog, err := loadCatalog()
	if err != nil {
		return nil, err
	}
	t := &Tab{shop: &shop{catalog: catalog}}
	hello := &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: "demo", Capabilities: []spec.Capability{spec.CapText}}
	joined := make(chan struct{})
	t.local, err = tabtransport.Join(ctx, hub, tabtransport.Conn{Attested: true, Dialect: "in-process", Hello: hello}, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		// The first request may come before Join has returned.
		<-joined
		return t.serve(ctx, in)
	})
	close(joined)
	if err != nil {
		return nil, fmt.Errorf("joining the demo tab: %w", err)
	}
	for kind, items := range map[spec.Kind][]json.RawMessage{
		spec.KindTool: catalog.Tools, spec.KindResource: catalog.Resources, spec.KindPrompt: catalog.Prompts,
	} {
		if err := t.register(ctx, kind, items); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

func (t *Tab) register(ctx context.Context, kind spec.Kind, items []json.RawMessage) error {
	raw, err := t.local.Ask(ctx, 0, &spec.Register{Kind: kind, Items: items, TabURL: Origin + "/", Title: title})
	if err != nil {
		return fmt.Errorf("registering the demo's %ss: %w", kind, err)
	}
	var r spec.Registered
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("registering the demo's %ss: %w", kind, err)
	}
	if len(r.Rejected) > 0 {
		return fmt.Errorf("the hub refuses the demo's %s %s: %s", kind, r.Rejected[0].Name, r.Rejected[0].Reason)
	}
	return nil
}

// Close takes the tab away, as a closed browser tab goes.
func (t *Tab) Close() {
	t.local.Send(0, &spec.TabClosed{})
	t.local.Close()
}

func (t *Tab) serve(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
	switch req := in.Request.(type) {
	case *spec.ExecuteTool:
		return respond(t.callTool(ctx, in, req))
	case *spec.ReadResource:
		return respond(t.readResource(req.URI))
	case *spec.SubscribeResource:
		return respond(struct{}{}, nil)
	case *spec.GetPrompt:
		return respond(getPrompt(req))
	case *spec.Text:
		return respond(spec.TextResult{Text: t.text()}, nil)
	}
	return spec.Response{}, spec.Errorf(spec.CodeMethodNotFound, "the demo tab cannot answer %s", in.Request.Method())
}

func respond(result any, err error) (spec.Response, error) {
	if err != nil {
		return spec.Response{}, err
	}
	raw, err := json.Marshal(result)
	return spec.Response{Result: raw}, err
}

// result is a CallToolResult.
type result struct {
	Content           []content `json:"content"`
	StructuredContent any       `json:"structuredContent,omitempty"`
}

type content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"` // base64 in JSON, as MCP wants it
	MimeType string `json:"mimeType,omitempty"`
}

// structured returns v as structured content, and as text for clients that do not
// know that.
func structured(v any, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	return &result{Content: []content{{Type: "text", Text: string(text)}}, StructuredContent: v}, err
}

func (t *Tab) callTool(ctx context.Context, in tabtransport.Incoming, req *spec.ExecuteTool) (*result, error) {
	var args struct {
		Query         string `json:"query"`
		MaxPriceCents *int64 `json:"maxPriceCents"`
		ProductID     int64  `json:"productId"`
		Quantity      *int64 `json:"quantity"`
		Seconds       *int64 `json:"seconds"`
	}
	if err := json.Unmarshal(req.Args, &args); err != nil {
		return nil, fmt.Errorf("the arguments are not what %s takes: %w", req.ToolName, err)
	}
	switch req.ToolName {
	case "search_products":
		return structured(map[string]any{"products": t.shop.catalog.search(args.Query, args.MaxPriceCents)}, nil)
	case "view_cart":
		return structured(t.shop.view(), nil)
	case "add_to_cart":
		return structured(t.changed(t.shop.add(args.ProductID, orElse(args.Quantity, 1))))
	case "remove_from_cart":
		return structured(t.changed(t.shop.remove(args.ProductID), nil))
	case "checkout":
		order, err := t.shop.checkout()
		if err == nil {
			t.cartChanged()
		}
		return structured(order, err)
	case "wrap_gift":
		return t.wrapGift(ctx, in, args.ProductID, time.Duration(orElse(args.Seconds, 3))*time.Second)
	case "product_picture":
		return t.productPicture(args.ProductID)
	}
	return nil, fmt.Errorf("the demo has no tool %s", req.ToolName)
}

func orElse(v *int64, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// changed tells the hub that the cart is another one now.
func (t *Tab) changed(c Cart, err error) (Cart, error) {
	if err == nil {
		t.cartChanged()
	}
	return c, err
}

func (t *Tab) cartChanged() { t.local.Send(0, &spec.ResourceUpdated{URI: "shop://cart"}) }

func (t *Tab) wrapGift(ctx context.Context, in tabtransport.Incoming, id int64, d time.Duration) (*result, error) {
	p, _, err := t.shop.catalog.product(id)
	if err != nil {
		return nil, err
	}
	steps := max(1, int64(d/wrapStep))
	total := float64(steps)
	ticker := time.NewTicker(wrapStep)
	defer ticker.Stop()
	for step := range steps {
		in.Progress(float64(step), &total, wrapStage(step, steps))
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wrapping was stopped: %w", context.Cause(ctx))
		}
	}
	in.Progress(total, &total, "Done")
	return &result{Content: []content{{Type: "text", Text: p.Name + " is wrapped as a gift."}}}, nil
}

func wrapStage(step, steps int64) string {
	return [...]string{"Cutting the paper", "Folding", "Tying the ribbon"}[3*step/steps]
}

func (t *Tab) productPicture(id int64) (*result, error) {
	p, pic, err := t.shop.catalog.product(id)
	if err != nil {
		return nil, err
	}
	data, err := pic.png()
	if err != nil {
		return nil, err
	}
	return &result{Content: []content{
		{Type: "image", Data: data, MimeType: "image/png"},
		{Type: "text", Text: p.Name},
	}}, nil
}

// readResource returns a ReadResourceResult.
func (t *Tab) readResource(uri string) (any, error) {
	var v any
	switch id, isProduct := strings.CutPrefix(uri, "shop://products/"); {
	case uri == "shop://catalog":
		v = t.shop.catalog.search("", nil)
	case uri == "shop://cart":
		v = t.shop.view()
	case isProduct:
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, spec.Errorf(spec.CodeInvalidParams, "%q is not a product id", id)
		}
		p, _, err := t.shop.catalog.product(n)
		if err != nil {
			return nil, spec.Errorf(spec.CodeInvalidParams, "%v", err)
		}
		v = p
	default:
		return nil, spec.Errorf(spec.CodeInvalidParams, "the demo has no resource %s", uri)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return map[string]any{"contents": []map[string]string{{"uri": uri, "mimeType": "application/json", "text": string(text)}}}, nil
}

// getPrompt returns a GetPromptResult.
func getPrompt(req *spec.GetPrompt) (any, error) {
	var args struct {
		Occasion string `json:"occasion"`
		Budget   string `json:"budget"`
	}
	if req.Name != "choose_gift" {
		return nil, spec.Errorf(spec.CodeInvalidParams, "the demo has no prompt %s", req.Name)
	}
	if len(req.Args) > 0 {
		if err := json.Unmarshal(req.Args, &args); err != nil {
			return nil, spec.Errorf(spec.CodeInvalidParams, "arguments of a prompt are strings: %v", err)
		}
	}
	if args.Occasion == "" {
		return nil, errors.New("choose_gift needs an occasion")
	}
	text := "Help me choose a gift from the Corner Shop for this occasion: " + args.Occasion + "."
	if args.Budget != "" {
		text += " It may cost up to " + args.Budget + " euros."
	}
	text += " Look with search_products, suggest two or three, say why, and ask before you put anything into the cart."
	return map[string]any{"messages": []any{map[string]any{"role": "user", "content": content{Type: "text", Text: text}}}}, nil
}

// text is what a visitor of the shop would read.
func (t *Tab) text() string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, p := range t.shop.catalog.Products {
		fmt.Fprintf(&b, "%s, %d.%02d euros. %s\n", p.Name, p.PriceCents/100, p.PriceCents%100, p.Description)
	}
	cart := t.shop.view()
	fmt.Fprintf(&b, "Cart: %d kinds of goods, %d.%02d euros\n", len(cart.Items), cart.TotalCents/100, cart.TotalCents%100)
	return b.String()
}
