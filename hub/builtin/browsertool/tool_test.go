package browsertool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/builtin/browsertool"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What a model gets wrong must come back as words that set it right, and reach no
// browser.
func TestBadInput(t *testing.T) {
	w := newRig(t)
	w.start("/nonexistent") // no call may get so far as to start it
	one := w.browser("b1", everything, "https://a.example/")
	two := w.browser("b2", everything, "https://b.example/")
	a := w.list().id(t, "https://a.example/")
	other := strings.Split(w.list().id(t, "https://b.example/"), ":")[0]
	for _, test := range []struct {
		tool, args string
		code       spec.FailureCode
		want       string
	}{
		{"browser_tab", ``, spec.FailInvalidArguments, "action"},
		{"browser_tab", `[]`, spec.FailInvalidArguments, "object"},
		{"browser_tab", `{"action":"explode"}`, spec.FailInvalidArguments, "list"},
		{"browser_tab", `{"action":"list","tab":"x"}`, spec.FailInvalidArguments, "tab"},
		{"browser_tab", `{"action":"list","TABID":"x"}`, spec.FailInvalidArguments, "TABID"},
		{"browser_tab", `{"action":"list","url":"https://e.com"}`, spec.FailInvalidArguments, "takes no url; it takes browserId"},
		{"browser_tab", `{"action":"close","tabId":""}`, spec.FailInvalidArguments, "tabId must have 1 to 64 characters"},
		{"browser_tab", `{"action":"new","url":"https://e.com/` + strings.Repeat("a", 2048) + `"}`, spec.FailInvalidArguments, "url must have 1 to 2048 characters"},
		{"browser_tab", `{"action":"new"}`, spec.FailInvalidArguments, "needs url"},
		{"browser_tab", `{"action":"open"}`, spec.FailInvalidArguments, "needs url"},
		{"browser_tab", `{"action":"new","url":null}`, spec.FailInvalidArguments, "needs url"},
		{"browser_tab", `{"action":"new","url":"https://e.com"}`, spec.FailInvalidArguments, "pass browserId, one of"},
		{"browser_tab", `{"action":"new","url":"https://e.com","browserId":"nobody"}`, spec.FailNotConnected, "connected are"},
		{"browser_tab", `{"action":"close"}`, spec.FailInvalidArguments, "needs tabId"},
		{"browser_tab", `{"action":"close","tabId":7}`, spec.FailInvalidArguments, "tabId"},
		{"browser_tab", `{"action":"close","tabId":"seven"}`, spec.FailInvalidArguments, "browser_tab list"},
		{"browser_tab", `{"action":"close","tabId":":"}`, spec.FailInvalidArguments, "browser_tab list"},
		{"browser_tab", `{"action":"close","tabId":"` + a + `x"}`, spec.FailInvalidArguments, "browser_tab list"},
		{"browser_tab", `{"action":"close","tabId":"-1"}`, spec.FailInvalidArguments, "browser_tab list"},
		{"browser_tab", `{"action":"close","tabId":"1"}`, spec.FailInvalidArguments, "ambiguous, since several browsers are connected; pass one of " + a},
		{"browser_tab", `{"action":"close","tabId":"ffffffff:1"}`, spec.FailNotConnected, "connected are"},
		{"browser_tab", `{"action":"close","tabId":"` + a + `9"}`, spec.FailTabNotFound, "browser_tab list"},
		{"browser_tab", `{"action":"close","tabId":"` + a + `","browserId":"` + other + `"}`, spec.FailInvalidArguments, "leave browserId out"},
		{"browser_tab", `{"action":"close_others","tabId":"` + a + `9"}`, spec.FailTabNotFound, "none was closed"},
		{"browser_page", `{"action":"goto","tabId":"` + a + `"}`, spec.FailInvalidArguments, "needs url"},
		{"browser_page", `{"action":"eval","tabId":"` + a + `"}`, spec.FailInvalidArguments, "screenshot"},
		{"browser_page", `{"action":"forward","tabId":"` + a + `"}`, spec.FailInvalidArguments, "no page to go to"},
		{"browser_page", `{"action":"text"}`, spec.FailInvalidArguments, "pass browserId"},
		{"browser_page", `{"action":"wait","tabId":"` + a + `","timeoutMs":0}`, spec.FailInvalidArguments, "timeoutMs"},
		{"browser_page", `{"action":"wait","tabId":"` + a + `9"}`, spec.FailTabNotFound, "not open"},
		{"browser_instance", `{"action":"new","url":"file:///etc/passwd"}`, spec.FailInvalidArguments, "not file:"},
		{"browser_instance", `{"action":"new","mode":"firefox"}`, spec.FailInvalidArguments, "chromium"},
		{"browser_instance", `{"action":"new","headless":true}`, spec.FailToolError, "browser-program"},
		{"browser_instance", `{"action":"new","profile":"../../etc"}`, spec.FailInvalidArguments, "profile"},
		{"browser_instance", `{"action":"close"}`, spec.FailInvalidArguments, "needs instanceId"},
		{"browser_instance", `{"action":"close","instanceId":"inst_xxx"}`, spec.FailNoInstance, "Instance not found"},
	} {
		w.call(test.tool, test.args).fails(test.code, test.want)
	}
	for _, url := range []string{
		"file:///etc/passwd", "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\\nscript:alert(1)",
		"chrome://settings", "view-source:https://e.com", "data:text/html,x", "about:blank", "chrome-extension://x/y.html",
		"blob:https://e.com/x", "ftp://e.com/", "e.com", "//e.com/", "http:", "https:///x", "http:e.com", "https://e.com --no-sandbox",
		"--remote-debugging-port=1", "https:\\\\\\\\e.com", "http://:80/", "http://e.com:99999/", "http://e.com:0/", "\\u0001javascript:alert(1)",
	} {
		for _, call := range []string{`"action":"goto","tabId":"` + a + `"`, `"action":"goto"`} {
			w.call("browser_page", `{`+call+`,"url":"`+url+`"}`).fails(spec.FailInvalidArguments, "url")
		}
		w.call("browser_tab", `{"action":"new","url":"`+url+`"}`).fails(spec.FailInvalidArguments, "url")
		w.call("browser_instance", `{"action":"new","url":"`+url+`"}`).fails(spec.FailInvalidArguments, "url")
	}
	for _, r := range append(one.requests(), two.requests()...) {
		if !strings.Contains(r, "forward") && !strings.HasPrefix(r, "tab/19 ") {
			t.Errorf("reached a browser: %s", r)
		}
	}
}

func TestTabs(t *testing.T) {
	w := newRig(t)
	w.call("browser_tab", `{"action":"new","url":"https://e.com"}`).fails(spec.FailNotConnected, "companion extension")
	// Models and programs take null for a failure.
	if got := w.call("browser_tab", `{"action":"list"}`).Content[0].Text; !strings.Contains(got, `"tabs":[]`) || !strings.Contains(got, `"browsers":[]`) {
		t.Errorf("without tabs: %s", got)
	}
	b := w.browser("b1", everything, "https://shop.example/#top", "chrome://settings/", "https://c.example/\u202eevil")
	b.register(1, "https://shop.example/#top", "search", "order")
	b.local.Send(1, &spec.TabState{Active: new(true), WindowID: new(int64(1)), WindowFocused: new(true)})

	l := w.list()
	if len(l.Browsers) != 1 || l.Browsers[0].Browser != "Chromium b1" || len(l.Tabs) != 3 {
		t.Fatalf("%+v", l)
	}
	if s := l.Tabs[0]; s.Domain != "shop.example" || s.Tools != 2 || !s.Active || !s.Focused || !s.Attested || s.TabID != l.Browsers[0].BrowserID+":1" {
		t.Errorf("the shop: %+v", s)
	}
	if s := l.Tabs[1]; s.Domain != "" || s.Tools != 0 || s.Index != 1 || s.Active {
		t.Errorf("the settings: %+v", s)
	}
	if s := l.Tabs[2]; s.URL != "https://c.example/evil" {
		t.Errorf("a URL that deceives: %q", s.URL)
	}

	var opened struct{ TabID string }
	w.call("browser_tab", `{"action":"new","url":"https://e.com/","active":true}`).into(&opened)
	w.call("browser_tab", `{"action":"activate","tabId":"`+opened.TabID+`"}`).into(&struct{}{})
	w.call("browser_tab", `{"action":"close","tabId":"2"}`).into(&struct{}{})
	var closed struct{ Closed int }
	w.call("browser_tab", `{"action":"close_others","tabId":"`+opened.TabID+`"}`).into(&closed)
	want := []string{
		`tab browser/openTab {"url":"https://e.com/","active":true}`,
		`tab/101 browser/activateTab {"ifOrigin":"https://e.com"}`, `tab/2 browser/closeTab {}`,
		`tab/1 browser/closeTab {"ifOrigin":"https://shop.example"}`, `tab/3 browser/closeTab {"ifOrigin":"https://c.example"}`,
	}
	if got := b.requests(); closed.Closed != 2 || !slices.Equal(got, want) {
		t.Errorf("%d closed, requests %q", closed.Closed, got)
	}
	if l := w.list(); len(l.Tabs) != 1 || l.Tabs[0].TabID != opened.TabID {
		t.Errorf("left: %+v", l.Tabs)
	}

	entries := w.log.Entries(record.Query{Tool: "browser_tab close_others"})
	if len(entries) != 1 || entries[0].Said != "test" || entries[0].Outcome != "ok" {
		t.Errorf("the record has %+v", entries)
	}
}

// One browser that hangs must not hide the others' tabs.
func TestListWithABrowserThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		w.browser("b1", everything, "https://a.example/")
		hung := w.browser("b2", everything, "https://b.example/")
		hung.block = make(chan struct{})
		l := w.list()
		if len(l.Browsers) != 2 || len(l.Tabs) != 1 {
			t.Fatalf("%+v", l)
		}
		for _, b := range l.Browsers {
			if (b.Browser == "Chromium b2") != strings.Contains(b.Error, "did not answer") {
				t.Errorf("%+v", b)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := w.callCtx(ctx, "browser_tab", `{"action":"list"}`); r.raw != nil {
			t.Errorf("a cancelled call was answered: %s", r.raw)
		}
	})
}

// A page that has joined by itself, without the extension.
func TestSinglePage(t *testing.T) {
	w := newRig(t)
	w.page("https://solo.example", "/shop", "buy")
	l := w.list()
	if len(l.Tabs) != 1 || !l.Browsers[0].SinglePage || l.Tabs[0].Tools != 1 || l.Tabs[0].Domain != "solo.example" || !l.Tabs[0].Attested {
		t.Fatalf("%+v", l)
	}
	id := l.Tabs[0].TabID
	w.call("browser_tab", `{"action":"activate","tabId":"`+id+`"}`).fails(spec.FailToolError, "does not offer activateTab")
	w.call("browser_page", `{"action":"screenshot","tabId":"`+id+`"}`).fails(spec.FailToolError, "companion extension")
	w.call("browser_tab", `{"action":"close_others","tabId":"`+id+`"}`).fails(spec.FailToolError, "does not list its tabs")
	w.call("browser_tab", `{"action":"close","tabId":"`+strings.TrimSuffix(id, "0")+`5"}`).fails(spec.FailTabNotFound, "")
	w.call("browser_tab", `{"action":"new","url":"https://e.com/"}`).fails(spec.FailNotConnected, "offers openTab")

	// In a browser that has the extension, too, its tools are the tab's.
	w.browser("b1", everything, "https://solo.example/shop#cart")
	var state struct {
		Tools     int
		ToolNames []string
	}
	w.call("browser_page", `{"action":"wait"}`).into(&state)
	if state.Tools != 1 || !slices.Equal(state.ToolNames, []string{"website_tool_solo_example__buy"}) {
		t.Errorf("%+v", state)
	}
}

func TestPage(t *testing.T) {
	w := newRig(t)
	b := w.browser("b1", everything, "https://a.example/", "https://b.example/")
	var state struct {
		TabID, URL, Title, Domain string
		Tools                     int
		ToolNames                 []string
	}
	w.call("browser_page", `{"action":"goto","url":"https://shop.example/"}`).into(&state)
	if state.URL != "https://shop.example/" || state.Domain != "shop.example" || state.Tools != 0 {
		t.Errorf("%+v", state)
	}
	for _, action := range []string{"back", "reload"} {
		w.call("browser_page", `{"action":"`+action+`","tabId":"`+state.TabID+`"}`).into(&state)
	}
	want := []string{
		`tab/1 browser/navigate {"url":"https://shop.example/","ifOrigin":"https://a.example"}`,
		`tab/1 browser/navigate {"back":true,"ifOrigin":"https://shop.example"}`,
		`tab/1 browser/navigate {"reload":true,"ifOrigin":"https://shop.example"}`,
	}
	if got := b.requests(); !slices.Equal(got, want) {
		t.Errorf("requests %q", got)
	}

	// Of two tabs with a tool, each has a name of its own.
	b.register(1, "https://shop.example/", "search")
	b.register(2, "https://shop.example/", "search", "order")
	w.call("browser_page", `{"action":"wait","tabId":"2"}`).into(&state)
	if want := []string{"website_tool_shop_example__order", "website_tool_shop_example__tab2_search"}; state.Tools != 2 || !slices.Equal(slices.Sorted(slices.Values(state.ToolNames)), want) {
		t.Errorf("%+v", state)
	}

	shot := w.call("browser_page", `{"action":"screenshot","tabId":"1"}`)
	if len(shot.Content) != 1 || shot.Content[0].Type != "image" || shot.Content[0].MimeType != "image/png" || !bytes.Equal(shot.Content[0].Data, []byte("\x89PNG\r\n\x1a\n")) {
		t.Errorf("%s", shot.raw)
	}
	text := w.call("browser_page", `{"action":"text","tabId":"1"}`)
	for _, r := range []result{shot, text} {
		if got := string(rawjson.Get(r.raw, "_meta", "tabhub/source")); !strings.HasPrefix(got, `{"domain":"shop.example","verified":true,"tab":"`) {
			t.Errorf("%s says that it is from %s", r.call, got)
		}
	}
	w.call("browser_page", `{"action":"screenshot","tabId":"2"}`).fails(spec.FailToolError, "activate it first")
	for _, answer := range []string{`{}`, `{"mimeType":"text/html","data":"AAAA"}`, `{"mimeType":"image/png","data":""}`, `{"mimeType":"image/png","data":"AA\"A"}`, `{"mimeType":"image/png","data":7}`} {
		b.shot = answer
		w.call("browser_page", `{"action":"screenshot","tabId":"1"}`).fails(spec.FailToolError, "no picture")
	}

	var read struct {
		Text      string
		Truncated bool
	}
	w.call("browser_page", `{"action":"text","tabId":"1","maxChars":40}`).into(&read)
	if !read.Truncated || len(read.Text) > 40 || !strings.HasPrefix(read.Text, "Hello https://shop.example/") {
		t.Errorf("%+v", read)
	}
	w.call("browser_page", `{"action":"text","tabId":"1","maxChars":2000000}`).into(&read)
	if read.Truncated || len(read.Text) < 30_000 {
		t.Errorf("%d bytes, truncated: %v", len(read.Text), read.Truncated)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		b := w.browser("b1", everything, "https://a.example/")
		start := time.Now()
		w.call("browser_page", `{"action":"wait"}`).fails(spec.FailToolTimeout, "within 10s")
		w.call("browser_page", `{"action":"wait","timeoutMs":2000}`).fails(spec.FailToolTimeout, "within 2s")
		if d := time.Since(start); d != 12*time.Second {
			t.Errorf("waited %v", d)
		}
		start = time.Now()
		time.AfterFunc(3*time.Second, func() { b.register(1, "https://a.example/", "x") })
		var state struct{ ToolNames []string }
		w.call("browser_page", `{"action":"wait"}`).into(&state)
		if d := time.Since(start); d != 3*time.Second || len(state.ToolNames) != 1 {
			t.Errorf("%+v after %v", state, d)
		}
		// What the page before has left, and what is to be left, is not waited for.
		b.registerItems(1, "https://a.example/", `{"name":"x","departed":true}`)
		b.mu.Lock()
		b.tabs[0].Navigating = true
		b.mu.Unlock()
		start = time.Now()
		time.AfterFunc(time.Second, func() { b.registerItems(1, "https://a.example/", `{"name":"x","departed":true}`, `{"name":"y"}`) })
		time.AfterFunc(2*time.Second, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.tabs[0].Navigating = false
		})
		w.call("browser_page", `{"action":"wait"}`).into(&state)
		if d := time.Since(start); d < 2*time.Second || d > 3*time.Second || !slices.Equal(state.ToolNames, []string{"website_tool_a_example__y"}) {
			t.Errorf("%+v after %v", state, d)
		}
		if l := w.list(); l.Tabs[0].Tools != 1 {
			t.Errorf("%+v", l)
		}
		// The browser goes for good.
		b.register(1, "https://a.example/")
		start = time.Now()
		time.AfterFunc(time.Second, func() { w.hub.Core.Forget("browser:b1", spec.CloseGoingAway, "gone") })
		w.call("browser_page", `{"action":"wait"}`).fails(spec.FailNotConnected, "went away")
		if d := time.Since(start); d != time.Second {
			t.Errorf("noticed after %v", d)
		}
	})
}

// The tab in front is that of the focused window; where that is not known, the model
// has to say.
func TestTabInFront(t *testing.T) {
	w := newRig(t)
	b := w.browser("b1", everything, "https://a.example/", "https://b.example/")
	b.mu.Lock()
	b.tabs[1].Active, b.tabs[1].WindowID = true, 2
	b.mu.Unlock()
	w.call("browser_page", `{"action":"text"}`).fails(spec.FailInvalidArguments, "several windows; pass tabId")
	b.register(2, "https://b.example/", "x")
	b.local.Send(2, &spec.TabState{Active: new(true), WindowID: new(int64(2)), WindowFocused: new(true)})
	var read struct{ Text string }
	w.call("browser_page", `{"action":"text"}`).into(&read)
	if !strings.Contains(read.Text, "b.example") {
		t.Errorf("read %.60s", read.Text)
	}
	b.mu.Lock()
	b.tabs = nil
	b.mu.Unlock()
	w.call("browser_page", `{"action":"text"}`).fails(spec.FailTabNotFound, "no tab in front")
}

// A client that has a tab of its own looks at that, whatever the user looks at.
func TestOwnTabBeforeTheOneInFront(t *testing.T) {
	w := newRig(t)
	w.browser("b1", everything, "https://a.example/", "https://b.example/")
	ada := &consent.Caller{Principal: &policy.Principal{ID: "ada", Name: "Ada"}, Session: "1"}
	w.browser("b2", everything, "https://c.example/")
	list := w.list()
	of := func(url string) string {
		id, _, _ := strings.Cut(list.id(t, url), ":")
		return `,"browserId":"` + id + `"`
	}
	own := list.id(t, "https://b.example/")
	reads := func(arguments, want string) {
		t.Helper()
		var read struct{ Text string }
		w.callBy(t.Context(), ada, "browser_page", `{"action":"text"`+arguments+`}`).into(&read)
		if !strings.Contains(read.Text, want) {
			t.Errorf("read %.60s, want %s", read.Text, want)
		}
	}
	reads(of("https://a.example/"), "a.example")
	w.callBy(t.Context(), ada, "browser_tab", `{"action":"use","tabId":"`+own+`"}`)
	reads("", "b.example")
	reads(of("https://a.example/"), "b.example")
	reads(of("https://c.example/"), "c.example")
	w.callBy(t.Context(), ada, "browser_page", `{"action":"goto","url":"https://d.example/"}`)
	reads("", "d.example")
	w.callBy(t.Context(), ada, "browser_tab", `{"action":"close","tabId":"`+own+`"}`)
	reads(of("https://a.example/"), "a.example")
}

// A host shows a tool by its definition alone.
func TestDefinitions(t *testing.T) {
	w := newRig(t)
	w.start("")
	var names []string
	for _, tool := range w.tools {
		var d struct {
			Name, Description string
			InputSchema       struct{ Required []string }
			Annotations       struct{ DestructiveHint *bool }
		}
		if err := json.Unmarshal(tool.Definition(), &d); err != nil || d.Name != tool.Name || tool.Name != browsertool.ScriptTool && !slices.Equal(d.InputSchema.Required, []string{"action"}) || d.Annotations.DestructiveHint == nil {
			t.Errorf("%s: %s: %v", tool.Name, tool.Definition(), err)
		}
		names = append(names, tool.Name)
	}
	if want := []string{"browser_tab", "browser_page", "browser_script", "browser_instance"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if t2 := browsertool.New(w.hub, nil, nil)[3]; t2.Name != browsertool.InstanceTool || t2.Call != nil {
		t.Errorf("a hub that starts no browsers serves %s", t2.Name)
	}
}
