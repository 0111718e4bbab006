package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// rest is how long a page is left alone before the next load: a person looks at it, and what an
// extension does after a load is over.
const rest = 150 * time.Millisecond

// unmeasured are the first loads in each browser, which find nothing in its caches.
const unmeasured = 3

// measurePage compares loads with the extension and without.
func measurePage(ctx context.Context, l *lab, n int) error {
	var browsers [2]context.Context
	for i := range browsers {
		var err error
		if browsers[i], _, err = l.Browser(ctx, i == 0); err != nil {
			return err
		}
	}
	for _, frames := range []int{0, 20} {
		times, err := loadTimes(ctx, l, browsers, frames, n)
		if err != nil {
			return err
		}
		with, without := times[0], times[1]
		fmt.Printf("load, %2d frames: %s times as long; %.2f ms with, %.2f ms without\n",
			frames, ratioOf(with, without, 0.5), quantile(with, 0.5), quantile(without, 0.5))
	}
	return nil
}

// loadTimes loads a page n times in each of two browsers, in turn, and returns how many ms each
// load took. No debugger is attached to the pages, because it makes scripts in worlds of their
// own cost more than they cost a user: a page reports by itself, and loads the next one when it is
// told to.
func loadTimes(ctx context.Context, l *lab, browsers [2]context.Context, frames, n int) (times [2][]float64, err error) {
	turns := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	took := make(chan float64)
	site, err := l.Site(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			page := `<!doctype html><title>Page</title><p>A page without tools.</p>` + strings.Repeat(`<iframe src="/frame"></iframe>`, frames) + reporting
			serveHTML(w, page)
		case "/frame":
			serveHTML(w, `<!doctype html><title>Frame</title><p>A frame without tools.</p>`)
		case "/loaded":
			var browser int
			var ms float64
			_, _ = fmt.Sscan(r.URL.Query().Get("browser"), &browser)
			_, _ = fmt.Sscan(r.URL.Query().Get("took"), &ms)
			took <- ms
			select {
			case <-turns[browser&1]:
			case <-r.Context().Done():
			}
		}
	}))
	if err != nil {
		return times, err
	}
	for i, browser := range browsers {
		first := target.CreateTargetParams{URL: fmt.Sprintf("%s/?browser=%d", site, i)}
		tab, err := chromedp.CallBrowser(browser, target.CreateTarget, first)
		if err != nil {
			return times, err
		}
		// What is measured next must not find this tab.
		defer chromedp.CallBrowser(browser, target.CloseTarget, target.CloseTargetParams(tab))
		<-took
	}
	for i := range unmeasured + n {
		for j := range browsers {
			k := (i + j) % 2 // each is first in every other turn
			select {
			case <-time.After(rest):
			case <-ctx.Done():
				return times, ctx.Err()
			}
			turns[k] <- struct{}{}
			if ms := <-took; i >= unmeasured {
				times[k] = append(times[k], ms)
			}
		}
	}
	return times, nil
}

// reporting is the script of a page that reports how long its load took, from the start of the navigation to
// the end of the load event, and loads itself again.
const reporting = `<script>
	addEventListener("load", () => setTimeout(async () => {
		const browser = new URLSearchParams(location.search).get("browser");
		const {duration} = performance.getEntriesByType("navigation")[0];
		await fetch("/loaded?browser=" + browser + "&took=" + duration);
		location.href = "/?browser=" + browser + "&random=" + Math.random();
	}));
</script>`

func serveHTML(w http.ResponseWriter, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, page)
}
