package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Page is a tab, or a worker, of a Browser. All methods are to be called from the
// test's goroutine.
type Page struct {
	t      testing.TB
	ctx    context.Context
	cancel context.CancelFunc
}

// step runs f on the page's target within Timeout.
func step[T any](p *Page, what string, f chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	out, err := chromedp.Run(ctx, f)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return out
}

// Navigate goes to url and waits until it has loaded.
func (p *Page) Navigate(url string) {
	p.t.Helper()
	step(p, "navigating to "+url, chromedp.Navigate(url))
}

// Prepend has each document that the page loads from now on, those of its frames included, run a
// script before its own ones.
func (p *Page) Prepend(script string) {
	p.t.Helper()
	step(p, "prepending a script", func(ctx context.Context, t *chromedp.Target) (page.AddScriptToEvaluateOnNewDocumentResult, error) {
		return cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	})
}

// Reload loads the page again and waits until it has loaded.
func (p *Page) Reload() {
	p.t.Helper()
	step(p, "reloading", chromedp.Reload())
}

// Back goes back in the tab's history and waits until that page is there. A page from
// the back/forward cache fires no load event.
func (p *Page) Back() {
	p.t.Helper()
	step(p, "going back", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		shown := cdp.Events(ctx, t, page.FrameNavigated)
		if _, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "history.back()"}); err != nil {
			return chromedp.Void{}, err
		}
		for ev, err := range shown {
			if err != nil || ev.Frame.ParentID == "" {
				return chromedp.Void{}, err
			}
		}
		return chromedp.Void{}, context.Cause(ctx)
	})
}

// AwaitDocument waits for a document of a protocol, for which the empty one of a new page
// makes room.
func (p *Page) AwaitDocument(protocol string) {
	p.t.Helper()
	step(p, "waiting for a document", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		shown := cdp.Events(ctx, t, page.FrameNavigated)
		got, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "location.protocol"})
		if err == nil && string(got.Result.Value) == strconv.Quote(protocol) {
			return chromedp.Void{}, nil
		}
		for _, err := range shown {
			return chromedp.Void{}, err
		}
		return chromedp.Void{}, context.Cause(ctx)
	})
}

// Eval evaluates a JavaScript expression, awaits it if it is a promise, and
// returns its JSON: "" for undefined.
func (p *Page) Eval(expr string) string {
	p.t.Helper()
	return step(p, "evaluating "+expr, func(ctx context.Context, t *chromedp.Target) (string, error) {
		got, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expr, AwaitPromise: new(true), ReturnByValue: new(true), UserGesture: new(true),
		})
		switch {
		case err != nil:
			return "", err
		case got.ExceptionDetails != nil:
			return "", &chromedp.ExceptionError{ExceptionDetails: got.ExceptionDetails}
		}
		return string(got.Result.Value), nil
	})
}

// Into is Eval with the value decoded into v.
func (p *Page) Into(expr string, v any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.Eval(expr)), v); err != nil {
		p.t.Fatalf("evaluating %s: %v", expr, err)
	}
}

// Accessible returns the role and the name that the browser gives to the element that a
// JavaScript expression is, for people who do not see it.
func (p *Page) Accessible(expr string) (role, name string) {
	p.t.Helper()
	got := step(p, "asking for the name of "+expr, func(ctx context.Context, t *chromedp.Target) (accessibility.GetPartialAXTreeResult, error) {
		element, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: expr})
		if err != nil {
			return accessibility.GetPartialAXTreeResult{}, err
		}
		return cdp.Call(ctx, t, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: element.Result.ObjectID, FetchRelatives: new(false)})
	})
	for _, n := range got.Nodes {
		for value, to := range map[*accessibility.Value]*string{n.Role: &role, n.Name: &name} {
			if value != nil {
				_ = json.Unmarshal(value.Value, to) // one that has none is no text
			}
		}
	}
	return role, name
}

// WaitFor waits until the JavaScript expression, or the promise that it is, is
// truthy. The page must stay the same document.
func (p *Page) WaitFor(expr string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(async () => {
		while (!(await (%s))) await new Promise(done => setTimeout(done, 20));
	})()`, expr))
}

// Click clicks in the middle of the first element that the CSS selector names, as
// a user does.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.click(selector, 3)
}

func (p *Page) click(selector string, again int) {
	p.t.Helper()
	// It must have come to rest: what loads above it moves it.
	p.Eval(fmt.Sprintf(`(async () => {
		for (let was, now; ; was = now) {
			const e = document.querySelector(%q);
			if (e?.checkVisibility()) {
				e.scrollIntoViewIfNeeded();
				now = JSON.stringify(e.getBoundingClientRect());
				if (now === was) return now;
			}
			await new Promise(done => setTimeout(done, 50));
		}
	})()`, selector))
	x, y := p.middle(selector)
	p.mouse(chromedp.MousePressed, x, y)
	// If it has moved all the same, the button goes up where that is no click.
	if again > 0 && p.Eval(fmt.Sprintf("document.querySelector(%q)?.matches(':active') ?? true", selector)) == "false" {
		p.mouse(chromedp.MouseReleased, 0, 0)
		p.click(selector, again-1)
		return
	}
	p.mouse(chromedp.MouseReleased, x, y)
}

// ClickLast is Click for an element whose click closes the page, once it is enabled, and
// waits until the page is gone.
func (p *Page) ClickLast(selector string) {
	p.t.Helper()
	p.WaitFor(fmt.Sprintf("document.querySelector(%q)?.disabled === false", selector))
	p.last("clicking "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// last runs an action that closes the page, and waits until the page is gone.
func (p *Page) last(what string, action chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	if _, err := chromedp.Run(ctx, action); err != nil {
		p.t.Logf("%s: %v", what, err) // the page may be gone before it can answer
	}
	p.WaitGone()
}

// Press and Release are the halves of a click in the middle of the first element that the
// CSS selector names.
func (p *Page) Press(selector string) {
	p.t.Helper()
	x, y := p.middle(selector)
	p.mouse(chromedp.MousePressed, x, y)
}

// Release is the other half of Press.
func (p *Page) Release(selector string) {
	p.t.Helper()
	x, y := p.middle(selector)
	p.mouse(chromedp.MouseReleased, x, y)
}

func (p *Page) middle(selector string) (x, y float64) {
	p.t.Helper()
	var at struct{ X, Y, Width, Height float64 }
	p.Into(fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().toJSON()", selector), &at)
	return at.X + at.Width/2, at.Y + at.Height/2
}

func (p *Page) mouse(event input.DispatchMouseEventType, x, y float64) {
	p.t.Helper()
	step(p, "the mouse", chromedp.MouseEvent(event, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
}

// Keys presses keys, of which package kb has those that are no characters.
func (p *Page) Keys(keys string) {
	p.t.Helper()
	step(p, "pressing keys", chromedp.KeyEvent(keys))
}

// KeysLast is Keys for keys that close the page, and waits until the page is gone.
func (p *Page) KeysLast(keys string) {
	p.t.Helper()
	p.last("pressing keys", chromedp.KeyEvent(keys))
}

// Type sends text to the element that has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	step(p, "typing", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
}

// Resize makes the page's window so large, as far as the page can tell.
func (p *Page) Resize(width, height int64) {
	p.t.Helper()
	step(p, "resizing", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1,
		})
		return chromedp.Void{}, err
	})
}

// Front brings the tab to the front of its window.
func (p *Page) Front() {
	p.t.Helper()
	step(p, "bringing to front", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, page.BringToFront, cdp.Empty{})
		return chromedp.Void{}, err
	})
}

// NextDialog returns what waits until the page, from now on, has a dialog open, and answers it.
func (p *Page) NextDialog() (answer func(accept bool)) {
	p.t.Helper()
	return step(p, "looking for dialogs", func(_ context.Context, t *chromedp.Target) (func(bool), error) {
		opened, stop := t.Subscribe(page.JavascriptDialogOpening.Method)
		return func(accept bool) {
			p.t.Helper()
			defer stop()
			step(p, "answering a dialog", func(ctx context.Context, t *chromedp.Target) (cdp.Empty, error) {
				select {
				case <-opened:
				case <-ctx.Done():
				}
				return cdp.Call(ctx, t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
			})
		}, nil
	})
}

// Warnings returns what waits for the next warning in the page's console, of those from now on.
func (p *Page) Warnings() (next func() string) {
	p.t.Helper()
	return step(p, "looking at the console", func(_ context.Context, t *chromedp.Target) (func() string, error) {
		called, stop := t.Subscribe(runtime.ConsoleAPICalled.Method)
		p.t.Cleanup(stop)
		return func() string {
			p.t.Helper()
			return step(p, "waiting for a warning", func(ctx context.Context, _ *chromedp.Target) (string, error) {
				for {
					select {
					case raw := <-called:
						var m struct {
							Type string
							Args []struct{ Value any }
						}
						if err := json.Unmarshal(raw, &m); err != nil {
							return "", err
						}
						if m.Type == "warning" && len(m.Args) > 0 {
							return fmt.Sprint(m.Args[0].Value), nil
						}
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}
			})
		}, nil
	})
}

// Screenshot writes what the page shows to file, a PNG.
func (p *Page) Screenshot(file string) {
	p.t.Helper()
	png := step(p, "taking a screenshot", chromedp.CaptureScreenshot())
	if err := os.WriteFile(file, png, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Crash makes the tab's renderer crash.
func (p *Page) Crash() {
	p.t.Helper()
	step(p, "crashing the tab", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		crashed, stop := t.Subscribe(inspector.TargetCrashed.Method)
		defer stop()
		asked, giveUp := context.WithCancel(ctx)
		var asking sync.WaitGroup
		// The answer never comes: the crash takes the session with it.
		asking.Go(func() { _, _ = cdp.Call(asked, t, page.Crash, cdp.Empty{}) })
		defer asking.Wait()
		defer giveUp()
		select {
		case <-crashed:
			return chromedp.Void{}, nil
		case <-ctx.Done():
			return chromedp.Void{}, context.Cause(ctx)
		}
	})
}

// WaitGone waits until the tab is closed, by itself or by the user.
func (p *Page) WaitGone() {
	p.t.Helper()
	browser := chromedp.FromContext(p.ctx).Browser
	id := chromedp.FromContext(p.ctx).Target.TargetID
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), Timeout)
	defer cancel()
	gone := cdp.Events(ctx, browser, target.TargetDestroyed)
	for {
		got, err := cdp.Call(ctx, browser, target.GetTargets, target.GetTargetsParams{})
		if err != nil {
			p.t.Fatalf("listing the browser's targets: %v", err)
		}
		if !slices.ContainsFunc(got.TargetInfos, func(i *target.Info) bool { return i.TargetID == id }) {
			return
		}
		for _, err := range gone {
			if err != nil {
				p.t.Fatalf("the tab was not closed: %v", err)
			}
			break
		}
		gone = cdp.Events(ctx, browser, target.TargetDestroyed)
	}
}

// InFrame returns JavaScript that runs script once its frame has loaded, and the browser has answered it.
// A frame of its page's origin that uses the browser's WebMCP earlier may get no answer, then or ever:
// Chromium 156 may not have heard of the frame's document yet.
func InFrame(script string) string {
	return `addEventListener("load", () => navigator.locks.request("", () => {}).catch(() => {}).then(() => {` + script + `}));`
}

// Close closes the tab; what was attached to is left open. It may be called more
// than once.
func (p *Page) Close() { p.cancel() }

// Dark makes the page see a preference for dark colours, or for light ones.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	step(p, "choosing colours", func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}
