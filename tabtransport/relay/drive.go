package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What follows is done in the tab that commands go to: by the Chrome DevTools Protocol,
// which shipped extensions carry, and by the protocol's own methods with an extension that
// does not.

// loadTimeout is how long a page may load before a navigation counts as done.
const loadTimeout = 3 * time.Second

// cdp sends a command of the Chrome DevTools Protocol.
func (b Browser) cdp(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return b.request(ctx, "forwardCDPCommand", struct {
		Method string `json:"method"`
		Params any    `json:"params"`
	}{method, params})
}

// errMoved means that the document went away before it answered.
var errMoved = spec.Errorf(spec.CodeInternal, "the page was left before it answered")

// evaluate returns the value of an expression in the page, or what its promise brings.
func (b Browser) evaluate(ctx context.Context, expression string) (json.RawMessage, error) {
	result, err := b.cdp(ctx, "Runtime.evaluate", struct {
		Expression    string `json:"expression"`
		ReturnByValue bool   `json:"returnByValue"`
		AwaitPromise  bool   `json:"awaitPromise"`
	}{expression, true, true})
	words := ""
	if thrown := rawjson.Get(result, "exceptionDetails"); thrown != nil {
		words = thrownText(thrown)
	} else if err != nil {
		words = err.Error()
	}
	switch {
	// The words are Chrome's.
	case strings.Contains(words, "navigated or closed"), strings.Contains(words, "context was destroyed"):
		return nil, errMoved
	case err != nil:
		return nil, err
	case words != "":
		return nil, spec.Errorf(spec.CodeInternal, "the page could not be asked: %s", words)
	}
	return rawjson.Get(result, "result", "value"), nil
}

// thrownText returns what an exception of the protocol says.
func thrownText(exception json.RawMessage) string {
	text, _ := rawjson.String(rawjson.Get(exception, "text"))
	description, _ := rawjson.String(rawjson.Get(exception, "exception", "description"))
	return cmp.Or(description, text, "it threw")
}

// navigate moves the tab, and waits for the page to load, but not for long.
func (b Browser) navigate(ctx context.Context, to spec.Navigate) error {
	var err error
	switch {
	case to.URL != "":
		err = b.goTo(ctx, to.URL)
	case to.Back:
		err = b.move(ctx, "history.back()", "goBack")
	case to.Forward:
		err = b.move(ctx, "history.forward()", "goForward")
	default:
		err = b.move(ctx, "location.reload()", "")
	}
	if err != nil {
		return err
	}
	return b.loaded(ctx)
}

func (b Browser) goTo(ctx context.Context, url string) error {
	params := struct {
		URL string `json:"url"`
	}{url}
	result, err := b.cdp(ctx, "Page.navigate", params)
	if unsupported(err) {
		_, err = b.request(ctx, "browser_navigate", params)
		return err
	}
	if why, failed := rawjson.String(rawjson.Get(result, "errorText")); failed && why != "" {
		return spec.Errorf(spec.CodeInternal, "the page cannot be loaded: %s", why)
	}
	return err
}

// move has the page go somewhere by itself, and waits until it does. method is that of the
// protocol for it, "" if there is none.
func (b Browser) move(ctx context.Context, step, method string) error {
	moved, err := b.evaluate(ctx, `new Promise(done => {
		for (const event of ["popstate", "pagehide"]) addEventListener(event, () => done(true), { once: true });
		setTimeout(done, 3000, false);
		`+step+`;
	})`)
	switch {
	case errors.Is(err, errMoved):
		return nil
	case unsupported(err) && method != "":
		_, err = b.request(ctx, method, struct{}{})
		return err
	case err == nil && string(moved) == "false":
		return spec.Errorf(spec.CodeInvalidParams, "the tab has not moved: there may be no page to go to")
	}
	return err
}

// loaded waits until the page has loaded. One that takes long, or cannot be asked, is
// left to load.
func (b Browser) loaded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for {
		url, err := b.evaluate(ctx, `document.readyState === "complete" ? location.href :
			new Promise(done => addEventListener("load", () => done(location.href)))`)
		if at, _ := rawjson.String(url); strings.HasPrefix(at, "chrome-error:") {
			return spec.Errorf(spec.CodeInternal, "the page cannot be loaded: the browser shows an error instead")
		}
		if !errors.Is(err, errMoved) {
			return nil
		}
	}
}

func (b Browser) screenshot(ctx context.Context) (out spec.ScreenshotResult, err error) {
	params := struct {
		Format string `json:"format"`
	}{"png"}
	result, err := b.cdp(ctx, "Page.captureScreenshot", params)
	if unsupported(err) {
		result, err = b.request(ctx, "screenshot", params)
	}
	out.MimeType = "image/png"
	out.Data, _ = rawjson.String(rawjson.Get(result, "data"))
	if err == nil && out.Data == "" {
		err = spec.Errorf(spec.CodeInternal, "the browser's extension answered with no picture")
	}
	return out, err
}

func (b Browser) text(ctx context.Context) (out spec.TextResult, err error) {
	value, err := b.evaluate(ctx, `document.body?.innerText ?? ""`)
	if err != nil {
		return out, err
	}
	text, ok := rawjson.String(value)
	if !ok {
		return out, spec.Errorf(spec.CodeInternal, "the browser's extension answered with no text")
	}
	return spec.TextResult{Text: text}, nil
}

// unsupported reports whether an extension does not know what it was asked.
func unsupported(err error) bool {
	e, ok := errors.AsType[*spec.Error](err)
	return ok && e.Code == spec.CodeUnsupported
}
