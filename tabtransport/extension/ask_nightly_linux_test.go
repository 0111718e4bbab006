//go:build nightly

package extension_test

import (
	"fmt"
	"strconv"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// In a browser with real windows a question's window is as high as what it shows, and no higher than
// the screen; its buttons are in view.
func TestQuestionWindow(t *testing.T) {
	t.Parallel()
	for shade, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(shade, func(t *testing.T) {
			t.Parallel()
			display := chromium.Display(t)
			h := newHub(t)
			b := h.browse(chromium.Options{Display: display, Dark: dark})
			lowest := 0
			for _, rows := range []int{1, 10, 100} {
				q := payment(strconv.Itoa(rows))
				q.Args = nil
				for i := range rows {
					for name, value := range map[string]string{"to": fmt.Sprintf("DE0212030000000020%04d", i), "amount": strconv.Itoa(100 * i)} {
						q.Args = append(q.Args, spec.AskValue{Path: []string{"transfers", strconv.Itoa(i), name}, Value: value})
					}
					q.Args = append(q.Args, spec.AskValue{Path: []string{"memo" + strconv.Itoa(i)}, Value: "Rent of the flat, as agreed"})
				}
				answer := h.asks(q)
				w := window(b, q.ID)
				w.WaitFor("!document.querySelector('#no').disabled")
				var is struct {
					Height, Width int
					Inside, Whole bool
				}
				w.Into(`({
					height: outerHeight, width: innerWidth,
					inside: screenY >= 0 && screenY + outerHeight <= screen.availHeight && document.querySelector("#yes").getBoundingClientRect().bottom <= innerHeight,
					whole: question.scrollHeight === question.clientHeight,
				})`, &is)
				if !is.Inside || is.Height < lowest || is.Whole != (rows == 1) || is.Width < 600 || is.Width > 640 {
					t.Errorf("with %d values: %+v", len(q.Args), is)
				}
				lowest = is.Height
				picture(t, w, fmt.Sprintf("ask-real-%d-%s", len(q.Args), shade))
				w.Eval("void setTimeout(() => window.close())")
				(<-answer).is(t, `{"reach":"no"}`)
				w.WaitGone()
			}
		})
	}
}
