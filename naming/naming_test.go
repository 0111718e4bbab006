package naming

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tabhub/spec"
)

func TestDomainOf(t *testing.T) {
	for origin, want := range map[string]spec.Domain{
		"https://example.com":                 "example.com",
		"https://shop.Example.com:443":        "shop.example.com",
		"https://shop.example.com:8443":       "shop.example.com:8443",
		"http://shop.example.com":             "http_shop.example.com",
		"http://shop.example.com:80":          "http_shop.example.com",
		"http://shop.example.com:443":         "http_shop.example.com:443",
		"https://shop.example.com:80":         "shop.example.com:80",
		"http://localhost:5173":               "localhost:5173",
		"http://localhost":                    "localhost",
		"http://localhost:80":                 "localhost",
		"https://localhost:5173":              "https_localhost:5173",
		"http://app.localhost:3000":           "app.localhost:3000",
		"http://127.0.0.1:8080":               "127.0.0.1:8080",
		"http://127.1.2.3":                    "127.1.2.3",
		"https://10.0.0.1":                    "10.0.0.1",
		"http://10.0.0.1":                     "http_10.0.0.1",
		"http://[::1]:3000":                   "0_0_0_0_0_0_0_1:3000",
		"https://[2001:DB8::a]":               "2001_db8_0_0_0_0_0_a",
		"http://[2001:db8::a]:8080":           "http_2001_db8_0_0_0_0_0_a:8080",
		"https://[::ffff:1.2.3.4]":            "0_0_0_0_0_ffff_102_304",
		"https://2001_db8_0_0_0_0_0_a":        "host_2001_db8_0_0_0_0_0_a",
		"https://http_shop.example.com":       "host_http_shop.example.com",
		"http://http_shop.example.com":        "http_host_http_shop.example.com",
		"https://https_localhost:5173":        "host_https_localhost:5173",
		"https://unverified_example.com":      "host_unverified_example.com",
		"https://host_x.example":              "host_host_x.example",
		"https://münchen.example":             "xn--mnchen-3ya.example",
		"https://xn--mnchen-3ya.example":      "xn--mnchen-3ya.example",
		"https://ＥＸＡＭＰＬＥ.com":                 "example.com",
		"https://example.com.":                "example.com.",
		"https://my_host.example.com":         "my_host.example.com",
		"https://" + strings.Repeat("a", 253): spec.Domain(strings.Repeat("a", 253)),
		"HTTPS://example.com":                 "example.com",
	} {
		if got, err := DomainOf(origin, true); err != nil || got != want {
			t.Errorf("DomainOf(%q) = %q, %v; want %q", origin, got, err, want)
		}
		if got, err := DomainOf(origin, false); err != nil || got != "unverified_"+want {
			t.Errorf("DomainOf(%q) unverified = %q, %v; want unverified_%q", origin, got, err, want)
		}
	}
	for _, origin := range []string{
		"", "null", "file://", "file:///home/u/x.html", "data:text/html,x", "about:blank", "chrome://settings",
		"chrome-extension://abcdefghijklmnop", "blob:https://example.com/1", "ws://example.com", "example.com", "https:", "https://",
		"https://:443", "https://example.com:", "https://example.com:0", "https://example.com:65536", "https://example.com:-1", "https://example.com:8o",
		"https://example.com/", "https://example.com/path", "https://example.com?q", "https://example.com#f", "https://user@example.com",
		"https://evil.com\\@example.com", "https://exa mple.com", "https://exa\nmple.com", "https://example.com\x00", "https://%65xample.com",
		"https://[::1", "https://::1", "https://[::1%25eth0]", "https://[fe80::1%eth0]", "https://[127.0.0.1]", "https://[example.com]",
		"https://127.1", "https://2130706433", "https://0x7f000001", "https://0x7f.1", "https://256.0.0.1", "https://1.2.3.4.", "https://127.0.0.01",
		"https://" + strings.Repeat("a", 254), "https://a\u0000b", "https://\u202eexample.com", "https://\xff",
	} {
		if got, err := DomainOf(origin, true); err == nil {
			t.Errorf("DomainOf(%q) = %q, want an error", origin, got)
		}
	}
}

// keyShape reads a domain key back, which only proves that it could be done.
var keyShape = regexp.MustCompile(`^(unverified_)?(https?_)?(?:(host_)([a-z0-9._-]+)|([0-9a-f]{1,4}(?:_[0-9a-f]{1,4}){7})|([a-z0-9._-]+))(?::([0-9]+))?$`)

// A page must never get into another origin's domain, whatever its host is called.
func FuzzDomainOfInjective(f *testing.F) {
	for _, h := range []string{"example.com", "localhost", "http_x", "https_localhost", "unverified_x", "host_x", "http_host_x", "[::1]", "0_0_0_0_0_0_0_1", "127.0.0.1", "host_0_0_0_0_0_0_0_1", "münchen.de", "x."} {
		for _, port := range []uint16{0, 80, 443, 5173} {
			f.Add("https", h, port, true)
			f.Add("http", h, port, false)
		}
	}
	f.Fuzz(func(t *testing.T, scheme, host string, port uint16, verified bool) {
		origin := scheme + "://" + host
		if port != 0 {
			origin += fmt.Sprint(":", port)
		}
		key, err := DomainOf(origin, verified)
		if err != nil {
			return
		}
		m := keyShape.FindStringSubmatch(string(key))
		if m == nil {
			t.Fatalf("DomainOf(%q) = %q: not a key", origin, key)
		}
		gotHost := m[4] + m[6]
		if m[5] != "" {
			addr, err := netip.ParseAddr(strings.ReplaceAll(m[5], "_", ":"))
			if err != nil {
				t.Fatalf("DomainOf(%q) = %q: %v", origin, key, err)
			}
			gotHost = "[" + addr.String() + "]"
		}
		if m[3] == "" && m[6] != "" && marked.MatchString(m[6]) {
			t.Fatalf("DomainOf(%q) = %q: ambiguous", origin, key)
		}
		gotScheme := strings.TrimSuffix(m[2], "_")
		if gotScheme == "" {
			gotScheme = "https"
			if isLoopback(strings.Trim(gotHost, "[]")) {
				gotScheme = "http"
			}
		}
		gotPort := m[7]
		// The parsed key must be the same origin: it has the same key.
		again := gotScheme + "://" + gotHost
		if gotPort != "" {
			again += ":" + gotPort
		}
		if k, err := DomainOf(again, m[1] == ""); err != nil || k != key {
			t.Fatalf("%q -> %q -> %q -> %q, %v", origin, key, again, k, err)
		}
		wantPort := ""
		if port != 0 && !(gotScheme == "http" && port == 80) && !(gotScheme == "https" && port == 443) {
			wantPort = fmt.Sprint(port)
		}
		if !strings.EqualFold(gotScheme, scheme) || gotPort != wantPort || verified != (m[1] == "") {
			t.Fatalf("%q (verified %v) -> %q -> %q", origin, verified, key, again)
		}
		if isASCII(host) && m[5] == "" && gotHost != strings.ToLower(host) {
			t.Fatalf("%q -> %q: host %q", origin, key, gotHost)
		}
	})
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 }) }

func TestNames(t *testing.T) {
	tool := func(d spec.Domain, tab int, item string) Identity { return Identity{spec.KindTool, d, tab, item, ""} }
	ofPack := func(pack string, d spec.Domain, tab int, item string) Identity {
		return Identity{spec.KindTool, d, tab, item, pack}
	}
	for _, c := range []struct {
		n    ToolNamer
		id   Identity
		want string
	}{
		{ToolNamer{}, tool("example.com", 0, "getCart"), "website_tool_example_com_getCart"},
		{ToolNamer{}, tool("example.com", 2, "getCart"), "website_tool_example_com_tab2_getCart"},
		{ToolNamer{}, tool("localhost:5173", 0, "add-to.cart"), "website_tool_localhost_5173_add-to_cart"},
		{ToolNamer{}, tool("unverified_example.com", 0, "x"), "website_tool_unverified_example_com_x"},
		{ToolNamer{}, Identity{spec.KindPrompt, "example.com", 0, "greet", ""}, "website_prompt_example_com_greet"},
		{ToolNamer{Limit: 128}, tool("preview-1234567890.team.vercel.app", 0, "a_tool_with_quite_a_long_name"), "website_tool_preview-1234567890_team_vercel_app__a_tool_with_quite_a_long_name"},
		{ToolNamer{Plain: true}, tool("example.com", 0, "test.simple"), "test.simple"},
		{ToolNamer{Plain: true}, tool("example.com", 3, "x"), "tab3_x"},
		{ToolNamer{}, ofPack("shop-tools", "example.com", 0, "getCart"), "pack_shop-tools_example_com_getCart"},
		{ToolNamer{}, ofPack("shop-tools", "example.com", 2, "getCart"), "pack_shop-tools_example_com_tab2_getCart"},
		{ToolNamer{}, ofPack("shop-tools", "bank.co", 0, "uk_transfer"), "pack_shop-tools_bank_co__uk_transfer"},
		{ToolNamer{Plain: true}, ofPack("shop-tools", "example.com", 0, "x"), "pack_shop-tools_x"},
	} {
		if got := c.n.Name(c.id, nil); got != c.want {
			t.Errorf("Name(%+v) = %q, want %q", c.id, got, c.want)
		}
	}
}

// What is cut off a name must not make it look like another site's, or like one that
// the browser vouches for.
func TestShortNames(t *testing.T) {
	const long = "transfer_money_to_an_account"
	a100 := strings.Repeat("a", 100)
	for _, c := range []struct {
		domain spec.Domain
		tab    int
		item   string
		want   string // without website_tool_; "#" is a hash
	}{
		{"a1234567890123456789.bank.com", 0, long, "bank_com__transfer_money_to_#"},
		{"a1234567890123456789.bank.com", 12, long, "bank_com_tab12_transfer_mon_#"},
		{"a1234567890123456789.bank.com:8443", 0, long, "bank_com_8443_transfer_mone_#"},
		{"unverified_a1234567890123456789.bank.com", 0, long, "unverified_bank_com_transfe_#"},
		{"unverified_late.example.com", 0, "late_answer", "unverified_example_com_late_#"},
		{"http_a1234567890123456789.bank.co.uk", 0, long, "http_bank_co_uk__transfer_mo_#"},
		{"unverified_http_late.example.com", 0, "late_answer", "unverified_http_site__late_a_#"},
		{"preview-1234567890.team.vercel.app", 0, "a_tool_with_quite_a_long_name", "team_vercel_app_a_tool_with_#"},
		{"bank.co", 0, "uk_transfer_money_to_an_account", "bank_co__uk_transfer_money_t_#"},
		{"a.quite.longish.subdomain.of.shop.de", 0, "cart", "subdomain_of_shop_de__cart_#"},
		{"eu.shop.de", 0, long, "eu_shop_de__transfer_money_t_#"},
		{"example.com", 0, "ends_just_at_a_word_" + long, "example_com__ends_just_at_a_#"},
		{spec.Domain(a100 + ".com"), 0, "pay", "site__pay_#"},
		{spec.Domain(a100 + ".com:8443"), 3, "pay", "site__tab3_pay_#"},
		{spec.Domain("unverified_" + a100 + ".com"), 0, "bank_com_pay", "unverified_site__bank_com_pa_#"},
		{spec.Domain("unverified_https_host_http_" + a100), 0, long, "unverified_https_host_site__#"},
		{spec.Domain(a100 + ".corp.internal"), 0, "x", "corp_internal__x_#"},
		{"2001_db8_1234_5678_9abc_def0_1234_5678", 0, "x", "site__x_#"},
	} {
		id := Identity{spec.KindTool, c.domain, c.tab, c.item, ""}
		name := ToolNamer{}.Name(id, nil)
		if want := "website_tool_" + strings.Replace(c.want, "#", id.hash()[:8], 1); name != want || len(name) > DefaultLimit {
			t.Errorf("%s, %d, %s: %s (%d), want %s", c.domain, c.tab, c.item, name, len(name), want)
		}
	}
	for _, c := range []struct {
		pack   string
		domain spec.Domain
		item   string
		want   string
	}{
		{"hackernews", "news.ycombinator.com", "search_stories", "pack_hackernews_ycombinator_com__search_s_#"},
		{"shop-tools", "shop.example.com", long, "pack_shop-tools_example_com_transfer_mon_#"},
		{"twelve-bytes-and-more-of-a-name-x", "example.com", "x", "pack_twelve-bytes_example_com_x_#"},
		{strings.Repeat("a", 32), "http_host_" + spec.Domain(a100), "x", "pack_aaaaaaaaaaaa_http_host_site__x_#"},
	} {
		id := Identity{spec.KindTool, c.domain, 0, c.item, c.pack}
		name := ToolNamer{}.Name(id, nil)
		if want := strings.Replace(c.want, "#", id.hash()[:8], 1); name != want || len(name) > DefaultLimit {
			t.Errorf("%s, %s, %s: %s (%d), want %s", c.pack, c.domain, c.item, name, len(name), want)
		}
	}
	// What Claude Code puts before it, and what model APIs allow.
	if n := len("mcp__tabhub__") + DefaultLimit; n > 64 {
		t.Errorf("a name may have %d bytes at an API", n)
	}
}

// Among the items of a domain that would have one name, the first keeps it.
func TestFirstKeepsName(t *testing.T) {
	first := Identity{spec.KindTool, "example.com", 0, "a.b", ""}
	second := Identity{spec.KindTool, "example.com", 0, "a_b", ""}
	for range 2 {
		names := take(ToolNamer{}, first, second, first, second)
		if names[first] != "website_tool_example_com_a_b" || names[second] != "website_tool_example_com_a_b_"+second.hash()[:8] {
			t.Errorf("%v", names)
		}
		first, second = second, first
	}
}

// A domain that got a name by an older public suffix list does not keep the name from its owner,
// and does not get it again.
func TestNameThatIsNowAnothers(t *testing.T) {
	bank := Identity{spec.KindTool, "bank.co.uk", 0, "transfer", ""}
	other := Identity{spec.KindTool, "bank.co", 0, "uk_transfer", ""}
	held := map[string]Identity{"website_tool_bank_co_uk_transfer": other, "website_tool_bank_co_uk_transfer_" + bank.hash()[:8]: bank}
	taken := func(s string) (Identity, bool) { id, ok := held[s]; return id, ok }
	if name := (ToolNamer{}).Name(other, taken); name != "website_tool_bank_co__uk_transfer" {
		t.Errorf("bank.co has %s", name)
	}
	if name := (ToolNamer{}).Name(bank, taken); name != "website_tool_bank_co_uk_transfer" {
		t.Errorf("bank.co.uk has %s", name)
	}
}

var wellFormed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// Two tools that share a name would let one page answer for another.
func FuzzNames(f *testing.F) {
	f.Add("example.com", "getCart", 0, "example.com", "tab1_getCart", 1, 64)
	f.Add("a_b.com", "c", 0, "a.b_com", "c", 0, 40)
	f.Add("a", "tab1_x", 0, "a_tab1", "x", 0, 0)
	f.Add("a", "tab1_x", 0, "a", "x", 1, 0)
	f.Add(strings.Repeat("d", 253), strings.Repeat("t", 128), 7, strings.Repeat("d", 253), strings.Repeat("t", 127), 7, 40)
	f.Add("", "", 1<<62, "日本", "\xff", -1, 1)
	f.Add("bank.co", "uk_transfer", 0, "bank.co.uk", "transfer", 0, 64)
	f.Add("unverified.bank.com", "x", 0, "unverified_bank.com", "x", 0, 0)
	f.Add("localhost:5173", "x", 0, "localhost", "5173_x", 0, 0)
	f.Add("a_b.c.com", "x__y", 0, "a.b.c.com__x", "y", 0, 0)
	f.Add("example.com", "x_0123abcd", 0, "site", "x", 3, 0)
	f.Add("unverified_https_host_http_x", "x", 0, "unverified_site", "x", 3, 0)
	f.Fuzz(func(t *testing.T, d1, i1 string, t1 int, d2, i2 string, t2 int, limit int) {
		for _, kind := range []spec.Kind{spec.KindTool, spec.KindPrompt} {
			n := ToolNamer{Limit: limit}
			ids := []Identity{
				{kind, spec.Domain(d1), t1, i1, ""}, {kind, spec.Domain(d2), t2, i2, ""},
				{kind, spec.Domain(d1), t2, i1, ""}, {kind, spec.Domain(d2), t1, i1, ""}, {kind, spec.Domain(d1), 0, i2, ""},
			}
			if !IsClaimed(spec.Domain(d1)) {
				ids = append(ids, Identity{kind, spec.Domain(d1), t1, i1, "shop"}, Identity{kind, spec.Domain(d1), t1, i1, "shop-tools-with-quite-a-long-name"}, Identity{kind, spec.Domain(d1), t1, i1, "shop-tools-with"})
			}
			held := map[string]Identity{}
			taken := func(s string) (Identity, bool) { id, ok := held[s]; return id, ok }
			names := map[Identity]string{}
			for _, id := range ids {
				name := n.Name(id, taken)
				if want := max(limit, MinLimit); !wellFormed.MatchString(name) || limit != 0 && len(name) > want || limit == 0 && len(name) > DefaultLimit {
					t.Fatalf("Name(%+v) limit %d = %q", id, limit, name)
				}
				if other, ok := held[name]; ok && other != id {
					t.Fatalf("%+v and %+v share %q", id, other, name)
				}
				held[name], names[id] = id, name
			}
			for id, name := range names {
				if !endsInHash(name) && id.Tab >= 0 {
					checkReads(t, id, name)
				}
				if again := n.Name(id, taken); again != name {
					t.Fatalf("Name(%+v) = %q, then %q", id, name, again)
				}
			}
			// Nobody keeps it from a name by claiming what is not his.
			all := n.Name(ids[0], func(string) (Identity, bool) { return Identity{Item: "liar" + i1}, true })
			if all != n.Name(ids[0], nil) {
				t.Fatalf("%q", all)
			}
		}
	})
}

func TestURI(t *testing.T) {
	for _, c := range []struct {
		domain spec.Domain
		tab    int
		page   string
		want   string
	}{
		{"example.com", 0, "shop://cart?full#top", "tabhub://example.com/shop://cart?full#top"},
		{"example.com", 2, "shop://cart", "tabhub://example.com/tab2/shop://cart"},
		{"localhost:5173", 0, "test://template/{id}/data", "tabhub://localhost:5173/test://template/{id}/data"},
		{"example.com", 0, "shop://items{?q,page}", "tabhub://example.com/shop://items{?q,page}"},
		{"example.com", 0, "tab2/shop://cart", "tabhub://example.com/tab0/tab2/shop://cart"},
		{"example.com", 0, "tab0/x", "tabhub://example.com/tab0/tab0/x"},
		{"example.com", 0, "{+uri}", "tabhub://example.com/tab0/{+uri}"},
		{"example.com", 0, "ta{x}/y", "tabhub://example.com/tab0/ta{x}/y"},
		{"example.com", 0, "tabs://{id}", "tabhub://example.com/tabs://{id}"},
		{"0_0_0_0_0_0_0_1:3000", 1, "http://[::1]:3000/x", "tabhub://0_0_0_0_0_0_0_1:3000/tab1/http://%5B::1%5D:3000/x"},
		{"example.com", 0, "http://%5B::1%5D/x", "tabhub://example.com/http://%255B::1%5D/x"},
		{"example.com", 0, "http://%255b", "tabhub://example.com/http://%25255b"},
		{"example.com", 0, "UI://x", "tabhub://example.com/UI://x"},
	} {
		var n ToolNamer
		got := n.URI(Identity{spec.KindResource, c.domain, c.tab, c.page, ""})
		if got != c.want {
			t.Errorf("URI(%s, %d, %q) = %q, want %q", c.domain, c.tab, c.page, got, c.want)
		}
		if page, ok := n.PageURI(c.domain, c.tab, got); !ok || page != c.page {
			t.Errorf("PageURI(%q) = %q, %v; want %q", got, page, ok, c.page)
		}
		if _, err := url.Parse(got); err != nil && !strings.Contains(got, "{") {
			t.Error(err)
		}
	}
	var n ToolNamer
	// What a client made of a public template is what it would have made of the page's.
	if page, ok := n.PageURI("example.com", 0, "tabhub://example.com/tab0/tab7/x"); !ok || page != "tab7/x" {
		t.Errorf("expanded template: %q, %v", page, ok)
	}
	for _, foreign := range []string{"tabhub://example.com.evil/x", "tabhub://example.com/tab7/x", "shop://cart", ""} {
		if page, ok := n.PageURI("example.com", 0, foreign); ok {
			t.Errorf("PageURI(%q) = %q", foreign, page)
		}
	}
	plain := ToolNamer{Plain: true}
	if got := plain.URI(Identity{spec.KindResource, "example.com", 0, "test://static-text", ""}); got != "test://static-text" {
		t.Errorf("plain URI %q", got)
	}
}

func FuzzURI(f *testing.F) {
	seeds := []string{"shop://cart", "tab1/x", "tab0/tab1/x", "{+u}", "http://[::1]/", "http://%5B::1%5D/", "http://%255B", "http://[::1%5D]/", "t{x}", "ui://x", "ui://tab1/x", "ui://{x}", "ui://[::1]/", "ui:///x"}
	for _, a := range seeds {
		for _, b := range seeds {
			f.Add("example.com", a, 0, "example.com", b, 1)
		}
	}
	f.Fuzz(func(t *testing.T, d1, i1 string, t1 int, d2, i2 string, t2 int) {
		if strings.Contains(d1+d2, "/") {
			t.Skip() // no domain key
		}
		t1, t2 = max(t1, 0), max(t2, 0)
		var n ToolNamer
		uris := map[string]Identity{}
		for _, id := range []Identity{{spec.KindResource, spec.Domain(d1), t1, i1, ""}, {spec.KindResource, spec.Domain(d2), t2, i2, ""}, {spec.KindResource, spec.Domain(d1), t2, i2, ""}, {spec.KindResource, spec.Domain(d1), 0, i2, ""}} {
			uri := n.URI(id)
			if other, ok := uris[uri]; ok && other != id {
				t.Fatalf("%+v and %+v share %q", id, other, uri)
			}
			uris[uri] = id
			if page, ok := n.PageURI(id.Domain, id.Tab, uri); !ok || page != id.Item {
				t.Fatalf("%+v -> %q -> %q, %v", id, uri, page, ok)
			}
			if id.Tab != 0 {
				if page, ok := n.PageURI(id.Domain, 0, uri); ok {
					t.Fatalf("the domain's space holds tab %d's %q as %q", id.Tab, uri, page)
				}
			}
		}
	})
}

// What a person mistypes as a site must not become one.
func TestIsDomain(t *testing.T) {
	for _, origin := range []string{"https://example.com", "http://localhost:5173", "http://[::1]:3000", "http://a_b.example.com.", "https://127.0.0.1", "https://例え.jp"} {
		for _, verified := range []bool{true, false} {
			if key, err := DomainOf(origin, verified); err != nil || !IsDomain(key) {
				t.Errorf("%q, %v: %v", key, verified, err)
			}
		}
	}
	for _, d := range []spec.Domain{"", "not a domain", "https://example.com", "example.com/", "Example.com", "example.com:0", "example.com:http", "a\nb", "例え.jp"} {
		if IsDomain(d) {
			t.Errorf("%q passes for a domain", d)
		}
	}
}

// What the parsers of the WHATWG's URL standard make of a URI is escaped to the same.
func TestEscaped(t *testing.T) {
	for parsed, uri := range map[string]string{
		"tabhub://e.com/shop://cart?full#top": "tabhub://e.com/shop://cart?full#top",
		"tabhub://e.com/note://a%20b/%C3%A9":  "tabhub://e.com/note://a b/é",
		"tabhub://e.com/a%60%22%3C%3E^|\\c":   "tabhub://e.com/a`\"<>^|\\c",
		"tabhub://e.com/100%25%zz":            "tabhub://e.com/100%25%zz",
	} {
		if Escaped(parsed) != Escaped(uri) {
			t.Errorf("%q is %q, %q is %q", parsed, Escaped(parsed), uri, Escaped(uri))
		}
	}
}
