package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
)

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/1", `find:"annotations":{"cache":true}`, "pay"))
		w.register(b, 2, tools("https://e.com/2", "pay"))
		w.register(b, 3, tools("https://f.com/", "x"))
		w.hub.Close(context.Background())
		time.Sleep(10 * time.Minute)

		w.start(Options{})
		w.wantNames("e_com_find")
		// A call to a tab that has not rejoined waits for it.
		c := w.call(t.Context(), "e_com_tab2_pay")
		time.Sleep(time.Second)
		b = w.chrome("b1", "s1")
		w.register(b, 2, tools("https://e.com/2", "pay"))
		answer(b, b.Next(), "the same tab 2")
		c.want(t, "the same tab 2")
		w.register(b, 1, tools("https://e.com/1", `find:"annotations":{"cache":true}`, "pay"))
		w.wantNames("e_com_find e_com_pay e_com_tab1_pay e_com_tab2_pay")
		// What was not heard of again is dropped.
		time.Sleep(spec.BrowserGrace)
		w.call(t.Context(), "f_com_x").want(t, "unknown tool")

		// After a restart of the browser its tab numbers are others.
		b.Cut()
		b = w.chrome("b1", "s2")
		w.register(b, 1, tools("https://e.com/1", "pay"))
		c = w.call(t.Context(), "e_com_tab3_pay")
		answer(b, b.Next(), "tab 3")
		c.want(t, "tab 3")
	})
}
