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
		w := newWorld(t, Options{})
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

// What is to be kept of a site is there the next morning, too, whether its tab was
// closed or only never seen again.
func TestCachedToolsOutliveTheNight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/closed", `first:"annotations":{"cache":true}`, "plain"))
		w.register(b, 2, tools("https://e.com/open", `second:"annotations":{"cache":true}`, "plain"))
		w.register(b, 3, tools("https://f.com/", "plain"))
		b.Notify(1, &spec.TabClosed{})
		time.Sleep(time.Second)
		for range 2 {
			w.hub.Close(context.Background())
			time.Sleep(10 * time.Hour)
			w.start(Options{})
			w.wantNames("e_com_first e_com_second")
			if e, err := w.hub.Explain("website_tool_e_com_second"); err != nil || e.OpenURL != "https://e.com/open" {
				t.Errorf("%+v, %v", e, err)
			}
		}
		if n := len(w.hub.Tabs()); n != 0 {
			t.Errorf("%d tabs of yesterday", n)
		}
	})
}

func TestBrowserSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		accept := func(secret string) (string, error) {
			acc, err := (*handler)(w.hub).Connect(chromeConn("b1", "s1", secret))
			return acc.Result.BrowserSecret, err
		}
		first, err := accept("")
		if err != nil || first == "" {
			t.Fatalf("first hello: %q, %v", first, err)
		}
		// The answer was lost: the browser asks again, without a secret.
		second, err := accept("")
		if err != nil || second == "" || second == first {
			t.Fatalf("second hello: %q, %v", second, err)
		}
		if again, err := accept(second); err != nil || again != "" {
			t.Fatalf("hello with the secret: %q, %v", again, err)
		}
		for _, wrong := range []string{"", first, "x"} {
			if _, err := accept(wrong); err == nil {
				t.Errorf("secret %q was taken", wrong)
			}
		}
	})
}

// A browser that has said anything after hello has its secret; nobody may take its
// place without it, though it has not come back yet.
func TestBrowserSecretCountsFromTheFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		hd := (*handler)(w.hub)
		acc, err := hd.Connect(chromeConn("b1", "s1", ""))
		if err != nil {
			t.Fatal(err)
		}
		hd.Message(spec.TabAddr{Peer: acc.Peer, Tab: 1}, nil, &spec.TabState{Active: new(true)})
		for _, wrong := range []string{"", "x"} {
			if _, err := hd.Connect(chromeConn("b1", "s1", wrong)); err == nil {
				t.Errorf("secret %q was taken", wrong)
			}
		}
		if _, err := hd.Connect(chromeConn("b1", "s1", acc.Result.BrowserSecret)); err != nil {
			t.Error(err)
		}
	})
}
