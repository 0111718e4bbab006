package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// wanderer is a browser with one tab, which goes from page to page without a word to the hub:
// it is on the last of its pages when those before have each been asked for something.
type wanderer struct {
	pages []string
	got   []string // the requests
}

func (b *wanderer) serve(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
	params, _ := json.Marshal(in.Request)
	b.got = append(b.got, in.Request.Method()+string(params))
	if _, ok := in.Request.(*spec.ListTabs); ok {
		tabs, err := json.Marshal(spec.ListTabsResult{Tabs: []spec.BrowserTab{{TabID: 7, URL: b.pages[0]}}})
		return spec.Response{Result: tabs}, err
	}
	var p struct{ IfOrigin, Origin string }
	err := json.Unmarshal(params, &p)
	if here := item.OriginOf(b.pages[0]); p.IfOrigin+p.Origin != here {
		err = &spec.Error{Code: spec.CodeTabNotFound, Message: "elsewhere", Data: spec.NotDelivered}
	}
	b.pages = b.pages[min(1, len(b.pages)-1):]
	return spec.Response{Result: json.RawMessage(`{}`)}, err
}

// A tab that goes to another site while a request to it is decided about is not used under the
// old decision: the request says for which origin it is meant, and is decided about anew, by
// what the browser says, of which the hub may not have heard yet.
func TestTabGoesElsewhereMeanwhile(t *testing.T) {
	const shop, bank, mail = "https://shop.example/cart", "https://bank.example/accounts", "https://mail.example/"
	const list = `browser/listTabs{}`
	text := func(origin string) string { return fmt.Sprintf(`browser/text{"ifOrigin":%q}`, origin) }
	for name, c := range map[string]struct {
		pages []string
		got   []string
		code  spec.FailureCode // "": it is done
		entry record.Entry
	}{
		"it stays": {
			[]string{shop}, []string{text("https://shop.example")}, "",
			record.Entry{Domain: "shop.example", URL: shop, Origin: "https://shop.example", Decision: "allow", Rule: "preset:open"},
		},
		"to where it may": {
			[]string{mail}, []string{text("https://shop.example"), list, text("https://mail.example")}, "",
			record.Entry{Domain: "mail.example", URL: mail, Origin: "https://mail.example", Decision: "allow", Rule: "preset:open"},
		},
		"to where it may not": {
			[]string{bank}, []string{text("https://shop.example"), list}, spec.FailDenied,
			record.Entry{Domain: "bank.example", URL: bank, Origin: "https://bank.example", Decision: "deny", Rule: "no"},
		},
		"from one to another": {
			[]string{mail, bank}, []string{text("https://shop.example"), list}, spec.FailDenied,
			record.Entry{Domain: "bank.example", URL: bank, Origin: "https://bank.example", Decision: "deny", Rule: "no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t, Options{})
				conn := chromeConn("b1", "s", "")
				conn.Hello.Capabilities = []spec.Capability{spec.CapListTabs, spec.CapText}
				b := &wanderer{pages: c.pages}
				local, err := tabtransport.Join(t.Context(), w.peers, conn, b.serve)
				if err != nil {
					t.Fatal(err)
				}
				defer local.Close()
				if _, err := local.Ask(t.Context(), 7, tools(shop, "x")); err != nil {
					t.Fatal(err)
				}
				deny := policy.Rule{ID: "no", Effect: policy.Deny, Site: "bank.example"}
				if err := w.hub.Rules.EditPolicy("test", func(doc *policy.Document) error { doc.Put(deny, time.Now()); return nil }); err != nil {
					t.Fatal(err)
				}
				e := record.Entry{Time: time.Now()}
				_, err = w.hub.Calls.Control(t.Context(), tester.Noted(&e), spec.TabAddr{Peer: "browser:b1", Tab: 7}, &spec.Text{})
				f, _ := errors.AsType[*core.Failure](err)
				if (err != nil) != (c.code != "") || f != nil && f.Code != c.code {
					t.Errorf("%v, want %q", err, c.code)
				}
				if !slices.Equal(b.got, c.got) {
					t.Errorf("the browser got\n%s", strings.Join(b.got, "\n"))
				}
				e.Time, e.Decided, e.Sent = time.Time{}, 0, 0
				c.entry.Tab, c.entry.Class = "browser:b1/7", "read"
				if got, want := fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", c.entry); got != want {
					t.Errorf("recorded\n%s, want\n%s", got, want)
				}
			})
		})
	}
}

// A site that is paused is not read to the end.
func TestPauseOfASiteThatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		conn := chromeConn("b1", "s", "")
		conn.Hello.Capabilities = []spec.Capability{spec.CapText}
		c := w.dial(conn)
		w.register(c, 7, tools("https://shop.example/", "x"))
		done := make(chan error)
		go func() {
			_, err := w.hub.Calls.Control(t.Context(), tester, spec.TabAddr{Peer: "browser:b1", Tab: 7}, &spec.Text{})
			done <- err
		}()
		c.Next()
		pause := func(site string) {
			if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error { d.Pause(policy.Pause{Site: site}); return nil }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		pause("bank.example")
		select {
		case err := <-done:
			t.Fatalf("with another site paused it ends: %v", err)
		default:
		}
		pause("shop.example")
		if f, _ := errors.AsType[*core.Failure](<-done); f == nil || f.Code != spec.FailPaused {
			t.Errorf("it ends with %v", f)
		}
	})
}

// A call of what the whole tab offers says its origin, too, if the browser vouches for it.
func TestCallSaysItsOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		c := w.chrome("b1", "s")
		w.register(c, 7, tools("https://e.com/", "x"))
		call := w.call(t.Context(), "e_com_x")
		asked := c.Next()
		if got := asked.Call; got.Origin != "https://e.com" || got.FrameID != nil {
			t.Errorf("%+v", got)
		}
		c.Answer(asked, spec.Response{Result: json.RawMessage(`{"content":[]}`)}, nil)
		call.want(t, "content")
	})
}
