// Package chromium starts a real Chromium for tests and drives it over the
// DevTools protocol: pages as a user has them, the companion extension loaded from
// a directory, its service worker stopped and started at will.
//
// Each function that cannot do its work ends the test. A test is skipped where no
// browser is installed, and fails there if the environment says CI=true.
package chromium

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/extensions"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Timeout bounds each step that waits for the browser.
const Timeout = 20 * time.Second

// Options say what browser to start. The zero value is a headless browser without
// extensions whose pages have no WebMCP.
type Options struct {
	// Extension is the directory of an unpacked extension to load.
	Extension string
	// WebMCP gives pages document.modelContext.
	WebMCP bool
	// Profile is the profile directory, for a browser that is started again with
	// what it had. By default it is the test's own.
	Profile string
	// Dark makes pages see a preference for dark colours.
	Dark bool
	// Windows has the browser say that it is not headless, so that the extension asks its
	// owner in windows.
	Windows bool
	// Display is the X display that the browser has its windows on; "": it is headless.
	Display string
	// Restore has the browser open what Profile had when it was closed.
	Restore bool
	// Renderers is how many processes pages share, for a test with many. By default it is
	// the browser's choice.
	Renderers int
}

// Browser is a running Chromium. It is stopped, or given back, when the test ends. All methods
// are to be called from the test's goroutine.
type Browser struct {
	// ExtensionID is the id of the loaded extension, "" if there is none.
	ExtensionID string

	t   testing.TB
	ctx context.Context
	// end ends the browser, or gives it back; nil once it has.
	end func()
}

// Path returns the browser's executable: $TABHUB_BROWSER_PROGRAM, or one of the usual
// names on PATH.
func Path() (string, bool) {
	if p := os.Getenv("TABHUB_BROWSER_PROGRAM"); p != "" {
		return p, true
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-for-testing", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, true
		}
	}
	return "", false
}

// Require returns Path. Where there is no browser it skips the test; in CI it fails it.
func Require(t testing.TB) string {
	t.Helper()
	path, ok := Path()
	if !ok {
		const reason = "no Chromium on PATH and none in TABHUB_BROWSER_PROGRAM"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	return path
}

// Main runs a package's tests, for its TestMain, ends the browsers that they have shared, and
// returns the exit code. It runs more at once than there are processors, unless -parallel says
// how many: a test with a browser waits more than it computes.
func Main(m *testing.M) int {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	defer pool.close()
	return m.Run()
}

// Start starts a browser of the test's own, for a test of its life: of a profile that it starts
// with again, its crash, its display, or its update. The others ask for Shared.
func Start(t testing.TB, opts Options) *Browser {
	t.Helper()
	path := Require(t)
	profile := opts.Profile
	if profile == "" {
		profile = filepath.Join(t.TempDir(), "profile")
	}
	ctx, cancel, err := launch(path, profile, opts)
	b := &Browser{t: t, ctx: ctx, end: cancel}
	t.Cleanup(b.Close)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Extension != "" {
		b.Load(opts.Extension)
	}
	return b
}

// launch starts a browser with an empty tab, and returns what waits for its end.
func launch(path, profile string, opts Options) (context.Context, func(), error) {
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), Flags(path, profile, opts)...)
	ctx, cancel := chromedp.NewContext(alloc)
	end := func() {
		asked, late := context.WithTimeout(ctx, Timeout)
		defer late()
		// A browser that was killed cannot be asked; cancelling reaps it.
		_ = chromedp.Cancel(asked)
		cancel()
		stopAlloc()
	}
	if _, err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
		return ctx, end, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, end, nil
}

// Load loads the unpacked extension in dir. If it is loaded already, that is an update.
func (b *Browser) Load(dir string) {
	b.t.Helper()
	got, err := chromedp.CallBrowser(b.ctx, extensions.LoadUnpacked, extensions.LoadUnpackedParams{Path: dir})
	if err != nil {
		b.t.Fatalf("loading the extension in %s: %v", dir, err)
	}
	b.ExtensionID = got.ID
}

// Flags are the flags that Start starts the browser at path with, for a profile directory.
func Flags(path, profile string, opts Options) []chromedp.ExecAllocatorOption {
	out := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("no-first-run", true),
		chromedp.Flag("no-default-browser-check", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("mute-audio", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("password-store", "basic"),
		// Extensions.loadUnpacked is refused without it.
		chromedp.Flag("enable-unsafe-extension-debugging", true),
		// The list under the address bar is a page, which takes longer to load than all the rest.
		chromedp.Flag("disable-features", "WebUIOmniboxPopup,WebUIOmniboxAimPopup"),
	}
	if opts.Display == "" {
		out = append(out, chromedp.Flag("headless", "new"), chromedp.WindowSize(1280, 800))
	} else { // no size for all windows: an extension chooses that of its own
		out = append(out, chromedp.Env("DISPLAY="+opts.Display), chromedp.Flag("ozone-platform", "x11"))
	}
	if opts.WebMCP {
		out = append(out, chromedp.Flag("enable-features", "WebMCP"))
	}
	if opts.Dark {
		out = append(out, chromedp.Flag("force-dark-mode", true))
	}
	if opts.Windows {
		out = append(out, chromedp.Flag("user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"))
	}
	if opts.Restore {
		out = append(out, chromedp.Flag("restore-last-session", true))
	}
	if opts.Renderers > 0 {
		out = append(out, chromedp.Flag("renderer-process-limit", strconv.Itoa(opts.Renderers)))
	}
	return out
}

// Close ends the browser and waits for it, or gives a shared one back. It may be called more than
// once.
func (b *Browser) Close() {
	if b.end != nil {
		b.end()
	}
	b.end = nil
}

// Kill ends the process of a browser of the test's own as a crash does, and waits for it.
func (b *Browser) Kill() {
	b.t.Helper()
	if err := chromedp.FromContext(b.ctx).Browser.Process().Kill(); err != nil {
		b.t.Fatalf("killing the browser: %v", err)
	}
	b.Close()
}

// Open opens url in a new tab of the first window, waits until it has loaded and
// leaves it in front.
func (b *Browser) Open(url string) *Page {
	b.t.Helper()
	p := b.page("a tab", chromedp.WithNewWindow(false))
	p.Navigate(url)
	return p
}

func (b *Browser) page(what string, opts ...chromedp.ContextOption) *Page {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, opts...)
	// The first Run makes or attaches to the target, and its context is the one that
	// the session with it lives in: it must have no deadline.
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int]("1")); err != nil {
		b.t.Fatalf("opening %s: %v", what, err)
	}
	return &Page{t: b.t, ctx: ctx, cancel: cancel}
}

// Attach returns the tab or worker that match selects, waiting for it if need be.
// Closing the Page leaves it open.
func (b *Browser) Attach(what string, match func(*target.Info) bool) *Page {
	b.t.Helper()
	return b.page(what, chromedp.WithTargetID(b.await(what, match)), chromedp.WithDetachOnCancel())
}

// AttachURL is Attach for the tab whose URL is url.
func (b *Browser) AttachURL(url string) *Page {
	b.t.Helper()
	return b.Attach(url, func(i *target.Info) bool { return i.Type == "page" && i.URL == url })
}

// Window attaches to the page of the extension that file names, waiting for it to open and
// to show its document.
func (b *Browser) Window(file string) *Page {
	b.t.Helper()
	p := b.Attach("the extension's "+file, func(i *target.Info) bool {
		return i.Type == "page" && strings.HasPrefix(i.URL, "chrome-extension://"+b.ExtensionID+"/"+file)
	})
	p.AwaitDocument("chrome-extension:")
	return p
}

// Worker attaches to the extension's service worker, waiting for it to run. While
// the Page is not closed, the browser does not let the worker sleep.
func (b *Browser) Worker() *Page {
	b.t.Helper()
	return b.Attach("the extension's service worker", b.isWorker)
}

// StopWorker stops the extension's service worker as the browser does when it has
// been idle, and waits until it is gone.
func (b *Browser) StopWorker() {
	b.t.Helper()
	id := b.await("the extension's service worker", b.isWorker)
	ctx, cancel := context.WithTimeout(b.ctx, Timeout)
	defer cancel()
	gone := cdp.Events(ctx, chromedp.FromContext(b.ctx).Browser, target.TargetDestroyed)
	if _, err := chromedp.CallBrowser(ctx, target.CloseTarget, target.CloseTargetParams{TargetID: id}); err != nil {
		b.t.Fatalf("stopping the service worker: %v", err)
	}
	for ev, err := range gone {
		if err != nil {
			b.t.Fatalf("stopping the service worker: %v", err)
		}
		if ev.TargetID == id {
			return
		}
	}
}

// Targets lists all that the browser can debug.
func (b *Browser) Targets() []*target.Info {
	b.t.Helper()
	infos, err := chromedp.Targets(b.ctx)
	if err != nil {
		b.t.Fatalf("listing the browser's targets: %v", err)
	}
	return infos
}

func (b *Browser) isWorker(i *target.Info) bool {
	return i.Type == "service_worker" && b.ExtensionID != "" &&
		strings.HasPrefix(i.URL, "chrome-extension://"+b.ExtensionID+"/")
}

// await waits for a target: it is asked for again whenever the browser reports a
// new or changed one.
func (b *Browser) await(what string, match func(*target.Info) bool) target.ID {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Timeout)
	defer cancel()
	created, stop := chromedp.FromContext(b.ctx).Browser.Subscribe(target.TargetCreated.Method)
	defer stop()
	changed, stopChanged := chromedp.FromContext(b.ctx).Browser.Subscribe(target.TargetInfoChanged.Method)
	defer stopChanged()
	for {
		for _, i := range b.Targets() {
			if match(i) {
				return i.TargetID
			}
		}
		select {
		case <-created:
		case <-changed:
		case <-ctx.Done():
			b.t.Fatalf("%s did not appear within %v", what, Timeout)
		}
	}
}
