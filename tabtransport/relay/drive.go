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
func (d driver) cdp(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return d.request(ctx, "forwardCDPCommand", struct {
		Method string `json:"method"`
		Params any    `json:"params"`
	}{method, params})
}

// errMoved means that the document went away before it answered.
var errMoved = spec.Errorf(spec.CodeInternal, "the page was left before it answered")

// evaluate returns the value of an expression in the page, or what its promise brings.
func (d driver) evaluate(ctx context.Context, expression string) (json.RawMessage, error) {
	result, err := d.cdp(ctx, "Runtime.evaluate", struct {
		Expression    string `json:"expression"`
		ReturnByValue bool   `json:"returnByValue"`
		AwaitPromise  bool   `json:"awaitPromise"`
	}{expression, true, true})
	words := ""
	if thrown := rawjson.Get(result, "exceptionDetails"); thrown != nil && string(thrown) != "null" {
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
		return nil, spec.Errorf(spec.CodeInternal, "the page could not be asked: %.300s", words)
	}
	return rawjson.Get(result, "result", "value"), nil
}

// thrownText returns what an exception of the protocol says.
func thrownText(exception json.RawMessage) string {
	text, _ := rawjson.String(rawjson.Get(exception, "text"))
	description, _ := rawjson.String(rawjson.Get(exception, "exception", "description"))
	return cmp.Or(description, text, "it threw")
}

// navigate moves the tab, waits for the page to load, but not for long, and returns where
// it is then: {"url","title"}, or {} if the page cannot be asked.
func (d driver) navigate(ctx context.Context, to spec.Navigate) (page json.RawMessage, err error) {
	switch {
	case to.URL != "":
		err = d.goTo(ctx, to.URL)
	case to.Back:
		err = d.move(ctx, "history.back()", "goBack")
	case to.Forward:
		err = d.move(ctx, "history.forward()", "goForward")
	default:
		err = d.move(ctx, "location.reload()", "")
	}
	if err != nil {
		return nil, err
	}
	return d.loaded(ctx)
}

func (d driver) goTo(ctx context.Context, url string) error {
	params := struct {
		URL string `json:"url"`
	}{url}
	result, err := d.cdp(ctx, "Page.navigate", params)
	if why, failed := rawjson.String(rawjson.Get(result, "errorText")); failed && why != "" {
		return spec.Errorf(spec.CodeInternal, "the page cannot be loaded: %s", why)
	}
	return d.or(ctx, "browser_navigate", params, err)
}

// move has the page go somewhere by itself, and waits until it does. method is that of the
// protocol for it, "" if there is none.
func (d driver) move(ctx context.Context, step, method string) error {
	moved, err := d.evaluate(ctx, `new Promise(done => {
		for (const event of ["popstate", "pagehide"]) addEventListener(event, () => done(true), { once: true });
		setTimeout(done, 3000, false);
		`+step+`;
	})`)
	switch {
	case errors.Is(err, errMoved):
		return nil
	case err == nil && string(moved) == "false":
		return spec.Errorf(spec.CodeInvalidParams, "the tab has not moved: there may be no page to go to")
	case method != "":
		return d.or(ctx, method, struct{}{}, err)
	}
	return err
}

// loaded waits until the page has loaded. One that takes long is left to load.
func (d driver) loaded(ctx context.Context) (page json.RawMessage, err error) {
	page = d.settled(ctx, `(async () => {
		if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
		return { url: location.href, title: document.title };
	})()`)
	if url, _ := rawjson.String(rawjson.Get(page, "url")); strings.HasPrefix(url, "chrome-error:") {
		return nil, spec.Errorf(spec.CodeInternal, "the page cannot be loaded: the browser shows an error instead")
	}
	return page, nil
}

// arrived waits until a new tab has left the empty page that it starts with: before, shipped
// extensions refuse to choose it.
func (d driver) arrived(ctx context.Context) {
	d.settled(ctx, `location.href === "about:blank" ? new Promise(done => addEventListener("pagehide", done)) : {}`)
}

// settled returns what an expression brings in the page that the tab ends up with, {} if
// that takes longer than loadTimeout or the tab goes on and on.
func (d driver) settled(ctx context.Context, expression string) json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for range 10 {
		value, err := d.evaluate(ctx, expression)
		if err == nil {
			return value
		}
		if !errors.Is(err, errMoved) {
			break
		}
	}
	return json.RawMessage("{}")
}

func (d driver) screenshot(ctx context.Context) (out spec.ScreenshotResult, err error) {
	params := struct {
		Format string `json:"format"`
	}{"png"}
	result, err := d.cdp(ctx, "Page.captureScreenshot", params)
	if unsupported(err) {
		result, err = d.request(ctx, "screenshot", params)
	}
	out.MimeType = "image/png"
	out.Data, _ = rawjson.String(rawjson.Get(result, "data"))
	if err == nil && out.Data == "" {
		err = spec.Errorf(spec.CodeInternal, "the browser's extension answered with no picture")
	}
	return out, err
}

func (d driver) text(ctx context.Context) (out spec.TextResult, err error) {
	value, err := d.evaluate(ctx, `document.body?.innerText ?? ""`)
	if err != nil {
		return out, err
	}
	text, ok := rawjson.String(value)
	if !ok {
		return out, spec.Errorf(spec.CodeInternal, "the browser's extension answered with no text")
	}
	return spec.TextResult{Text: text}, nil
}

// or sends the protocol's own method for what has failed with err, if the extension did not
// know how, and returns how that has ended.
func (d driver) or(ctx context.Context, method string, params any, err error) error {
	if unsupported(err) {
		_, err = d.request(ctx, method, params)
	}
	return err
}

// unsupported reports whether an extension does not know what it was asked.
func unsupported(err error) bool {
	e, ok := errors.AsType[*spec.Error](err)
	return ok && e.Code == spec.CodeUnsupported
}
