package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// ordinary are twenty calls each that agents make at a shop, in a documentation and in a mailbox, with what
// such tools say of themselves: r only reads, w may change something, d cannot be undone.
var ordinary = map[string]string{
	"https://shop.example": `r:search_products r:view_product r:view_product r:read_reviews r:compare_products w:add_to_cart w:add_to_cart
		w:set_quantity w:remove_from_cart w:apply_coupon r:view_cart r:shipping_costs w:save_for_later w:add_to_wishlist
		w:set_delivery_address w:choose_delivery_slot d:place_order r:track_order w:request_invoice d:cancel_order`,
	"https://docs.example": `r:search_docs r:open_page r:open_page r:list_sections r:code_example r:open_page r:page_history w:create_draft
		w:edit_draft w:edit_draft w:add_comment w:upload_picture r:preview d:publish_page w:rate_page w:watch_page r:search_docs
		w:assign_reviewer w:add_label d:delete_comment`,
	"https://mail.example": `r:list_messages r:read_message r:read_message r:search_messages w:mark_read w:add_label w:archive w:archive
		w:create_draft w:update_draft d:send_message r:get_attachment w:snooze w:star d:send_message r:list_contacts
		w:create_filter d:delete_message d:delete_message d:empty_trash`,
}

func hostOf(site string) string { return strings.TrimPrefix(site, "https://") }

// offered are the tools of the calls, as a page registers them.
func offered(calls string) string {
	hints := map[string]string{"r": `{"readOnlyHint":true}`, "w": `{}`, "d": `{"destructiveHint":true}`}
	var tools []string
	for call := range strings.FieldsSeq(calls) {
		class, name, _ := strings.Cut(call, ":")
		tool := fmt.Sprintf(`{"name":%q,"description":"Does it.","inputSchema":{"type":"object"},"annotations":%s}`, name, hints[class])
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	return "[" + strings.Join(tools, ",") + "]"
}

// Of sixty ordinary calls few need the owner, and none ends where nobody can go on: each refusal says what
// lets the same call through, and that does, for clients that can be asked, that cannot, and that run
// when nobody is there.
func TestOrdinaryCalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "TABHUB_POLICY=careful")
	p.serve("--set", "ask=client,browser,dashboard")
	_, copied := p.writeExtension()
	for i, site := range slices.Sorted(maps.Keys(ordinary)) {
		p.companion(copied, spec.BrowserID(fmt.Sprint("b", i)), site+"/", offered(ordinary[site]))
	}
	mint := func(name string) string {
		stdout, stderr, exit := p.run("token", "mint", "--name", name)
		if exit != 0 {
			t.Fatal(stderr)
		}
		return strings.TrimSpace(stdout)
	}
	// The owner is asked no more than six times a minute for one client, so each site has one of its own here.
	withForm := map[string]*client{}
	for site := range ordinary {
		cmd := p.command("stdio", "--listen", p.listen)
		cmd.Env = append(slices.Clone(cmd.Env), "TABHUB_TOKEN="+mint("claude-code at "+hostOf(site)))
		c := pipe(t, cmd)
		c.reply = func(string) string {
			return `{"action":"accept","content":{"answer":"Yes, always for this client with this tool at this site"}}`
		}
		c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"claude-code","version":"2"}}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		withForm[hostOf(site)] = c
	}
	plain := p.stdioRaw()
	plain.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"1"}}`)
	plain.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	sdk, cron := p.httpAs(mint("sdk-client")), p.httpAs(mint("nightly"))

	call := func(tool string) string { return fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, tool) }
	quoted := regexp.MustCompile("`[^` ]*tabhub[^` ]* ([^`]*)`")
	// follow does what a refusal says, by the first of its commands that begins with a word.
	follow := func(a answer, word string, more ...string) {
		t.Helper()
		said := refusalOf(a)
		for _, m := range quoted.FindAllStringSubmatch(said, -1) {
			if args := strings.Fields(m[1]); args[0] == word {
				if _, stderr, exit := p.run(append(args, more...)...); exit != 0 {
					t.Errorf("what the refusal says does not work: %s: %s", m[1], stderr)
				}
				return
			}
		}
		t.Fatalf("the refusal names no command %s: %s", word, said)
	}
	clients := []struct {
		name string
		make func(host, tool string) (a answer, asked bool)
	}{
		{"Claude Code, whose user answers a form with always", func(host, tool string) (answer, bool) {
			c := withForm[host]
			before := c.noticed("elicitation/create")
			a := c.ask("tools/call", call(tool))
			return a, c.noticed("elicitation/create") > before
		}},
		{"Claude Desktop, whose owner has a terminal", func(host, tool string) (answer, bool) {
			a := plain.ask("tools/call", call(tool))
			if a.outcome() != "DENIED" {
				return a, false
			}
			follow(a, "approve", "once")
			return plain.ask("tools/call", call(tool)), true
		}},
		{"an SDK client without forms, whose owner opens the dashboard", func(host, tool string) (answer, bool) {
			a := sdk.ask("tools/call", call(tool))
			if a.outcome() != "DENIED" {
				return a, false
			}
			address := regexp.MustCompile(`http://[^ ,]+`).FindString(refusalOf(a))
			if resp, err := http.Get(address); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%q is no dashboard: %v", address, err)
			} else {
				resp.Body.Close()
			}
			follow(a, "approve", "app")
			return sdk.ask("tools/call", call(tool)), true
		}},
		{"an agent in cron, for which the owner makes a rule", func(host, tool string) (answer, bool) {
			a := cron.ask("tools/call", call(tool))
			if a.outcome() != "DENIED" {
				return a, false
			}
			follow(a, "policy")
			return cron.ask("tools/call", call(tool)), true
		}},
	}
	for _, c := range clients {
		questions := map[string]int{}
		for site, calls := range ordinary {
			host := hostOf(site)
			for one := range strings.FieldsSeq(calls) {
				class, name, _ := strings.Cut(one, ":")
				a, asked := c.make(host, "website_tool_"+strings.ReplaceAll(host, ".", "_")+"__"+name)
				if a.outcome() != "ok" {
					t.Fatalf("%s: %s at %s: %s %s", c.name, name, host, a.outcome(), refusalOf(a))
				}
				if asked {
					questions[host]++
				}
				if asked && class != "d" {
					t.Errorf("%s: the owner is asked about %s", c.name, name)
				}
			}
		}
		t.Logf("%s: of 20 calls each, questions at %v", c.name, questions)
		for host, n := range questions {
			if n > 6 {
				t.Errorf("%s: %d questions at %s", c.name, n, host)
			}
		}
	}
}

// refusalOf returns the words of a refusal.
func refusalOf(a answer) string {
	for block := range rawjson.Elements(rawjson.Get(a.result, "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		var said struct{ Error struct{ Message string } }
		if json.Unmarshal([]byte(text), &said) == nil && said.Error.Message != "" {
			return said.Error.Message
		}
	}
	return string(a.result)
}
