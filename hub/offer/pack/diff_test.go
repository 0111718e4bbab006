package pack

import (
	"strings"
	"testing"
)

// A change that does more than it says, or is not shown at all, is accepted in good faith.
func TestDiff(t *testing.T) {
	text := string(read(t, "shop.json"))
	was := parse(t, []byte(text))
	for _, test := range []struct {
		name, from, to string
		more           bool
		says           []string
	}{
		{"nothing", `"title": "Tools of a shop"`, `"title":"Tools of a shop"`, false, []string{"what it may do: nothing more than before"}},
		{"a title", `"Tools of a shop"`, `"Tools of the shop"`, false, []string{"nothing more", "title: Tools of a shop → Tools of the shop"}},
		{"more pages", `"https://shop.example.com/*"`, `"https://shop.example.com/*", "https://*.example.net/*"`, true, []string{"more than before: it is at more pages: https://*.example.net/*", "page:  → https://*.example.net/*"}},
		{"another request", `"/api/cart/${id}"`, `"/api/order/${id}"`, true, []string{"the tool add_to_cart acts by other steps", "tool add_to_cart: step 1: sends POST /api/cart/${id}"}},
		{"a reading tool asks for something else", `"/api/search"`, `"/api/mail"`, false, []string{"it reads otherwise: the tool find_products reads by other steps", "tool find_products: step 1: asks for GET /api/search"}},
		{"a reading tool acts", `"annotations": {"readOnlyHint": true},`, ``, true, []string{"the tool find_products may change something; it only reads before"}},
		{"a worse class", `"description": "Puts a product into the cart.",`, `"description": "Puts a product into the cart.", "annotations": {"destructiveHint": true},`, true, []string{"add_to_cart may change what cannot be undone"}},
		{"an acting tool reads something else", `"label": "Total"`, `"label": "Sum"`, true, []string{"the tool order acts on what other steps read"}},
		{"a new tool", `"name": "order",`, `"name": "pay",`, true, []string{"the tool pay is new", "tool pay:  → Tool pay may", "tool order: Tool order may"}},
		{"a timeout", `{"open": {"path": "/cart"}}`, `{"open": {"path": "/cart"}, "timeout": 20}`, true, []string{"tool order: step 1: opens the page /cart → opens the page /cart; within 20 s"}},
		{"what it gives of", `"hits[].{id: id, price: price}"`, `"hits[].{id: id, price: secret}"`, false, []string{"takes hits[].{id: id, price: secret}"}},
		{"more of a path", `{"id": {"type": "string"}, "count"`, `{"id": {"type": ["string", "number"]}, "count"`, true, []string{"the tool add_to_cart takes other arguments"}},
		{"steps in another order", `{"wait": {"url": "https://shop.example.com/order/*"}},
        {"read": {"fields": {"number": {"target": {"selector": "#order-number"}}}}, "as": "order"}`, `{"read": {"fields": {"number": {"target": {"selector": "#order-number"}}}}, "as": "order"},
        {"wait": {"url": "https://shop.example.com/order/*"}}`, true, []string{"the tool order acts on what other steps read"}},
		{"acts before it looks", `{"open": {"path": "/cart"}},
        {"read": {"fields": {"total": {"target": {"label": "Total"}, "give": "number"}}}, "as": "cart"},`, `{"read": {"fields": {"total": {"target": {"label": "Total"}, "give": "number"}}}, "as": "cart"},
        {"open": {"path": "/cart"}},`, true, []string{"the tool order takes its steps in another order", "tool order: step 1"}},
		{"another page that a call opens", `"start": "/"`, `"start": "/logout"`, true, []string{"a call may open another page: https://shop.example.com/logout", "start: / → /logout"}},
		{"what it gives of what it reads", `"{products: hits}"`, `"{products: hits, all: args}"`, false, []string{"it reads otherwise: the tool find_products gives something else of what it reads"}},
		{"hints", `"destructiveHint": true`, `"destructiveHint": true, "openWorldHint": true`, false, []string{"tool order: hints"}},
	} {
		if !strings.Contains(text, test.from) {
			t.Fatalf("%s: nothing to replace", test.name)
		}
		is := parse(t, []byte(strings.Replace(text, test.from, test.to, 1)))
		var all []string
		for _, c := range Diff(was, is) {
			all = append(all, c.What+": "+c.Was+" → "+c.Is)
		}
		got := strings.Join(all, "\n")
		for _, words := range test.says {
			if words == "what it may do: nothing more than before" {
				words = "what it may do: as accepted → nothing more than before"
			}
			if !strings.Contains(got, words) {
				t.Errorf("%s: %q is not in\n%s", test.name, words, got)
			}
		}
		if ActsMore(was, is) != test.more {
			t.Errorf("%s: acts more: %t", test.name, !test.more)
		}
		if was.Hash != is.Hash && len(all) < 2 {
			t.Errorf("%s: no difference is shown", test.name)
		}
	}
}
