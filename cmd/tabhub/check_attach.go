package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/hub/httpd"
	"tabhub/hub/mcpserver"
	"tabhub/hub/policy"
	"tabhub/hub/state"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// attachedTab is a page that a tab of the hub that runs has open: for one behind a login.
type attachedTab struct {
	*checkOptions
	hub *remote
	tab state.TabInfo
}

// attach finds the tab that has the page open.
func (a *app) attach(ctx context.Context, o *checkOptions) (checkedTab, error) {
	r, err := a.remote()
	if err != nil {
		return nil, err
	}
	t := &attachedTab{checkOptions: o, hub: r}
	var tabs []state.TabInfo
	if err := t.get(ctx, "/api/tabs", nil, &tabs); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tabs, func(t state.TabInfo) bool { return strings.TrimSuffix(t.URL, "/") == strings.TrimSuffix(o.url, "/") })
	if i < 0 {
		i = slices.IndexFunc(tabs, func(t state.TabInfo) bool { return strings.HasPrefix(t.URL, o.url) })
	}
	if i < 0 {
		return nil, fmt.Errorf("no tab of the hub has %s open; `tabhub tabs` lists them", o.url)
	}
	t.tab = tabs[i]
	return t, nil
}

// get gets a list from the hub.
func (t *attachedTab) get(ctx context.Context, path string, query url.Values, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return t.hub.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, out)
}

// ofTab asks for what the tab offers.
func (t *attachedTab) ofTab() url.Values {
	return url.Values{"tab": {fmt.Sprintf("%s/%d", t.tab.Addr.Peer, t.tab.Addr.Tab)}}
}

// open does not open the page: the tab is its user's.
func (t *attachedTab) open(context.Context) error {
	return errors.New("a call has led the tab to another page; open the first one again, and pass --no-call")
}

func (t *attachedTab) at() string { return t.tab.URL }

func (t *attachedTab) said() ([]pagecheck.ScriptMessage, []spec.Rejection) { return nil, nil }

func (t *attachedTab) close() {}

func (t *attachedTab) look(ctx context.Context) (*pagecheck.Page, string, error) {
	p := &pagecheck.Page{Rejected: t.tab.Rejected, Warnings: t.tab.Warnings, Budget: defaultBudget, Tokens: mcpserver.Tokens}
	own := naming.DomainOfURL(t.tab.URL, t.tab.Attested)
	add := func(it pagecheck.Item) {
		it.Local = isLocal(t.tab.URL)
		it.Registered = registered(it.Definition, it.Name)
		p.Items = append(p.Items, it)
	}
	var tools []httpd.ToolReport
	if err := t.get(ctx, "/api/tools", t.ofTab(), &tools); err != nil {
		return nil, "", err
	}
	for _, it := range tools {
		if it.Tab == 0 {
			add(pagecheck.Item{Kind: spec.KindTool, Name: it.Source, Site: siteOf(it.Domain, own), Public: it.Name, Definition: it.Definition, Class: it.Class})
		}
	}
	for _, list := range []struct {
		path string
		kind spec.Kind
	}{{"/api/resources", spec.KindResource}, {"/api/prompts", spec.KindPrompt}} {
		var items []httpd.ItemReport
		if err := t.get(ctx, list.path, t.ofTab(), &items); err != nil {
			return nil, "", err
		}
		for _, it := range items {
			if it.Tab == 0 {
				add(pagecheck.Item{Kind: list.kind, Template: it.Template, Name: it.Source, Site: siteOf(it.Domain, own), Public: it.Name, Definition: it.Definition, Class: policy.Read})
			}
		}
	}
	return p, t.tab.Title, nil
}

// registered returns a definition as its page gave it, but for what the hub has left out: with
// the page's own name, and without the place at the beginning of the description.
func registered(definition json.RawMessage, name string) json.RawMessage {
	out := json.RawMessage("{")
	for key, v := range rawjson.Members(definition) {
		switch key {
		case "name", "uri", "uriTemplate":
			if key != "name" || rawjson.Get(definition, "uri") == nil && rawjson.Get(definition, "uriTemplate") == nil {
				v = rawjson.AppendString(nil, name)
			}
		case "description":
			s, _ := rawjson.String(v)
			_, s, _ = strings.Cut(s, "]")
			v = rawjson.AppendString(nil, strings.TrimSpace(s))
		}
		out = rawjson.AppendMember(out, key, v)
	}
	return append(out, '}')
}

func (t *attachedTab) call(ctx context.Context, it *pagecheck.Item, args json.RawMessage) (pagecheck.Call, error) {
	call := pagecheck.Call{Item: it, Arguments: args}
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	start := time.Now()
	var err error
	if args == nil {
		call.Result, err = t.hub.do(limited, http.MethodGet, "/api/resource?"+url.Values{"uri": {it.Public}}.Encode(), nil)
	} else {
		call.Result, err = t.hub.do(limited, http.MethodPost, "/api/call", httpd.CallRequest{Name: it.Public, Arguments: args})
	}
	call.Took = time.Since(start)
	if ctx.Err() != nil {
		return call, context.Cause(ctx)
	}
	noteFailure(&call, err)
	var now []state.TabInfo
	if err := t.get(ctx, "/api/tabs", t.ofTab(), &now); err != nil {
		return call, err
	}
	switch {
	case len(now) == 0:
		return call, fmt.Errorf("the tab was closed during a call of %s", it.Name)
	case withoutFragment(now[0].URL) != withoutFragment(t.tab.URL):
		call.Navigated = now[0].URL
	}
	return call, nil
}
