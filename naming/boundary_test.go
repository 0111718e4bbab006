package naming

import (
	"strings"
	"testing"

	"tabhub/spec"
)

// A call that is named for one site must not go to another: for each pair that could
// share a name, none does, and each name ends the domain where the domain ends.
func TestBoundary(t *testing.T) {
	for _, c := range []struct {
		domain spec.Domain
		item   string
		want   string // without website_tool_; "#" is a hash
	}{
		{"bank.co.uk", "transfer", "bank_co_uk_transfer"},
		{"bank.co", "uk_transfer", "bank_co__uk_transfer"},
		{"bank.co", "uk.transfer", "bank_co__uk_transfer"},
		{"bank.co", "UK_transfer", "bank_co__UK_transfer"},
		{"bank.co", "uk", "bank_co_uk"}, // no room for a tool of bank.co.uk
		{"example.com", "book_flight", "example_com__book_flight"},
		{"example.com.book", "flight", "example_com_book__flight"},
		{"app.box.com", "upload", "app_box_com__upload"},
		{"app.box", "com_upload", "app_box__com_upload"},
		{"example.com", "add_to_cart", "example_com__add_to_cart"},
		{"example.com", "add-to-cart", "example_com_add-to-cart"},
		{"example.com", "addToCart", "example_com_addToCart"},
		{"bank.ck", "x", "bank_ck_x"}, // the list has "*.ck" only
		{"www.ck", "x", "www_ck_x"},
		{"github.io", "x", "github_io_x"},
		{"evil.github.io", "x", "evil_github_io_x"},
		{"xn--mnchen-3ya.de", "x", "xn--mnchen-3ya_de_x"},

		// Ports, and tools that begin with a number.
		{"example.com:8443", "x", "example_com_8443_x"},
		{"example.com", "8443_x", "example_com__8443_x"},
		{"example.com", "99999_x", "example_com_99999_x"},
		{"example.com:8443", "search_all", "example_com_8443_search_all"},
		{"example.com.8443.to", "x", "example_com_8443_to__x"},
		{"localhost:5173", "x", "localhost_5173_x"},
		{"localhost:5173", "add_to_cart", "localhost_5173_add_to_cart"},
		{"localhost", "add_to_cart", "localhost__add_to_cart"},
		{"localhost", "5173_x", "localhost__5173_x"},
		{"app.localhost:3000", "x", "app_localhost_3000_x"},
		{"127.0.0.1:8080", "x", "127_0_0_1_8080_x"},
		{"127.0.0.1", "8080_x", "127_0_0_1__8080_x"},
		{"0_0_0_0_0_0_0_1:3000", "x", "0_0_0_0_0_0_0_1_3000__x"}, // 0.0.0.0 can be read
		{"2001_db8_0_0_0_0_0_a", "x", "2001_db8_0_0_0_0_0_a_x"},
		{"2001.db8.0.0.0.0.0.ae", "x", "db8_0_0_0_0_0_ae_x_#"}, // the key of an address can be read

		// Marks, and hosts that look like them.
		{"unverified_bank.com", "x", "unverified_bank_com_x"},
		{"unverified.bank.com", "x", "bank_com_x_#"},
		{"http_bank.com", "x", "http_bank_com_x"},
		{"http.bank.com", "x", "bank_com_x_#"},
		{"unverified_http_bank.co", "uk_x", "unverified_http_bank_co__uk_x"},
		{"http.com", "bank_com_x", "site__bank_com_x_#"},
		{"unverified.com", "x", "site__x_#"},
		{"https_localhost:5173", "x", "https_localhost_5173_x"},
		{"https.com", "localhost_x", "site__localhost_x_#"},
		{"host_http_shop.example.com", "x", "host_site__x_#"},
		{"host.example.com", "x", "host_example_com_x"},
		{"site", "x", "site__x_#"},
		{"unverified_site", "x", "unverified_site__x_#"},

		// Hosts that no public suffix ends can be read anywhere.
		{"intranet", "x", "intranet__x"},
		{"demo.tabhub", "checkout", "demo_tabhub__checkout"},
		{"http_wiki:8080", "edit", "http_wiki_8080__edit"},

		// "_" where it is not meant.
		{"my_host.example.com", "x", "example_com_x_#"},
		{"example.com.", "x", "example_com_x_#"},
		{"a_b.corp", "x", "site__x_#"},
		{"example.com", "_x", "example_com___x"},
		{"example.com", "a__b", "example_com__a__b"},
		{"example.com", "日本", "example_com____"},
		{"example.com", "", "example_com_#"},

		{"example.com", "tab1_x", "example_com_tab1_x_#"},
		{"example.com", "x_0123abcd", "example_com_x_0123abcd_#"},
		{"example.com", "0123abcd", "example_com_0123abcd_#"},
	} {
		for _, kind := range []spec.Kind{spec.KindTool, spec.KindPrompt} {
			id := Identity{kind, c.domain, 0, c.item, ""}
			want := strings.Replace(c.want, "#", id.hash()[:8], 1)
			name := ToolNamer{}.Name(id, nil)
			if name != prefix(kind, "")+want {
				t.Errorf("%s, %q: %s, want %s", c.domain, c.item, name, want)
			}
			if c.want == want {
				checkReads(t, id, name)
			}
			id.Tab = 2
			name = ToolNamer{}.Name(id, nil)
			if !endsInHash(name) {
				checkReads(t, id, name)
			}
		}
	}
}

// checkReads reads a name as the package's documentation says: the domain ends at the
// first "__", else after the first port, else after the longest well-known host.
func checkReads(t *testing.T, id Identity, name string) {
	t.Helper()
	body := strings.TrimPrefix(name, prefix(id.Kind, id.Pack))
	text, rest, two := strings.Cut(body, "__")
	if !two {
		text, rest = cutDomain(body)
	}
	d, ok := readDomain(text)
	if !ok || d.domain != id.Domain || rest != id.tab()+clean(id.Item) {
		t.Errorf("%+v: %s reads as %q of %q", id, name, rest, d.domain)
	}
}

// take names identities one after the other.
func take(n ToolNamer, ids ...Identity) map[Identity]string {
	held, names := map[string]Identity{}, map[Identity]string{}
	for _, id := range ids {
		names[id] = n.Name(id, func(s string) (Identity, bool) { id, ok := held[s]; return id, ok })
		held[names[id]] = id
	}
	return names
}

// cutDomain cuts a name's text after the domain: after the first well-known host with
// a port, else after the longest well-known host that it begins with.
func cutDomain(body string) (text, rest string) {
	marks := marksLen(body)
	groups := strings.Split(body[marks:], "_")
	longest := 0
	for end := 1; end < len(groups); end++ {
		if endsPort(groups[:end]) {
			longest = end
			break
		}
		if wellKnown(groups[:end]) {
			longest = end
		}
	}
	if longest == 0 {
		return "", ""
	}
	return body[:marks] + strings.Join(groups[:longest], "_"), strings.Join(groups[longest:], "_")
}
