// Package relaytest holds, for tests, a browser whose extension speaks the protocols of
// package relay as shipped ones do.
package relaytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Browser is a browser with an extension. The fields are set before Serve.
//
// As in shipped extensions, one tab is chosen for all who use the extension, by its place
// in the list, and pages of the browser itself cannot be chosen.
type Browser struct {
	Name, ClientID, Token string
	// Predecessor: it speaks the older protocol, whose extensions overlook the index of
	// closeTab and whose errors are strings.
	Predecessor bool
	// Plain: it knows the methods that the protocol names, activateTab too, for which it
	// overlooks selectTab's activate, and no forwardCDPCommand.
	Plain bool
	// Before, if not nil, is called with each request before it is served. An error is the
	// answer.
	Before func(method string, params json.RawMessage) error

	mu     sync.Mutex
	tabs   []*Tab
	chosen int64
	last   int64
	asked  []string
}

// Tab is an open tab.
type Tab struct {
	ID, WindowID int64
	Title        string
	Active       bool
	// StaysOpen: its page asks the user before it is closed.
	StaysOpen bool

	visited []string
	at      int // of visited
}

// URL returns where the tab is.
func (t *Tab) URL() string { return t.visited[t.at] }

func (t *Tab) visit(url string) {
	t.visited = append(t.visited[:t.at+1], url)
	t.at++
}

// Add opens a tab, in front of its window, without being asked.
func (b *Browser) Add(url string) *Tab { return b.add(url, true) }

func (b *Browser) add(url string, active bool) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last += 7
	t := &Tab{ID: b.last, WindowID: 1, Title: "Title of " + url, visited: []string{url}}
	b.tabs = append(b.tabs, t)
	if active {
		b.front(t)
	}
	return t
}

func (b *Browser) front(t *Tab) {
	for _, other := range b.tabs {
		other.Active = other == t
	}
}

// Move puts the last tab first, as a user may.
func (b *Browser) Move() {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.tabs) - 1
	b.tabs = append([]*Tab{b.tabs[last]}, b.tabs[:last]...)
}

// URLs returns where the tabs are, in their order, each with a * if it is in front.
func (b *Browser) URLs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var urls []string
	for _, t := range b.tabs {
		url := t.URL()
		if t.Active {
			url += "*"
		}
		urls = append(urls, url)
	}
	return urls
}

// Chosen returns the tab that commands go to.
func (b *Browser) Chosen() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.chosen
}

// Asked returns and forgets the methods that were asked for, but for getTabs.
func (b *Browser) Asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// message is a frame to the extension.
type message struct {
	ID           json.RawMessage `json:"id"`
	Method       string          `json:"method"`
	Type         string          `json:"type"`
	ConnectionID string          `json:"connectionId"`
	Params       json.RawMessage `json:"params"`
}

// Serve serves the extension's WebSocket until it ends: side by side, as an extension does.
func (b *Browser) Serve(receive func() ([]byte, error), send func([]byte) error) {
	var sending sync.Mutex
	tell := func(v any) {
		frame, _ := json.Marshal(v)
		sending.Lock()
		defer sending.Unlock()
		_ = send(frame) // a connection that has ended ends receive, too
	}
	if b.Predecessor {
		tell(map[string]any{"method": "extension_handshake", "params": map[string]any{"name": b.Name, "accessToken": b.Token}})
	} else {
		tell(map[string]any{"jsonrpc": "2.0", "method": "build_info", "params": map[string]any{"buildTimestamp": nil}})
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		frame, err := receive()
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(frame, &m) != nil || m.Method == "" || m.ID == nil {
			continue
		}
		serving.Go(func() {
			result, err := b.answer(m.Method, m.Params)
			switch {
			case err == nil:
				tell(b.frame(map[string]any{"id": m.ID, "result": result}))
			case b.Predecessor:
				tell(b.frame(map[string]any{"id": m.ID, "error": err.Error()}))
			default:
				tell(b.frame(map[string]any{"id": m.ID, "error": map[string]any{"message": err.Error(), "stack": "at background.js:1"}}))
			}
		})
	}
}

// says makes an error in an extension's own words.
func says(format string, args ...any) error { return said(fmt.Sprintf(format, args...)) }

type said string

func (s said) Error() string { return string(s) }

func (b *Browser) frame(m map[string]any) map[string]any {
	if !b.Predecessor {
		m["jsonrpc"] = "2.0"
	}
	return m
}

// answer serves a request.
func (b *Browser) answer(method string, params json.RawMessage) (any, error) {
	var p parameters
	_ = json.Unmarshal(params, &p)
	if method == "authenticate" {
		return map[string]any{"name": b.Name, "access_token": b.Token, "client_id": b.ClientID, "buildTimestamp": nil}, nil
	}
	if method != "getTabs" {
		b.mu.Lock()
		b.asked = append(b.asked, method+" "+string(params))
		b.mu.Unlock()
	}
	if b.Before != nil {
		if err := b.Before(method, params); err != nil {
			return nil, err
		}
	}
	switch method {
	case "createTab":
		t := b.add(p.URL, p.Activate == nil || *p.Activate)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.chosen = t.ID
		return map[string]any{"tab": b.shown(t)}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch method {
	case "getTabs":
		tabs := []any{}
		for _, t := range b.tabs {
			tabs = append(tabs, b.shown(t))
		}
		return map[string]any{"tabs": tabs, "count": len(tabs)}, nil
	case "selectTab":
		t, err := b.byIndex(p.TabIndex)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(t.URL(), "http") {
			return nil, says("Cannot automate tab %d: %q (%s)", *p.TabIndex, t.Title, t.URL())
		}
		if p.Activate != nil && *p.Activate && !b.Plain {
			b.front(t)
		}
		again := b.chosen == t.ID
		b.chosen = t.ID
		if again && b.Predecessor {
			return nil, says("Another debugger is already attached to the tab with id: %d.", t.ID)
		}
		return map[string]any{"tab": b.shown(t)}, nil
	case "closeTab":
		t := b.tab(b.chosen)
		if p.Index != nil && !b.Predecessor {
			var err error
			if t, err = b.byIndex(p.Index); err != nil {
				return nil, err
			}
		}
		if t == nil {
			return nil, says("No tab attached. Use browser_tabs action='attach' to attach a tab first.")
		}
		if !t.StaysOpen {
			b.tabs = slices.DeleteFunc(b.tabs, func(other *Tab) bool { return other == t })
		}
		return map[string]any{"success": true, "closedAttachedTab": t.ID == b.chosen}, nil
	}
	if method == "activateTab" && b.Plain {
		t, err := b.byIndex(p.TabIndex)
		if err != nil {
			return nil, err
		}
		b.front(t)
		return map[string]any{"success": true}, nil
	}
	t := b.tab(b.chosen)
	if t == nil {
		return nil, says("No tab attached. Call selectTab or createTab first.")
	}
	switch {
	case b.Plain:
		return b.plain(t, method, p)
	case method == "forwardCDPCommand":
		return b.cdp(t, p.Method, p.Params)
	case method == "getResponseBody":
		return map[string]any{"error": "No resource with given identifier found"}, nil
	case b.Predecessor:
		return map[string]any{}, nil // whatever it was asked
	}
	return nil, says("Unknown command: %s", method)
}

// parameters are the parameters of all methods.
type parameters struct {
	URL             string
	Activate        *bool
	TabIndex, Index *int
	Method          string
	Params          json.RawMessage
}

func (b *Browser) shown(t *Tab) any {
	return map[string]any{
		"id": t.ID, "windowId": t.WindowID, "title": t.Title, "url": t.URL(), "active": t.Active,
		"index": slices.Index(b.tabs, t), "automatable": strings.HasPrefix(t.URL(), "http"),
	}
}

func (b *Browser) tab(id int64) *Tab {
	if i := slices.IndexFunc(b.tabs, func(t *Tab) bool { return t.ID == id }); i >= 0 {
		return b.tabs[i]
	}
	return nil
}

func (b *Browser) byIndex(i *int) (*Tab, error) {
	if i == nil || *i < 0 || *i >= len(b.tabs) {
		return nil, says("Tab index out of range (0-%d)", len(b.tabs)-1)
	}
	return b.tabs[*i], nil
}

// plain serves what the protocol names for pages.
func (b *Browser) plain(t *Tab, method string, p parameters) (any, error) {
	step := map[string]int{"goBack": -1, "goForward": 1}[method]
	switch {
	case method == "browser_navigate":
		t.visit(p.URL)
		return map[string]any{}, nil
	case step != 0:
		if !t.travel(step) {
			return nil, says("No page to go to")
		}
		return map[string]any{}, nil
	case method == "screenshot":
		return map[string]any{"data": picture}, nil
	case slices.Contains([]string{"click", "type", "hover"}, method):
		return map[string]any{"success": true}, nil
	}
	return nil, says("Unknown command: %s", method)
}

func (t *Tab) travel(step int) bool {
	if to := t.at + step; to < 0 || to >= len(t.visited) {
		return false
	}
	t.at += step
	return true
}

const picture = "iVBORw0KGgo="

// cdp serves a command of the Chrome DevTools Protocol, as far as the hub sends any.
func (b *Browser) cdp(t *Tab, method string, raw json.RawMessage) (any, error) {
	var p struct{ URL, Expression string }
	_ = json.Unmarshal(raw, &p)
	switch method {
	case "Page.navigate":
		if strings.Contains(p.URL, "nowhere") {
			return map[string]any{"frameId": "F", "errorText": "net::ERR_NAME_NOT_RESOLVED"}, nil
		}
		t.visit(p.URL)
		return map[string]any{"url": p.URL, "title": t.Title}, nil
	case "Page.captureScreenshot":
		return map[string]any{"data": picture}, nil
	case "Input.dispatchMouseEvent", "Input.dispatchKeyEvent":
		return map[string]any{"success": true}, nil
	case "Input.insertText":
		if b.Predecessor {
			return map[string]any{}, nil
		}
	case "Runtime.evaluate":
		value := func(v any) (any, error) { return map[string]any{"result": map[string]any{"value": v}}, nil }
		step := 0
		switch {
		case strings.Contains(p.Expression, "innerText"):
			return value("Hello " + t.URL())
		case strings.Contains(p.Expression, "readyState"):
			return value(map[string]any{"url": t.URL(), "title": t.Title})
		case strings.Contains(p.Expression, "about:blank"):
			return value(map[string]any{})
		case strings.Contains(p.Expression, "#nothing"):
			return value(nil)
		case strings.Contains(p.Expression, "getBoundingClientRect"):
			return value(map[string]any{"x": 12.5, "y": 30})
		case strings.Contains(p.Expression, "focus()"):
			return value(true)
		case strings.Contains(p.Expression, "history.back()"):
			step = -1
		case strings.Contains(p.Expression, "history.forward()"):
			step = 1
		}
		if !t.travel(step) {
			return value(false)
		}
		if b.Predecessor {
			return nil, says(`{"code":-32000,"message":"Inspected target navigated or closed"}`)
		}
		return map[string]any{"exceptionDetails": map[string]any{"text": "Inspected target navigated or closed"}}, nil
	}
	return nil, says("Unsupported CDP method: %s", method)
}
