package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// situations are a client, what it does, where and by which path, and the outcome: "allow", "deny",
// "paused", or "ask" with the answer of the owner. By is what the record says that decided.
var situations = []struct {
	what string // the situation, for people
	mode policy.Mode
	// rules are the owner's: "EFFECT member=value…"; "pause member=value", "private SITE".
	rules string
	who   string // "" is claude
	way   string // how it is done: see the ways below
	on    string // SITE/NAME of what is called, or the way's argument
	want  string
	by    string // the rule, or the bound above the rules; "" is not checked
}{
	// The modes, for a page's tools.
	{"careful lets a tool read", "careful", "", "", "call", "shop/search", "allow", "preset:careful"},
	{"careful lets a tool without hints act", "careful", "", "", "call", "shop/add", "allow", "preset:careful"},
	{"careful asks before what is destructive", "careful", "", "", "call", "shop/pay", "ask yes", "preset:destructive"},
	{"a no is a no", "careful", "", "", "call", "shop/pay", "ask no", "preset:destructive"},
	{"WebMCP's consequentialHint is destructive", "careful", "", "", "call", "shop/order", "ask yes", "preset:destructive"},
	{"a tool that says it reads and destroys counts as destructive", "careful", "", "", "call", "shop/both", "ask yes", "preset:destructive"},
	{"careful asks before a site that nobody vouches for", "careful", "", "", "call", "claimed/search", "ask yes", "preset:unverified"},
	{"open lets all pass", "open", "", "", "call", "shop/pay", "allow", "preset:open"},
	{"open lets unverified sites pass", "open", "", "", "call", "claimed/search", "allow", "preset:open"},
	{"ask asks before reading", "ask", "", "", "call", "shop/search", "ask yes", "preset:ask"},
	{"read-only lets a tool read", "read-only", "", "", "call", "shop/search", "allow", "preset:read-only"},
	{"read-only denies a tool without hints", "read-only", "", "", "call", "shop/add", "deny", "mode"},
	{"no rule lifts read-only", "read-only", "allow site=shop.example tool=add", "", "call", "shop/add", "deny", "mode"},

	// Resources, prompts, completions.
	{"careful lets a resource be read", "careful", "", "", "read", "shop/shop://cart", "allow", "preset:careful"},
	{"a template makes a resource", "careful", "", "", "read", "shop/shop://order/7", "allow", "preset:careful"},
	{"a resource can be denied", "careful", "deny site=shop.example tool=shop://cart", "", "read", "shop/shop://cart", "deny", "r1"},
	{"what a template makes can be denied", "careful", "deny site=shop.example tool=shop://order/*", "", "read", "shop/shop://order/7", "deny", "r1"},
	{"a resource of an unverified site is asked about", "careful", "", "", "read", "claimed/shop://cart", "ask yes", "preset:unverified"},
	{"careful lets a prompt be got", "careful", "", "", "prompt", "shop/greet", "allow", "preset:careful"},
	{"a prompt can be asked about", "careful", "ask site=shop.example tool=greet", "", "prompt", "shop/greet", "ask yes", "r1"},
	{"a prompt can be denied", "careful", "deny site=shop.example", "", "prompt", "shop/greet", "deny", "r1"},
	{"a completion is let pass", "careful", "", "", "complete", "shop/greet", "allow", ""},
	{"a completion is not asked about: there is none", "ask", "", "", "complete", "shop/greet", "nothing", ""},
	{"a completion of a denied site is none", "careful", "deny site=shop.example", "", "complete", "shop/greet", "nothing", ""},
	{"a resource is followed", "careful", "", "", "follow", "shop/shop://cart", "allow", ""},
	{"following can be denied", "careful", "deny site=shop.example", "", "follow", "shop/shop://cart", "deny", ""},
	{"following can be asked about", "ask", "", "", "follow", "shop/shop://cart", "ask yes", ""},

	// Rules: the most specific one decides, the stricter of two that are not.
	{"a rule for a client", "careful", "deny client=claude", "", "call", "shop/search", "deny", "r1"},
	{"a rule for another client", "careful", "deny client=cursor", "", "call", "shop/search", "allow", "preset:careful"},
	{"a rule for a site", "careful", "deny site=shop.example", "", "call", "shop/search", "deny", "r1"},
	{"a wildcard for sites", "careful", "deny site=*.example", "", "call", "shop/search", "invalid", ""},
	{"a site counts more than a class", "careful", "deny class=read; allow site=shop.example class=read", "", "call", "shop/search", "allow", "r2"},
	{"a tool counts more than its site", "careful", "deny site=shop.example; allow site=shop.example tool=search", "", "call", "shop/search", "allow", "r2"},
	{"client against site: the stricter", "careful", "allow client=claude; deny site=shop.example", "", "call", "shop/search", "deny", "r2"},
	{"a rule for a site does not speak of destructive tools", "careful", "allow site=shop.example", "", "call", "shop/pay", "ask yes", "preset:destructive"},
	{"one that does lets them pass", "careful", "allow site=shop.example class=destructive", "", "call", "shop/pay", "allow", "r1"},
	{"verified sites", "careful", "deny site=verified", "", "call", "shop/search", "deny", "r1"},
	{"an unverified site is not the one that it claims to be", "careful", "allow site=shop.example class=destructive", "", "call", "claimed/pay", "ask yes", ""},
	{"a pattern for tools", "careful", "deny tool=pa*", "", "call", "shop/pay", "deny", "r1"},

	// What the owner has stopped.
	{"everything is paused", "open", "pause", "", "call", "shop/search", "paused", "pause"},
	{"a client is paused", "open", "pause client=claude", "", "call", "shop/search", "paused", "pause"},
	{"another client is paused", "open", "pause client=cursor", "", "call", "shop/search", "allow", "preset:open"},
	{"a site is paused", "open", "pause site=shop.example", "", "read", "shop/shop://cart", "paused", "pause"},
	{"no rule lifts a pause", "open", "pause; allow site=shop.example tool=search", "", "call", "shop/search", "paused", "pause"},
	{"a pause stops prompts", "open", "pause", "", "prompt", "shop/greet", "paused", "pause"},
	{"a pause stops the hub's own tools", "open", "pause", "", "text", "shop", "paused", "pause"},
	{"a pause stops what proxy calls", "open", "pause", "", "proxy", "shop/search", "paused", "pause"},

	// Through proxy, one by one and in a batch.
	{"proxy is decided as the call that it makes", "careful", "", "", "proxy", "shop/search", "allow", "preset:careful"},
	{"proxy asks before what is destructive", "careful", "", "", "proxy", "shop/pay", "ask yes", "preset:destructive"},
	{"proxy passes a no on", "careful", "", "", "proxy", "shop/pay", "ask no", "preset:destructive"},
	{"proxy does not know what is denied", "careful", "deny site=shop.example", "", "proxy", "shop/search", "deny", "r1"},
	{"a batch is decided one by one", "careful", "deny site=shop.example tool=add", "", "batch", "shop/add", "deny", "r1"},
	{"the client is not asked within a batch, which would run again", "careful", "", "", "batch", "shop/pay", "deny", ""},
	{"proxy itself can be denied", "careful", "deny tool=proxy", "", "proxy", "shop/search", "deny", ""},

	// The hub's own tools.
	{"the text of a page", "careful", "", "", "text", "shop", "allow", "preset:careful"},
	{"the text of a page of a denied site", "careful", "deny site=shop.example", "", "text", "shop", "deny", "r1"},
	{"the text may be asked about", "careful", "ask tool=browser_page", "", "text", "shop", "ask yes", "r1"},
	{"read-only lets text be read", "read-only", "", "", "text", "shop", "allow", ""},
	{"read-only leads no tab elsewhere", "read-only", "", "", "goto", "https://shop.example/a", "deny", "mode"},
	{"a tab is led elsewhere", "careful", "", "", "goto", "https://shop.example/a", "allow", "preset:careful"},
	{"not to a denied site", "careful", "deny site=other.example", "", "goto", "https://other.example/?q=secret", "deny", "r1"},
	{"nor away from one", "careful", "deny site=shop.example", "", "goto", "https://other.example/", "deny", "r1"},
	{"the dashboard is the owner's, whatever rules say", "open", "", "", "open", "http://tabhub-a1.localhost:3300/", "deny", ""},
	{"at the hub's usual address, too", "open", "", "", "open", "http://HUB/#record", "deny", ""},
	{"by another spelling", "open", "", "", "goto", "http://tabs.localhost:PORT//", "deny", ""},
	{"the demo there is a page as others are", "open", "", "", "open", "http://HUB/demo", "allow", "preset:open"},
	{"a tab is opened", "careful", "", "", "open", "https://other.example/", "allow", "preset:careful"},
	{"not at a denied site", "careful", "deny site=other.example", "", "open", "https://other.example/", "deny", "r1"},
	{"nor by another spelling of its address", "careful", "deny site=127.0.0.1:8080", "", "open", "http://127.1:8080/", "deny", "r1"},
	{"starting a browser in the owner's profile is asked about", "careful", "", "", "start", "chrome/Default", "ask no", ""},

	// The relay: a request to an extension may reach any site.
	{"careful asks before a request to an extension", "careful", "", "", "relay", "getTabs", "ask yes", "preset:relay"},
	{"a rule lets a client's requests pass", "careful", "allow client=claude class=relay", "", "relay", "getTabs", "allow", "r1"},
	{"a denied site keeps the relay out", "careful", "allow client=claude class=relay; deny site=bank.example", "", "relay", "getTabs", "deny", "r2"},
	{"read-only lets no commands pass", "read-only", "", "", "relay", "forwardCDPCommand Runtime.evaluate", "deny", "mode"},

	// Whose credential it is.
	{"nobody may do anything", "open", "", "nobody", "call", "shop/search", "deny", "nothing"},
	{"a credential for a site is good there", "open", "", "scoped", "call", "shop/search", "allow", "preset:open"},
	{"and nowhere else", "open", "", "scoped", "call", "claimed/search", "deny", "scope"},
	{"nor for more than reading", "open", "allow client=scoped", "scoped", "call", "shop/add", "deny", "scope"},
	{"nor for the relay", "open", "allow client=scoped", "scoped", "relay", "getTabs", "deny", "scope"},
}

var principals = map[string]*policy.Principal{
	"":       {ID: "claude"},
	"cursor": {ID: "cursor"},
	"nobody": policy.Nobody,
	"scoped": {ID: "scoped", Scope: &policy.Scope{Sites: []string{"shop.example"}, Classes: []policy.Class{policy.Read}}},
}

// TestSituations is what the policy means, from the client to the page and the record.
func TestSituations(t *testing.T) {
	p, _ := serve(t, io.Discard, "--demo=false")
	for i, s := range situations {
		t.Run(s.what, func(t *testing.T) {
			t.Parallel()
			w := newSituation(t, tenantOf(t, p, fmt.Sprint("situation", i)), p)
			err := w.setPolicy(s.mode, s.rules)
			if s.want == "invalid" {
				if err == nil {
					t.Error("the rules are taken")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			by := &consent.Caller{Principal: principals[s.who], Session: s.what, Began: time.Now()}
			by.Elicit = func(context.Context, *spec.Ask) (spec.AskResult, error) {
				asked++
				if s.want == "ask yes" {
					return spec.AskResult{Reach: spec.ReachOnce}, nil
				}
				return spec.AskResult{Reach: spec.ReachNo}, nil
			}
			got := w.ways[s.way](by, s.on)
			if asked > 0 && got == "allow" {
				got = "ask yes"
			} else if asked > 0 && got == "deny" {
				got = "ask no"
			}
			reached := len(w.sent) > 0
			if got != s.want || asked > 1 || s.way != "relay" && reached != (s.want == "allow" || s.want == "ask yes") {
				t.Errorf("%s, asked %d times; sent %q; want %s", got, asked, w.sent, s.want)
			}
			if s.by != "" && s.way != "relay" {
				w.wantRecord(s.want, s.by)
			}
		})
	}
}

// situation is a hub with a shop, one that claims to be the shop, and a browser.
type situation struct {
	t      *testing.T
	tenant *tenant.Tenant
	hub    *hub.Hub
	sent   []string // to tabs and browsers
	ways   map[string]func(by *consent.Caller, on string) string
}

// tenantOf returns what a user has in a process, where no other test has any of it.
func tenantOf(t *testing.T, p *Process, user string) *tenant.Tenant {
	t.Helper()
	of, err := p.Tenants.Get(t.Context(), spec.UserID(user))
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func newSituation(t *testing.T, tenant *tenant.Tenant, p *Process) *situation {
	at := strings.NewReplacer("HUB", p.Info.Addrs[0], "PORT", p.Info.Addrs[0][strings.LastIndex(p.Info.Addrs[0], ":")+1:])
	w := &situation{t: t, tenant: tenant, hub: tenant.Hub}
	transport := p.Tabs.Transport(tenant.User)
	w.join(transport, tabtransport.Conn{Attested: true, Hello: &spec.Hello{
		ProtocolVersion: spec.ProtocolVersion, BrowserID: "b1", BrowserName: "Chromium", Session: "s1",
		Capabilities: []spec.Capability{spec.CapText, spec.CapListTabs, spec.CapNavigate, spec.CapOpenTab},
	}}, 7, "https://shop.example/")
	w.join(transport, tabtransport.Conn{ClaimedOrigin: "https://shop.example", Dialect: spec.Subprotocol}, 0, "")
	w.ways = map[string]func(*consent.Caller, string) string{
		"call": func(by *consent.Caller, on string) string {
			r, err := w.hub.Calls.Call(t.Context(), call.Request{Name: w.name(spec.KindTool, on), By: by})
			return outcomeOf(r, err)
		},
		"read": func(by *consent.Caller, on string) string {
			return outcomeOf(w.hub.Calls.ReadResource(t.Context(), by, w.name(spec.KindResource, on)))
		},
		"prompt": func(by *consent.Caller, on string) string {
			return outcomeOf(w.hub.Calls.GetPrompt(t.Context(), by, w.name(spec.KindPrompt, on), nil))
		},
		"complete": func(by *consent.Caller, on string) string {
			r, err := w.hub.Calls.Complete(t.Context(), by, spec.KindPrompt, w.name(spec.KindPrompt, on), json.RawMessage(`{"name":"who","value":"A"}`), nil)
			if err == nil && !strings.Contains(string(r), "Ada") {
				return "nothing"
			}
			return outcomeOf(r, err)
		},
		"follow": func(by *consent.Caller, on string) string {
			stop, err := w.hub.Calls.SubscribeResource(t.Context(), by, w.name(spec.KindResource, on))
			if err == nil {
				stop()
			}
			return outcomeOf(nil, err)
		},
		"proxy": func(by *consent.Caller, on string) string {
			return w.builtin(by, "proxy", `{"action":"call","type":"tool","path":%q}`, w.name(spec.KindTool, on))
		},
		"batch": func(by *consent.Caller, on string) string {
			return w.builtin(by, "proxy", `{"action":"batch","operations":[{"action":"call","type":"tool","path":%q}]}`, w.name(spec.KindTool, on))
		},
		"text": func(by *consent.Caller, _ string) string { return w.builtin(by, "browser_page", `{"action":"text"}`) },
		"goto": func(by *consent.Caller, on string) string {
			return w.builtin(by, "browser_page", `{"action":"goto","url":%q}`, at.Replace(on))
		},
		"open": func(by *consent.Caller, on string) string {
			return w.builtin(by, "browser_tab", `{"action":"new","url":%q}`, at.Replace(on))
		},
		"start": func(by *consent.Caller, on string) string {
			return w.builtin(by, "browser_instance", `{"action":"new","profile":%q}`, on)
		},
		"relay": func(by *consent.Caller, on string) string {
			err := w.hub.Calls.Admit(t.Context(), by, &policy.Action{
				Principal: by.Principal, Session: by.Session, Of: policy.OfRelay, Name: on, Class: policy.Write, Site: policy.Site{Any: true},
			}, json.RawMessage(`{}`), func(context.Context) error { return nil })
			return outcomeOf(nil, err)
		},
	}
	return w
}

// join joins a tab that offers something of each kind.
func (w *situation) join(hub tabtransport.Attacher, conn tabtransport.Conn, tab int64, url string) {
	w.t.Helper()
	l, err := tabtransport.Join(w.t.Context(), hub, conn, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		method := in.Request.Method()
		if method == spec.MethodListTabs {
			return spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"tabs":[{"tabId":%d,"windowId":1,"index":0,"url":%q,"title":"Shop","active":true}]}`, tab, url))}, nil
		}
		if s, ok := in.Request.(*spec.SubscribeResource); !ok || s.Subscribe {
			w.sent = append(w.sent, method)
		}
		return spec.Response{Result: map[string]json.RawMessage{
			spec.MethodExecuteTool:  json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`),
			spec.MethodReadResource: json.RawMessage(`{"contents":[{"uri":"shop://cart","text":"empty"}]}`),
			spec.MethodGetPrompt:    json.RawMessage(`{"messages":[]}`),
			spec.MethodComplete:     json.RawMessage(`{"completion":{"values":["Ada"]}}`),
			spec.MethodText:         json.RawMessage(`{"text":"Welcome"}`),
			spec.MethodOpenTab:      json.RawMessage(`{"tabId":7}`),
		}[method]}, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(l.Close)
	for kind, items := range map[spec.Kind]string{
		spec.KindTool: `{"name":"search","annotations":{"readOnlyHint":true}} {"name":"add"}
			{"name":"pay","annotations":{"destructiveHint":true}} {"name":"order","annotations":{"consequentialHint":true}}
			{"name":"both","annotations":{"readOnlyHint":true,"destructiveHint":true}}`,
		spec.KindResource: `{"uri":"shop://cart","name":"cart"} {"uriTemplate":"shop://order/{id}","name":"order"}`,
		spec.KindPrompt:   `{"name":"greet","completes":true,"arguments":[{"name":"who"}]}`,
	} {
		offer(w.t, l, tab, &spec.Register{Kind: kind, TabURL: url}, items)
	}
}

// name returns the public name, or URI, of SITE/NAME.
func (w *situation) name(kind spec.Kind, on string) string {
	site, name, _ := strings.Cut(on, "/")
	domain := spec.Domain("shop.example")
	if site == "claimed" {
		domain = "unverified_shop.example"
	}
	lists := map[spec.Kind][]lists.ListKind{
		spec.KindTool: {lists.ListTools}, spec.KindPrompt: {lists.ListPrompts}, spec.KindResource: {lists.ListResources, lists.ListTemplates},
	}
	for _, kind := range lists[kind] {
		for _, it := range w.hub.Lists.List(kind).Items {
			before, _, template := strings.Cut(it.Source, "{")
			if it.Domain == domain && it.Tab == 0 && (it.Source == name || template && strings.HasPrefix(name, before)) {
				return strings.TrimSuffix(it.Name, it.Source) + name
			}
		}
	}
	w.t.Fatalf("nothing is called %s", on)
	return ""
}

func (w *situation) builtin(by *consent.Caller, tool, args string, values ...any) string {
	r, err := builtin.Find(w.tenant.Builtin, tool).Call(w.t.Context(), by, fmt.Appendf(nil, args, values...))
	return outcomeOf(r, err)
}

// setPolicy makes the owner have decided nothing but what rules say.
func (w *situation) setPolicy(mode policy.Mode, rules string) error {
	doc := policy.Document{Mode: mode}
	for i, text := range strings.Split(rules, "; ") {
		effect, rest, _ := strings.Cut(text, " ")
		members := map[string]string{}
		for member := range strings.FieldsSeq(rest) {
			name, value, _ := strings.Cut(member, "=")
			members[name] = value
		}
		switch effect {
		case "":
		case "pause":
			doc.Pauses = append(doc.Pauses, policy.Pause{Client: members["client"], Site: members["site"]})
		default:
			r := policy.Rule{ID: fmt.Sprintf("r%d", i+1), Client: members["client"], Site: members["site"], Tool: members["tool"], Class: members["class"]}
			if err := r.Effect.UnmarshalText([]byte(effect)); err != nil {
				return err
			}
			doc.Rules = append(doc.Rules, r)
		}
	}
	return w.hub.Rules.EditPolicy("test", func(d *policy.Document) error {
		*d = doc
		return nil
	})
}

// wantRecord checks the line of the latest call.
func (w *situation) wantRecord(outcome, by string) {
	w.t.Helper()
	lines, err := w.tenant.Record.Read(w.t.Context(), record.Query{Event: record.Call, Limit: 1})
	if err != nil || len(lines) != 1 {
		w.t.Fatalf("%d lines, %v", len(lines), err)
	}
	decision, _, _ := strings.Cut(outcome, " ")
	if decision == "paused" {
		decision = "deny"
	}
	if l := lines[0]; l.Decision != decision || l.Rule != by {
		w.t.Errorf("the record says %q by %q, want %q by %q: %+v", l.Decision, l.Rule, decision, by, l)
	}
}

// outcomeOf says what has become of a request.
func outcomeOf(result json.RawMessage, err error) string {
	text := string(result)
	var f *core.Failure
	if errors.As(err, &f) {
		text = f.Error()
	} else if err != nil {
		return err.Error()
	}
	switch {
	case strings.Contains(text, string(spec.FailDenied)):
		return "deny"
	case strings.Contains(text, string(spec.FailPaused)):
		return "paused"
	case strings.Contains(text, `"isError":true`):
		return text
	}
	return "allow"
}
