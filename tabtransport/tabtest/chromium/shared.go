package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/extensions"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Shared returns a browser that is as new to the test, and that tests of the package have one
// after the other: it is there at once, where Start takes a second or more of a processor. The
// package's TestMain calls Main, which ends the browsers. Of the options only Extension and WebMCP
// can be set.
//
// No other test has the browser meanwhile: tests that run in parallel have a browser each. When
// the test ends, or Close gives the browser back, its tabs are closed, the extension is
// uninstalled with all that it stored, and what pages stored is cleared. A browser with which that
// does not succeed is not used again.
func Shared(t testing.TB, opts Options) *Browser {
	t.Helper()
	kind := Options{WebMCP: opts.WebMCP}
	if opts != (Options{WebMCP: opts.WebMCP, Extension: opts.Extension}) {
		t.Fatalf("a browser with %+v is not shared: use Start", opts)
	}
	path := Require(t)
	p, err := pool.borrow(path, kind)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, ctx: p.ctx}
	b.end = func() {
		if err := p.reset(); err != nil {
			t.Logf("this browser is not used again: %v", err)
			p.end()
			return
		}
		pool.giveBack(kind, p)
	}
	t.Cleanup(b.Close)
	if opts.Extension != "" {
		b.Load(opts.Extension)
	}
	return b
}

// process is a browser that tests share.
type process struct {
	ctx context.Context
	end func()
}

// browsers are those that tests share.
type browsers struct {
	mu      sync.Mutex
	dir     string // of their profiles
	started int
	idle    map[Options][]*process // those that no test has, by the options that they have been started with
}

var pool = browsers{idle: map[Options][]*process{}}

// start starts another browser.
func (p *browsers) start(path string, kind Options) (*process, error) {
	p.mu.Lock()
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "chromium")
		if err != nil {
			p.mu.Unlock()
			return nil, err
		}
		p.dir = dir
	}
	p.started++
	profile := filepath.Join(p.dir, strconv.Itoa(p.started))
	p.mu.Unlock()
	ctx, end, err := launch(path, profile, kind)
	if err != nil {
		end()
		return nil, err
	}
	return &process{ctx, end}, nil
}

// borrow returns a browser that no other test has.
func (p *browsers) borrow(path string, kind Options) (*process, error) {
	p.mu.Lock()
	if idle := p.idle[kind]; len(idle) > 0 {
		b := idle[len(idle)-1]
		p.idle[kind] = idle[:len(idle)-1] // in whose place giveBack may put another
		p.mu.Unlock()
		return b, nil
	}
	p.mu.Unlock()
	return p.start(path, kind)
}

func (p *browsers) giveBack(kind Options, b *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[kind] = append(p.idle[kind], b)
}

// close ends all browsers, which no test has any more.
func (p *browsers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ending sync.WaitGroup
	for _, idle := range p.idle {
		for _, b := range idle {
			ending.Go(b.end)
		}
	}
	ending.Wait()
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// reset uninstalls all extensions, closes all tabs but the browser's first, and clears what their
// pages stored.
func (p *process) reset() error {
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	c := chromedp.FromContext(ctx)
	gone := cdp.Events(ctx, c.Browser, target.TargetDestroyed)
	loaded, err := cdp.Call(ctx, c.Browser, extensions.GetExtensions, cdp.Empty{})
	if err != nil {
		return fmt.Errorf("listing the extensions: %w", err)
	}
	for _, e := range loaded.Extensions {
		if _, err := cdp.Call(ctx, c.Browser, extensions.Uninstall, extensions.UninstallParams{ID: e.ID}); err != nil {
			return fmt.Errorf("uninstalling the extension: %w", err)
		}
	}
	others := func() ([]*target.Info, error) {
		got, err := cdp.Call(ctx, c.Browser, target.GetTargets, target.GetTargetsParams{})
		if err != nil {
			return nil, err
		}
		n := len(got.TargetInfos)
		all := slices.DeleteFunc(got.TargetInfos, func(i *target.Info) bool { return i.TargetID == c.Target.TargetID })
		if len(all) == n {
			return nil, errors.New("its first tab is closed")
		}
		return slices.DeleteFunc(all, func(i *target.Info) bool {
			return i.Type != "page" && !strings.HasPrefix(i.URL, "chrome-extension:")
		}), nil
	}
	rest, err := others()
	if err != nil {
		return err
	}
	for _, i := range rest {
		if i.Type == "page" {
			// What closes meanwhile is closed.
			_, _ = cdp.Call(ctx, c.Browser, target.CloseTarget, target.CloseTargetParams{TargetID: i.TargetID})
		}
	}
	for len(rest) > 0 {
		for _, err := range gone {
			if err != nil {
				return fmt.Errorf("%d targets of the test are open, as %s %s: %w", len(rest), rest[0].Type, rest[0].URL, err)
			}
			break
		}
		gone = cdp.Events(ctx, c.Browser, target.TargetDestroyed)
		if rest, err = others(); err != nil {
			return err
		}
	}
	if _, err := cdp.Call(ctx, c.Target, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: "*", StorageTypes: "all"}); err != nil {
		return fmt.Errorf("clearing what pages stored: %w", err)
	}
	return nil
}
