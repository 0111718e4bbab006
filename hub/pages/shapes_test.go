package pages_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/shapes"
)

// joining has the top document of shapes.Page join the hub, and not the frame in it.
const joining = `<script>if (!location.search) document.write('<script src="http://HUB/tab.js"></' + 'script>')</script>`

// Whatever browser a page with the hub's script is in, its tools and what they give are the same.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes.All {
		t.Run(shape.Name, func(t *testing.T) {
			s := newSite(t)
			tab := s.tab()
			tab.Page = chromium.Shared(t, chromium.Options{WebMCP: true}).Open(s.host("<script>"+shape.Script+"</script>"+joining+shapes.Page, ""))
			if shape.Firefox {
				tab.Lacks = []string{"framed"}
			}
			tab.Check(t, shape)
		})
	}
}

// tab returns what the hub offers of its one tab.
func (s *site) tab() shapes.Tab {
	return shapes.Tab{
		Await: func(names ...string) {
			s.t.Helper()
			s.await("the tools "+strings.Join(names, ", "), func() bool {
				var got []string
				for _, it := range s.hub.Lists.List(lists.ListTools).Items {
					got = append(got, it.Source)
				}
				slices.Sort(got)
				return slices.Equal(got, slices.Sorted(slices.Values(names)))
			})
		},
		Listed: func(name string) json.RawMessage {
			item, err := s.hub.Lists.Find("tool", s.name(name))
			if err != nil {
				s.t.Fatal(err)
			}
			return item.JSON
		},
		Call: func(ctx context.Context, name, args string) (string, bool) {
			raw, err := s.hub.Calls.Call(ctx, call.Request{By: tester, Name: s.name(name), Args: json.RawMessage(args)})
			if err != nil {
				return err.Error(), true
			}
			return hubtest.Said(raw), strings.Contains(string(raw), `"isError":true`)
		},
	}
}
