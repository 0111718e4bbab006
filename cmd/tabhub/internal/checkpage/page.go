package checkpage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/devtools"
	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/hub/broadcast"
	"tabhub/hub/builtin/instance"
	"tabhub/spec"
)

// checkedPage is the only page of a browser that the check started. Its methods are safe for
// concurrent use.
type checkedPage struct {
	browser *devtools.Conn
	session string
	frame   string // the page's main frame

	changed broadcast.Signal
	work    sync.WaitGroup // answers to dialogs

	mu       sync.Mutex
	url      string
	status   int                       // of the last answer for the main frame
	reason   string                    // of the same, in words
	loaded   bool                      // the document and its resources
	quiet    bool                      // hardly any request is in flight
	last     time.Time                 // when anything changed
	messages []pagecheck.ScriptMessage // each once
	refused  []spec.Rejection          // tools that the browser refused, each once
	failure  string                    // of the last tool that failed
}

// maxMessages is how many messages of scripts a checkedPage stores.
const maxMessages = 20

// openCheckedPage takes over the empty page of a browser that was just started.
func openCheckedPage(ctx context.Context, info instance.Info) (p *checkedPage, err error) {
	p = &checkedPage{last: time.Now()}
	p.browser = devtools.New(info.DevTools, p.event)
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if !info.Loaded {
		// Some browsers ignore extensions on their command line.
		if err := p.browser.Call(ctx, "", "Extensions.loadUnpacked", map[string]string{"path": info.Extension}, nil); err != nil {
			return nil, fmt.Errorf("the browser does not take the companion extension (%w); name a Chromium or Chrome for Testing with --browser-program", err)
		}
	}
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := p.browser.Call(ctx, "", "Target.getTargets", nil, &targets); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(targets.TargetInfos, func(t struct{ TargetID, Type string }) bool { return t.Type == "page" })
	if i < 0 {
		return nil, errors.New("the browser has opened no page")
	}
	var attached struct{ SessionID string }
	if err := p.browser.Call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": targets.TargetInfos[i].TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Log"} {
		if err := p.Call(ctx, domain+".enable", nil, nil); err != nil {
			return nil, err
		}
	}
	var tree struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	if err := p.Call(ctx, "Page.getFrameTree", nil, &tree); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.frame = tree.FrameTree.Frame.ID
	p.messages = nil // of the empty page
	p.mu.Unlock()
	if err := p.Call(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]string{"source": watchRegistrations}, nil); err != nil {
		return nil, err
	}
	return p, p.Call(ctx, "Page.setLifecycleEventsEnabled", map[string]bool{"enabled": true}, nil)
}

// watchRegistrations makes the page log the tools that the browser refuses. Without it a refusal is
// invisible, as the browser marks the promise that registerTool returns as handled.
const watchRegistrations = `(() => {
	const context = document.modelContext;
	const register = context?.registerTool;
	if (!register) return;
	Object.getPrototypeOf(context).registerTool = function registerTool(...args) {
		const done = register.apply(this, args);
		done?.catch?.((err) => console.error("` + refusedMark + `", String(args[0]?.name), String(err)));
		return done;
	};
})()`

// Prefixes of messages that are not the page's errors.
const (
	refusedMark = "tabhub check: a tool is refused"
	failureMark = "WebMCP tool execution failed: " // by Chromium
)

const (
	closeWait = 3 * time.Second // how long a browser may take to close on request
	aliveWait = 3 * time.Second // how long a page may take to run a script
)

// Close ends the browser. It asks first: a browser that closes by itself removes its files in the
// system's temporary directory.
func (p *checkedPage) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if p.browser.Call(ctx, "", "Browser.close", nil, nil) == nil {
		select {
		case <-p.browser.Done():
		case <-ctx.Done():
		}
	}
	p.browser.Close()
	p.work.Wait()
}

func (p *checkedPage) Call(ctx context.Context, method string, params, result any) error {
	return p.browser.Call(ctx, p.session, method, params, result)
}

// open navigates to an address, and returns when the document has arrived. The error says why it has
// not.
func (p *checkedPage) open(ctx context.Context, url string) error {
	var to struct{ ErrorText string }
	p.mu.Lock()
	p.loaded, p.quiet, p.status = false, false, 0
	p.mu.Unlock()
	if err := p.Call(ctx, "Page.navigate", map[string]string{"url": url}, &to); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.status == 401 || p.status == 403:
		return fmt.Errorf("the server refuses it (%d %s): the check uses a separate browser, without your login", p.status, p.reason)
	case p.status >= 400:
		return fmt.Errorf("the server answers %d %s", p.status, p.reason)
	case to.ErrorText != "":
		return errors.New(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(to.ErrorText, "net::ERR_")), "_", " ") + " (" + to.ErrorText + ")")
	}
	return nil
}

// at returns the page's address.
func (p *checkedPage) at() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// said returns the messages of scripts, and the tools that the browser refused.
func (p *checkedPage) said() ([]pagecheck.ScriptMessage, []spec.Rejection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages), slices.Clone(p.refused)
}

// whyFailed returns the browser's reason for a tool's failure since the last call of whyFailed.
func (p *checkedPage) whyFailed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	why := p.failure
	p.failure = ""
	return why
}

// touch notes that the page has changed what it offers.
func (p *checkedPage) touch() {
	p.mu.Lock()
	p.last = time.Now()
	p.mu.Unlock()
	p.changed.Fire()
}

// runs reports whether the page runs scripts: a page in an endless loop does not.
func (p *checkedPage) runs(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveWait)
	defer cancel()
	return p.Call(ctx, "Runtime.evaluate", map[string]string{"expression": "0"}, nil) == nil
}

// settle blocks until the page has loaded and then has not changed for the time that quiet returns.
// The error is ctx's cause.
func (p *checkedPage) settle(ctx context.Context, quiet func() time.Duration) error {
	for {
		changed := p.changed.Wait()
		p.mu.Lock()
		ready, last := p.loaded && p.quiet, p.last
		p.mu.Unlock()
		left := time.Hour // until there is an event
		if ready {
			if left = quiet() - time.Since(last); left <= 0 {
				return nil
			}
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-p.browser.Done():
			return errors.New("the browser has ended")
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// event handles the browser's events about the page.
func (p *checkedPage) event(e devtools.Event) {
	if e.Session == "" {
		return
	}
	var m struct {
		FrameID  string
		Name     string
		Type     string
		Message  string
		URL      string
		Response struct {
			Status     int
			StatusText string
		}
		Frame            struct{ ID, URL, URLFragment string }
		ExceptionDetails exceptionDetails
		Args             []remoteObject
		StackTrace       *stackTrace
		Entry            struct {
			Source, Level, Text, URL string
			LineNumber               int
		}
	}
	if json.Unmarshal(e.Params, &m) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	main := m.FrameID == p.frame
	switch e.Method {
	case "Page.frameNavigated":
		if m.Frame.ID != p.frame {
			return
		}
		p.url, p.loaded, p.quiet = m.Frame.URL+m.Frame.URLFragment, false, false
	case "Page.navigatedWithinDocument":
		if !main {
			return
		}
		p.url = m.URL
	case "Page.lifecycleEvent":
		if !main {
			return
		}
		p.loaded = p.loaded || m.Name == "load"
		p.quiet = p.quiet || m.Name == "networkAlmostIdle"
	case "Network.responseReceived":
		if main && m.Type == "Document" {
			p.status, p.reason = m.Response.Status, m.Response.StatusText
		}
		return
	case "Page.javascriptDialogOpening":
		leaving := m.Type == "beforeunload"
		if !leaving {
			p.addLocked(pagecheck.ScriptMessage{Dialog: m.Type, Text: m.Message, Where: m.URL})
		}
		// The page waits for the answer: no, except to a dialog that would keep the check from leaving.
		p.work.Go(func() {
			_ = p.browser.Call(context.Background(), e.Session, "Page.handleJavaScriptDialog", map[string]bool{"accept": leaving}, nil)
		})
		return
	case "Runtime.exceptionThrown":
		p.addLocked(m.ExceptionDetails.message())
		return
	case "Runtime.consoleAPICalled":
		if m.Type == "error" || m.Type == "assert" {
			p.consoleLocked(m.Args, m.StackTrace)
		}
		return
	case "Log.entryAdded":
		if m.Entry.Level == "error" && !strings.HasSuffix(m.Entry.URL, "/favicon.ico") {
			p.addLocked(pagecheck.ScriptMessage{Text: m.Entry.Text, Where: place(m.Entry.URL, m.Entry.LineNumber)})
		}
		return
	default:
		return
	}
	p.last = time.Now()
	p.changed.Fire()
}

// consoleLocked adds an error of the console. The caller holds p.mu.
func (p *checkedPage) consoleLocked(args []remoteObject, at *stackTrace) {
	var words []string
	for i := range args {
		words = append(words, args[i].String())
	}
	text := strings.Join(words, " ")
	if len(words) == 3 && words[0] == refusedMark {
		no := spec.Rejection{Name: words[1], Reason: "the browser refuses it: " + words[2]}
		if !slices.Contains(p.refused, no) && len(p.refused) < maxMessages {
			p.refused = append(p.refused, no)
		}
		return
	}
	p.addLocked(pagecheck.ScriptMessage{Text: text, Where: at.place()})
}

// addLocked stores a message of the page, not of an extension. The caller holds p.mu.
func (p *checkedPage) addLocked(m pagecheck.ScriptMessage) {
	m.Text = command.OneLine(m.Text)
	if why, ok := strings.CutPrefix(m.Text, failureMark); ok {
		p.failure = strings.TrimPrefix(why, "Uncaught ")
		return
	}
	if m.Text != "" && !strings.HasPrefix(m.Where, "chrome-extension://") && len(p.messages) < maxMessages && !slices.Contains(p.messages, m) {
		p.messages = append(p.messages, m)
	}
}

// remoteObject is a value of the page.
type remoteObject struct {
	Value       json.RawMessage
	Description string
}

// String returns the value on one line, as the console shows it.
func (o *remoteObject) String() string {
	var s string
	switch {
	case json.Unmarshal(o.Value, &s) == nil:
		return s
	case o.Description != "":
		first, _, _ := strings.Cut(o.Description, "\n")
		return first
	}
	return string(o.Value)
}

type stackTrace struct {
	CallFrames []struct {
		URL        string
		LineNumber int
	}
}

func (s *stackTrace) place() string {
	if s == nil || len(s.CallFrames) == 0 {
		return ""
	}
	return place(s.CallFrames[0].URL, s.CallFrames[0].LineNumber)
}

// exceptionDetails describes what a script has thrown.
type exceptionDetails struct {
	Text       string
	URL        string
	LineNumber int
	Exception  *remoteObject
	StackTrace *stackTrace
}

func (e *exceptionDetails) message() pagecheck.ScriptMessage {
	m := pagecheck.ScriptMessage{Thrown: true, Text: e.Text, Where: e.StackTrace.place()}
	if m.Where == "" {
		m.Where = place(e.URL, e.LineNumber)
	}
	if e.Exception != nil {
		m.Text = e.Exception.String()
	}
	return m
}

// place is a line of a script. The protocol counts from 0.
func place(url string, line int) string {
	if url == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", url, line+1)
}
