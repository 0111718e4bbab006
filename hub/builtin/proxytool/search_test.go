package proxytool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
)

// TestSearchFindsFirst: the tool that a model means is the first that it sees.
func TestSearchFindsFirst(t *testing.T) {
	w := &fakeHub{lists: map[lists.ListKind]*lists.Listing{lists.ListTools: listing(
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
	w := &fakeHub{lists: map[lists.ListKind]*lists.Listing{
		lists.ListResources: listing(lists.Item{Name: "tabhub://e.com/x:17", Source: "x:17", Domain: "e.com", JSON: json.RawMessage(`{"uri":"tabhub://e.com/x:17","description":"[e.com] What you owe","name":"openInvoices"}`)}),
		lists.ListTemplates: listing(lists.Item{Name: "tabhub://e.com/y:{n}", Source: "y:{n}", Domain: "e.com", JSON: json.RawMessage(`{"uriTemplate":"tabhub://e.com/y:{n}","description":"[e.com] One","name":"order"}`)}),
	}}
	for query, want := range map[string]string{"invoice": "x:17", "order": "y:{n}"} {
		got := run(t, w, fmt.Sprintf(`{"action":"list","type":"resource","filter":{"query":%q}}`, query))
		if !strings.Contains(got, want) || !strings.Contains(got, `"totalCount":1`) {
			t.Errorf("%q: %s", query, got)
		}
	}
}

func tool(domain, name, description string) lists.Item {
	public := "website_tool_" + strings.NewReplacer(".", "_").Replace(domain) + "_" + name
	return lists.Item{
		Name: public, Domain: spec.Domain(domain), Source: name,
		JSON: fmt.Appendf(nil, `{"name":%q,"description":"[%s • Active] %s","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`, public, domain, description),
	}
}

// A page must not make the searches of all clients slow by what it says of its tools.
func TestSearchOfManyWords(t *testing.T) {
	var items []lists.Item
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
	w := &fakeHub{lists: map[lists.ListKind]*lists.Listing{lists.ListTools: listing(items...)}}
	begin := time.Now()
	if got := run(t, w, `{"action":"list","type":"tool","filter":{"query":"w130000"}}`); !strings.Contains(got, `"totalCount":1`) {
		t.Error(got[:min(len(got), 200)])
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the search takes %v", took)
	}
}
