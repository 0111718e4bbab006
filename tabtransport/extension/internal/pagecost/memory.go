package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"tabhub/tabtransport/extension/internal/lab"
)

const mb = 1 << 20

// settle is an expression for how long an extension may go on with a page that is loaded.
const settle = `new Promise(done => setTimeout(done, 2500, 0))`

// measured are the sizes that are taken of a page.
var measured = [...]string{"renderer", "all processes", "V8 heap"}

// sizes are those of measured, in MB.
type sizes [len(measured)]float64

// perFrame returns how much more a page with many frames takes than one without, a frame.
func perFrame(tab context.Context, site string) (sizes, error) {
	none, err := sizesOf(tab, site+"/?frames=0")
	if err != nil {
		return sizes{}, err
	}
	many, err := sizesOf(tab, fmt.Sprintf("%s/?frames=%d", site, manyFrames))
	if err != nil {
		return sizes{}, err
	}
	for i := range many {
		many[i] = (many[i] - none[i]) / manyFrames
	}
	return many, nil
}

// sizesOf loads a page and returns what it takes.
func sizesOf(tab context.Context, url string) (sizes, error) {
	// Away from the site the renderer ends, and the next one begins with nothing.
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		return sizes{}, err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
		return sizes{}, err
	}
	if _, err := evaluate(tab, settle); err != nil {
		return sizes{}, err
	}
	if _, err := lab.Call(tab, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		return sizes{}, err
	}
	usage, err := lab.Call(tab, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		return sizes{}, err
	}
	var renderer, all float64
	err = processes(tab, func(kind string, size float64) {
		all += size
		if kind == "renderer" {
			renderer = max(renderer, size) // the page's is the largest
		}
	})
	return sizes{renderer / mb, all / mb, usage.UsedSize / mb}, err
}

// column returns the samples of one size.
func column(samples []sizes, i int) []float64 {
	out := make([]float64, len(samples))
	for j, s := range samples {
		out[j] = s[i]
	}
	return out
}

// processes tells the private memory of each process of the browser, in bytes.
func processes(tab context.Context, tell func(kind string, size float64)) error {
	got, err := chromedp.CallBrowser(tab, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return err
	}
	for _, p := range got.ProcessInfo {
		size, err := private(p.ID)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		if err != nil {
			return err
		}
		tell(p.Type, size)
	}
	return nil
}

// private returns the bytes of a process that no other shares.
func private(pid int64) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "Private_Dirty: %f kB", &kb); n == 1 {
			return kb * 1024, nil
		}
	}
	return 0, fmt.Errorf("process %d: the kernel does not say how much memory is private", pid)
}
