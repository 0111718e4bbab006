package browsertool

import (
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/hub/state"
	"tabhub/spec"
)

var pageActions = actions{
	"goto":       {needs: []string{"url"}, takes: []string{"tabId", "browserId"}, run: goTo},
	"back":       {takes: []string{"tabId", "browserId"}, run: navigate(spec.Navigate{Back: true})},
	"forward":    {takes: []string{"tabId", "browserId"}, run: navigate(spec.Navigate{Forward: true})},
	"reload":     {takes: []string{"tabId", "browserId"}, run: navigate(spec.Navigate{Reload: true})},
	"wait":       {takes: []string{"tabId", "browserId", "for", "tool", "timeoutMs"}, run: wait},
	"screenshot": {takes: []string{"tabId", "browserId", "ref", "full", "numbered"}, run: screenshot},
	"text":       {takes: []string{"tabId", "browserId", "maxChars"}, run: text},
	"snapshot":   {takes: []string{"tabId", "browserId", "scope", "depth", "find", "changes", "maxTokens"}, run: snapshot},
	"click":      act(click, []string{"ref"}, "count", "button"),
	"fill":       act(fill, nil, "ref", "value", "fields"),
	"select":     act(selects, []string{"ref"}, "value", "values"),
	"press":      act(press, []string{"key"}, "ref"),
	"hover":      act(hover, []string{"ref"}),
	"scroll":     act(scroll, nil, "ref", "pages"),
	"drag":       act(drag, []string{"ref", "to"}),
	"upload":     act(upload, []string{"ref", "files"}),
	"dialog":     {needs: []string{"accept"}, takes: []string{"tabId", "browserId", "value"}, run: dialog},
}

const (
	defaultChars = 20_000
	// maxToolNames bounds the names that a page's state holds.
	maxToolNames = 50
)

// page is the state of a tab.
type page struct {
	TabID  string       `json:"tabId"`
	URL    string       `json:"url"`
	Title  string       `json:"title"`
	Domain spec.Domain  `json:"domain,omitempty"`
	Asleep bool         `json:"asleep,omitempty"`
	Dialog *spec.Dialog `json:"dialog,omitempty"` // that blocks it
	Tools  int          `json:"tools"`
	// Names are those under which the tools are called, as many as fit.
	Names []string `json:"toolNames"`
	// Tool is the name of the one that was waited for.
	Tool string `json:"tool,omitempty"`

	addr       spec.TabAddr
	navigating bool
}

func goTo(c *call) (any, error) { return navigate(spec.Navigate{URL: c.args.URL})(c) }

// navigate moves a tab and returns its state.
func navigate(req spec.Navigate) func(*call) (any, error) {
	return func(c *call) (any, error) {
		b, addr, err := c.meant()
		if err != nil {
			return nil, err
		}
		if err := c.control(addr, &req, nil); err != nil {
			return nil, err
		}
		return c.page(b, addr)
	}
}

// page returns the state of a tab.
func (c *call) page(b browser, addr spec.TabAddr) (page, error) {
	tabs, err := c.tabsOf(b)
	if err != nil {
		return page{}, err
	}
	i := slices.IndexFunc(tabs, func(t tab) bool { return t.addr == addr })
	if i < 0 {
		return page{}, failure(spec.FailTabNotFound, "tab %s is not open; browser_tab list shows the tabs", addr.Public())
	}
	t := tabs[i]
	return page{
		TabID: t.TabID, URL: t.URL, Title: t.Title, Domain: t.Domain, Asleep: t.Asleep, Dialog: t.Dialog, Tools: t.Tools,
		Names: c.toolNames(t.sources), addr: addr, navigating: t.navigating,
	}, nil
}

// toolNames returns the names under which the tools of a tab are called.
func (c *call) toolNames(sources []state.TabInfo) []string {
	names := []string{}
	for _, o := range sources {
		names = append(names, c.hub.Lists.ToolNames(c.by, o.Addr)...)
	}
	return names[:min(len(names), maxToolNames)]
}

// isBase64 reports whether raw is a JSON string of base64.
func isBase64(raw []byte) bool {
	if len(raw) < 3 || raw[0] != '"' || len(raw)%4 != 2 {
		return false
	}
	text := strings.TrimRight(string(raw[1:len(raw)-1]), "=")
	for _, c := range []byte(text) {
		if !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/') {
			return false
		}
	}
	return text != ""
}

func text(c *call) (any, error) {
	_, addr, err := c.meant()
	if err != nil {
		return nil, err
	}
	var got spec.TextResult
	resp, from, err := c.hub.Calls.ReadTab(c.ctx, c.by, addr, &spec.Text{})
	if err == nil {
		err = decode(resp, &got)
	}
	if err != nil {
		return nil, err
	}
	c.from = from
	limit := defaultChars
	if c.args.MaxChars > 0 {
		limit = c.args.MaxChars
	}
	whole := describe.CleanLines(got.Text, len(got.Text))
	cut := describe.CleanLines(whole, limit)
	return map[string]any{"tabId": addr.Public(), "text": cut, "truncated": cut != whole}, nil
}
