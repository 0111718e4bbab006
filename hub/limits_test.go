package hub

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

func resources(items ...string) *spec.Register {
	m := &spec.Register{Kind: spec.KindResource}
	for _, it := range items {
		m.Items = append(m.Items, json.RawMessage(it))
	}
	return m
}

// A read of a resource must end when the tab that its template names does not come
// back.
func TestTemplateOfATabThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, resources(`{"uriTemplate":"shop://item/{id}","name":"item"}`))
		p.Cut()
		synctest.Wait()
		for _, uri := range []string{"tabhub://e.com/shop://item/7", "tabhub://e.com/tab1/shop://item/7"} {
			go func() {
				_, err := w.hub.ReadResource(t.Context(), uri, "")
				if err == nil || !strings.Contains(err.Error(), "NOT_CONNECTED") {
					t.Errorf("%s: %v", uri, err)
				}
			}()
		}
		time.Sleep(spec.TabGrace + time.Second)
		synctest.Wait()
	})
}

// One tab's resource may be another's template.
func TestTemplateAndResourceOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, resources(`{"uri":"x{y}"}`))
		w.register(b, 0, resources(`{"uriTemplate":"x{y}"}`))
		if _, err := w.hub.ReadResource(t.Context(), "tabhub://e.com/tab1/xyz", ""); err == nil {
			t.Error("read from a tab that has no such template")
		}
		if _, err := w.hub.Find(spec.KindResource, "tabhub://e.com/tab1/xyz"); err == nil {
			t.Error("found in a tab that has no such template")
		}
	})
}

// An update names no URL: it belongs where the tab is.
func TestUpdateWithoutURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		program := w.dial(tabtransport.Conn{Dialect: spec.Subprotocol})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"))
		w.register(program, 0, tools("https://p.com/", "x"))
		for _, end := range []struct {
			tab int64
			r   spec.Registered
		}{{1, w.register(b, 1, tools("", "y"))}, {0, w.register(program, 0, tools("", "y"))}} {
			if end.r.Accepted != 1 {
				t.Errorf("tab %d: %+v", end.tab, end.r)
			}
		}
		w.wantNames("e_com_y unverified_p_com_y")
	})
}
