// Command pagecost measures what the extension costs pages that have no tools:
//
//	go run ./tabtransport/extension/internal/pagecost [-loads 200] [-memory 10]
//
// It runs two browsers side by side, one with the extension, connected to a hub, and one
// without. The same pages are loaded in both in turn, so that what else the machine does
// hits both alike. It prints
//
//   - how many times as long a page takes to load with the extension (the median of
//     navigation start to the end of the load event), for a plain page and for one with
//     20 frames, with no debugger attached, as a user's browser has none;
//   - how much more memory a frame takes with the extension: what a page with 100 frames
//     has more than one without, in the page's renderer and in all of the browser's
//     processes, after a garbage collection. The process memory is what no other process
//     shares (Private_Dirty of Linux); the heap is V8's alone.
//
// Each number has the interval that it lies in with 95 % confidence.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"tabhub/tabtransport/extension/internal/lab"
)

// manyFrames is in how many frames memory is measured.
const manyFrames = 100

func main() {
	loads := flag.Int("loads", 200, "load each page `n` times in each browser")
	memory := flag.Int("memory", 10, "measure the memory of `n` pages in each browser")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *loads, *memory); err != nil {
		fmt.Fprintln(os.Stderr, "pagecost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, loads, memory int) error {
	l, err := lab.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	site, err := l.Site(http.HandlerFunc(servePage))
	if err != nil {
		return err
	}
	with, _, err := l.Browser(ctx, true)
	if err != nil {
		return err
	}
	without, _, err := l.Browser(ctx, false)
	if err != nil {
		return err
	}
	for _, frames := range []int{0, 20} {
		times, err := loadTimes(ctx, l, [2]context.Context{with, without}, frames, loads)
		if err != nil {
			return err
		}
		a, b := times[0], times[1]
		fmt.Printf("load, %2d frames: %s times as long; %.2f ms with, %.2f ms without\n",
			frames, lab.Compare(a, b, lab.MedianRatio), lab.Quantile(a, 0.5), lab.Quantile(b, 0.5))
	}
	a, b, err := inTurn(memory, with, without, func(tab context.Context) (sizes, error) { return perFrame(tab, site) })
	if err != nil {
		return err
	}
	for i, what := range measured {
		a, b := column(a, i), column(b, i)
		fmt.Printf("memory a frame, %s: %s MB more; %.3f with, %.3f without\n",
			what, lab.Compare(a, b, lab.MedianDifference), lab.Quantile(a, 0.5), lab.Quantile(b, 0.5))
	}
	return nil
}

// inTurn takes n samples in each of two browsers, each of them first in every other turn.
// A sample of each before these is not counted.
func inTurn[T any](n int, with, without context.Context, sample func(context.Context) (T, error)) (a, b []T, err error) {
	for i := range n + 1 {
		tabs := []context.Context{with, without}
		samples := []*[]T{&a, &b}
		for j := range tabs {
			k := (i + j) % 2
			value, err := sample(tabs[k])
			if err != nil {
				return nil, nil, err
			}
			if i > 0 {
				*samples[k] = append(*samples[k], value)
			}
		}
	}
	return a, b, nil
}

// servePage serves a page with as many frames as its query says.
func servePage(w http.ResponseWriter, r *http.Request) {
	var frames int
	_, _ = fmt.Sscan(r.URL.Query().Get("frames"), &frames)
	serveHTML(w, "<!doctype html><title>Page</title><p>A page without tools.</p>"+strings.Repeat(`<iframe src="/frame"></iframe>`, frames))
}

func evaluate(tab context.Context, expr string) (float64, error) {
	return chromedp.Run(tab, chromedp.Evaluate[float64](expr, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
}
