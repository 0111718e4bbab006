package hub

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest"
)

func register(kind spec.Kind, url string, items ...string) *spec.Register {
	m := &spec.Register{Kind: kind, TabURL: url}
	for _, it := range items {
		m.Items = append(m.Items, json.RawMessage(it))
	}
	return m
}

func (w *fixture) listed(kind lists.ListKind) []string {
	var names []string
	for _, it := range w.hub.Lists.List(kind).Items {
		names = append(names, it.Name)
	}
	return names
}

func (w *fixture) wantListed(kind lists.ListKind, want ...string) {
	w.t.Helper()
	if got := w.listed(kind); !slices.Equal(got, want) {
		w.t.Errorf("listed %q, want %q", got, want)
	}
}

// answering makes a page answer its next request, once it has come.
func answering(e tabtest.End, result string) <-chan tabtest.Request {
	asked := make(chan tabtest.Request, 1)
	go func() {
		r := e.Next()
		e.Answer(r, spec.Response{Result: json.RawMessage(result)}, nil)
		asked <- r
	}()
	return asked
}

func TestResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, register(spec.KindResource, "https://e.com/",
			`{"uri":"shop://cart","name":"cart","mimeType":"application/json","x-own":[1.0]}`,
			`{"uriTemplate":"shop://order/{id}","name":"order"}`))
		w.wantListed(lists.ListResources, "tabhub://e.com/shop://cart")
		w.wantListed(lists.ListTemplates, "tabhub://e.com/shop://order/{id}")
		w.register(b, 0, register(spec.KindResource, "https://e.com/", `{"uri":"shop://cart","name":"cart"}`))
		w.wantListed(lists.ListResources, "tabhub://e.com/shop://cart", "tabhub://e.com/tab1/shop://cart", "tabhub://e.com/tab2/shop://cart")

		// The public URI stands in the answer; all else is the page's.
		asked := answering(a, `{"contents":[{"uri":"shop://cart","text":"{}","n":1.0},{"uri":"shop://other","blob":"AA=="}],"_meta":{"com.e/k":9007199254740993}}`)
		got, err := w.hub.Calls.ReadResource(t.Context(), tester, "tabhub://e.com/tab1/shop://cart")
		want := `{"_meta":{"com.e/k":9007199254740993},"contents":[{"uri":"tabhub://e.com/tab1/shop://cart","text":"{}","n":1.0},{"uri":"shop://other","blob":"AA=="}]}`
		if err != nil || said(t, got) != want {
			t.Errorf("read %s, %v", got, err)
		}
		if r := <-asked; r.Method != spec.MethodReadResource {
			t.Errorf("asked for %s", r.Method)
		}
		asked = answering(a, `{"contents":[{"uri":"shop://order/7","text":"seven"}]}`)
		got, err = w.hub.Calls.ReadResource(t.Context(), tester, "tabhub://e.com/shop://order/7")
		if want := `{"contents":[{"uri":"tabhub://e.com/shop://order/7","text":"seven"}]}`; err != nil || said(t, got) != want {
			t.Errorf("read %s, %v", got, err)
		}
		<-asked
		var unknown *lists.UnknownError
		if _, err := w.hub.Calls.ReadResource(t.Context(), tester, "tabhub://e.com/shop://card"); !errors.As(err, &unknown) || !slices.Contains(unknown.Nearest, "tabhub://e.com/shop://cart") {
			t.Errorf("unknown resource: %v", err)
		}
		if it, err := w.hub.Lists.Find(spec.KindResource, "tabhub://e.com/shop://order/9"); err != nil || it.Source != "shop://order/{id}" {
			t.Errorf("found %+v, %v", it, err)
		}
	})
}

// A page's prompts are often written for arguments that are there; a client that left
// one out is told which, as MCP has it.
func TestRequiredPromptArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, register(spec.KindPrompt, "https://e.com/",
			`{"name":"greet","arguments":[{"name":"who","required":true},{"name":"how","required":false},{"name":"when"}]}`))
		for _, args := range []string{``, `{}`, `{"how":"loudly"}`} {
			_, err := w.hub.Calls.GetPrompt(t.Context(), tester, "website_prompt_e_com_greet", json.RawMessage(args))
			f, ok := errors.AsType[*core.Failure](err)
			if !ok || f.Code != spec.FailInvalidArguments || f.Message != `argument "who" is required` {
				t.Errorf("%s: %v", args, err)
			}
		}
		asked := answering(p, `{"messages":[]}`)
		w.wantListed(lists.ListPrompts, "website_prompt_e_com_greet")
		if got, err := w.hub.Calls.GetPrompt(t.Context(), tester, "website_prompt_e_com_greet", json.RawMessage(`{"who":""}`)); err != nil || said(t, got) != `{"messages":[]}` {
			t.Errorf("%s, %v", got, err)
		}
		<-asked
	})
}

// What a page calls its resources must neither break a client nor fill its list.
func TestOddResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		r := w.register(p, 0, register(spec.KindResource, "https://e.com/",
			`{"uri":"a:1","name":"two\nlines\u0000"}`, `{"uri":"a:2","name":"`+strings.Repeat("long", 1000)+`"}`, `{"uri":"a:3","name":"\u0007"}`,
			`{"uri":"a:\n4","name":"four"}`, `{"uriTemplate":"a:\u007f{n}","name":"five"}`))
		if r.Accepted != 3 || len(r.Rejected) != 2 || r.Rejected[0].Reason != "uri has a control character" {
			t.Errorf("registered %+v", r)
		}
		for i, want := range []string{"two lines", strings.Repeat("long", 63) + "l…", "a:3"} {
			if name, _ := rawjson.String(rawjson.Get(w.hub.Lists.List(lists.ListResources).Items[i].JSON, "name")); name != want {
				t.Errorf("resource %d is called %q", i+1, name)
			}
		}
	})
}

// Clients whose URL parser escapes what a page's URI must not hold ask for the result.
func TestResourceAskedForEscaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a := w.page("https://e.com", "a")
		w.register(a, 0, register(spec.KindResource, "https://e.com/",
			`{"uri":"note://a b/\u00e9","name":"note"}`, `{"uri":"note://a%20b","name":"escaped"}`, `{"uri":"note://a b","name":"not"}`))
		for uri, page := range map[string]string{
			"tabhub://e.com/note://a%20b/%C3%A9": "note://a b/é",
			"tabhub://e.com/note://a%20b":        "note://a%20b",
			"tabhub://e.com/note://a b":          "note://a b",
		} {
			// An answer about what was asked for comes back under the client's own name for it.
			asked := answering(a, `{"contents":[{"uri":"`+page+`","text":""}]}`)
			got, err := w.hub.Calls.ReadResource(t.Context(), tester, uri)
			if want := `{"contents":[{"uri":"` + uri + `","text":""}]}`; err != nil || said(t, got) != want {
				t.Errorf("%s: %s, %v", uri, got, err)
			}
			<-asked
		}
		if _, err := w.hub.Calls.ReadResource(t.Context(), tester, "tabhub://e.com/note://a%20c"); err == nil {
			t.Error("a resource that is nobody's was read")
		}
	})
}

// A read of a resource must end when the tab that its template names does not come
// back.
func TestTemplateOfATabThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, register(spec.KindResource, "", `{"uriTemplate":"shop://item/{id}","name":"item"}`))
		p.Cut()
		synctest.Wait()
		for _, uri := range []string{"tabhub://e.com/shop://item/7", "tabhub://e.com/tab1/shop://item/7"} {
			go func() {
				_, err := w.hub.Calls.ReadResource(t.Context(), tester, uri)
				if err == nil || !strings.Contains(err.Error(), "NOT_CONNECTED") {
					t.Errorf("%s: %v", uri, err)
				}
			}()
		}
		time.Sleep(spec.TabGrace + time.Second)
		synctest.Wait()
	})
}
