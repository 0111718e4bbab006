package proxytool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/spec"
)

// TestSearchFindsFirst: the tool that a model means is the first that it sees.
func TestSearchFindsFirst(t *testing.T) {
	w := &fakeHub{lists: map[hub.ListKind]*hub.Listing{hub.ListTools: listing(1,
		tool("shop.example.com", "addToCart", "Puts a product into the shopping cart"),
		tool("shop.example.com", "removeFromCart", "Takes a product out of the cart"),
		tool("shop.example.com", "search_products", "Searches the catalogue by words"),
		tool("mail.example.com", "sendMessage", "Sends an e-mail; add attachments as URLs"),
		tool("mail.example.com", "listMessages", "Lists messages of a folder"),
		tool("bank.example.com", "transfer", "Transfers money; cart, product and message are not its business"),
		tool("docs.example.com", "建立文档", "建立一个新的文档"),
	)}}
	for query, want := range map[string]string{
		"add to cart":             "addToCart",
		"add a product":           "addToCart",
		"cart":                    "addToCart",
		"remove":                  "removeFromCart",
		"products search":         "search_products",
		"find message":            "sendMessage",
		"messages list":           "listMessages",
		"bank":                    "transfer",
		"money":                   "transfer",
		"attach":                  "sendMessage",
		"website shop addToCart":  "addToCart",
		"ATTACHMENT":              "sendMessage",
		"文档":                      "建立文档",
		"mail.example.com send":   "sendMessage",
		"active":                  "",
		"  ,.- ":                  "",
		"xylophone transfers now": "transfer",
	} {
		args := fmt.Sprintf(`{"action":"list","type":"tool","filter":{"query":%q},"limit":1}`, query)
		got := run(t, w, args)
		if want == "" && !strings.Contains(got, `"text":"[]"`) || !strings.Contains(got, want) {
			t.Errorf("%q: want %s first, got %s", query, want, got)
		}
	}
}

// A resource is called by its name; its URI need not say what it is.
func TestSearchFindsResourcesByName(t *testing.T) {
	w := &fakeHub{lists: map[hub.ListKind]*hub.Listing{
		hub.ListResources: listing(1, hub.Item{Name: "tabhub://e.com/x:17", Source: "x:17", Domain: "e.com", JSON: json.RawMessage(`{"uri":"tabhub://e.com/x:17","description":"[e.com] What you owe","name":"openInvoices"}`)}),
		hub.ListTemplates: listing(1, hub.Item{Name: "tabhub://e.com/y:{n}", Source: "y:{n}", Domain: "e.com", JSON: json.RawMessage(`{"uriTemplate":"tabhub://e.com/y:{n}","description":"[e.com] One","name":"order"}`)}),
	}}
	for query, want := range map[string]string{"invoice": "x:17", "order": "y:{n}"} {
		got := run(t, w, fmt.Sprintf(`{"action":"list","type":"resource","filter":{"query":%q}}`, query))
		if !strings.Contains(got, want) || !strings.Contains(got, `"totalCount":1`) {
			t.Errorf("%q: %s", query, got)
		}
	}
}

func tool(domain, name, description string) hub.Item {
	public := "website_tool_" + strings.NewReplacer(".", "_").Replace(domain) + "_" + name
	return hub.Item{
		Name: public, Domain: spec.Domain(domain), Source: name,
		JSON: fmt.Appendf(nil, `{"name":%q,"description":"[%s • Active] %s","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`, public, domain, description),
	}
}

// many is 10,000 tools of 1,000 sites.
func many(gen uint64) *hub.Listing {
	verbs := strings.Fields("add remove list search update send open close import export")
	nouns := strings.Fields("cart order invoice message ticket report user page image track")
	var items []hub.Item
	for i := range 10_000 {
		v, n := verbs[i%10], nouns[i/10%10]
		items = append(items, tool(fmt.Sprintf("site%d.example.com", i/10), fmt.Sprintf("%s_%s_%d", v, n, i%7),
			fmt.Sprintf("Can %s the %s with number %d of the present account, and tells what changed (generation %d).", v, n, i, gen)))
	}
	return listing(gen, items...)
}

func BenchmarkList10000(b *testing.B) {
	for name, args := range map[string]string{
		"all":    `{"action":"list","type":"tool"}`,
		"page":   `{"action":"list","type":"tool","limit":50,"offset":5000}`,
		"domain": `{"action":"list","type":"tool","filter":{"domain":"site77.example.com"}}`,
		"prefix": `{"action":"list","type":"tool","filter":{"prefix":"website_tool_site99"}}`,
		"tags":   `{"action":"list","type":"tool","filter":{"tags":["x"]}}`,
		"query":  `{"action":"list","type":"tool","filter":{"query":"search the invoice of site 512"}}`,
		"common": `{"action":"list","type":"tool","filter":{"query":"can the number of present account tell what changed"}}`,
	} {
		b.Run(name, func(b *testing.B) {
			t := &proxy{hub: &fakeHub{lists: map[hub.ListKind]*hub.Listing{hub.ListTools: many(1)}}}
			t.call(b.Context(), tester, json.RawMessage(args))
			b.ReportAllocs()
			for b.Loop() {
				t.call(b.Context(), tester, json.RawMessage(args))
			}
		})
	}
}

// BenchmarkIndex10000 is what the first search after a change costs: of all items at
// first, then of a change of one.
func BenchmarkIndex10000(b *testing.B) {
	args := json.RawMessage(`{"action":"list","type":"tool","filter":{"query":"search invoice"}}`)
	b.Run("first", func(b *testing.B) {
		w := &fakeHub{lists: map[hub.ListKind]*hub.Listing{hub.ListTools: many(1)}}
		for b.Loop() {
			(&proxy{hub: w}).call(b.Context(), tester, args)
		}
	})
	b.Run("changed", func(b *testing.B) {
		w := &fakeHub{lists: map[hub.ListKind]*hub.Listing{hub.ListTools: many(1)}}
		t := &proxy{hub: w}
		t.call(b.Context(), tester, args)
		for b.Loop() {
			l := *w.lists[hub.ListTools]
			l.Generation++
			w.lists[hub.ListTools] = &l
			t.call(b.Context(), tester, args)
		}
	})
}

// A page must not make the searches of all clients slow by what it says of its tools.
func TestSearchOfManyWords(t *testing.T) {
	var items []hub.Item
	for n := range 5 {
		it := tool("shop.example.com", fmt.Sprint("tool", n), "")
		var tags []string
		for i := range 30_000 {
			tags = append(tags, fmt.Sprintf("w%d", n*30_000+i))
		}
		raw, err := json.Marshal(tags)
		if err != nil {
			t.Fatal(err)
		}
		it.JSON = json.RawMessage(`{"name":"tool","_meta":{"tags":` + string(raw) + `}}`)
		items = append(items, it)
	}
	w := &fakeHub{lists: map[hub.ListKind]*hub.Listing{hub.ListTools: listing(1, items...)}}
	begin := time.Now()
	if got := run(t, w, `{"action":"list","type":"tool","filter":{"query":"w130000"}}`); !strings.Contains(got, `"totalCount":1`) {
		t.Error(got[:min(len(got), 200)])
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the search takes %v", took)
	}
}
