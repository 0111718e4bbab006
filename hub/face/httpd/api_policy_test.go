package httpd

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
)

const searchTool = "website_tool_demo_tabhub__search_products"

// What the owner decides over the API holds at once.
func TestPolicyAPI(t *testing.T) {
	d := open(t, nil)
	search := `{"name":"` + searchTool + `","arguments":{"query":"mug"}}`
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"GET", "/api/policy", "", 200, `"mode":"careful","fixed":false,"rules":[`},
		{"GET", "/api/policy", "", 200, `"pauses":[],"private":[]`},
		{"GET", "/api/policy/test?tool=" + searchTool, "", 200, `"site":"demo.tabhub","tool":"search_products","class":"read","effect":"allow","by":"preset"`},
		{"GET", "/api/policy/test?client=claude&site=bank.example.com&tool=pay&class=destructive", "", 200, `"client":"claude","site":"bank.example.com","tool":"pay","class":"destructive","effect":"ask"`},
		{"GET", "/api/policy/test?tool=own", "", 200, `"effect":"allow"`},
		{"GET", "/api/policy/test?tool=own+click&site=bank.example.com", "", 200, `"tool":"own click","class":"act","effect":"ask","by":"preset","words":"the owner may use \"own click\" (act) of bank.example.com only if`},
		{"GET", "/api/policy/test?tool=own+goto&site=bank.example.com", "", 200, `"class":"write","effect":"allow"`},
		{"GET", "/api/policy/test?tool=own+text&site=bank.example.com", "", 200, `"class":"read","effect":"allow"`},
		{"GET", "/api/policy/test?class=act&site=bank.example.com", "", 200, `"class":"act","effect":"ask"`},
		{"GET", "/api/policy/test?tool=own+click", "", 400, `name the site whose page is acted on`},
		{"GET", "/api/preflight?tool=own+click&site=bank.example.com", "", 200, `"state":"would ask","tools":[{"name":"own click","state":"would ask","why":"the mode of the hub asks before this: what a client does on a page by itself`},
		{"GET", "/api/preflight?tool=own+click", "", 400, `name its site`},
		{"POST", "/api/policy/rule", `{"effect":"allow","client":"owner","site":"bank.example.com","tool":"own"}`, 200, ``},
		{"GET", "/api/policy/test?tool=own+click&site=bank.example.com", "", 200, `"effect":"ask"`},
		{"POST", "/api/policy/rule", `{"effect":"allow","client":"owner","site":"bank.example.com","tool":"own click"}`, 200, `"class":"act"`},
		{"GET", "/api/policy/test?tool=own+click&site=bank.example.com", "", 200, `"effect":"allow","by":"rule"`},
		{"GET", "/api/policy/test?tool=own+fill&site=bank.example.com", "", 200, `"effect":"ask","by":"preset"`},
		{"GET", "/api/policy/test?class=relay&tool=Page.navigate", "", 200, `"effect":"ask"`},
		{"GET", "/api/preflight?tool=" + searchTool + "&tool=own", "", 200, `{"client":"the owner","state":"ready","tools":[{"name":"` + searchTool + `","state":"ready","why":"a tab is open","site":"demo.tabhub","tool":"search_products","class":"read","tab":`},
		{"GET", "/api/preflight?client=nobody", "", 400, `there is no client`},
		{"GET", "/api/policy/test?tool=nonsense", "", 404, `unknown tool`},
		{"GET", "/api/policy/test?site=*.example.com", "", 400, `not one site`},
		{"GET", "/api/policy/test?site=verified", "", 400, `not one site`},
		{"GET", "/api/policy/test?tool=x&site=a.example&class=none", "", 400, `it may be read, write, act or destructive`},
		{"GET", "/api/policy/test", "", 400, `name a tool, a site or both`},

		{"POST", "/api/policy/rule", `{"effect":"deny","client":"owner","site":"demo.tabhub"}`, 200, `"by":"command"},"exceptions":[]}`},
		{"POST", "/api/call", search, 200, `DENIED`},
		{"GET", "/api/policy/test?tool=" + searchTool, "", 200, `"effect":"deny","by":"rule"`},
		{"POST", "/api/policy/rule", `{"effect":"allow","client":"owner","site":"demo.tabhub","tool":"search_*"}`, 200, `"exceptions":[]}`},
		{"POST", "/api/call", search, 200, `mug`},
		{"POST", "/api/policy/rule", `{"effect":"allow","client":"owner","site":"demo.tabhub"}`, 200, `"exceptions":[{"id":"preset:`},
		{"POST", "/api/policy/rule", `{"effect":"deny","tool":"` + searchTool + `"}`, 200, `"site":"demo.tabhub","tool":"search_products"`},
		{"POST", "/api/policy/rule", `{"effect":"allow","tool":"own"}`, 200, `"class":"hub"`},

		{"POST", "/api/policy/rule", `{"effect":"deny","client":"claud"}`, 400, `there is no client \"claud\"`},
		{"POST", "/api/pause", `{"client":"claud"}`, 400, `there is no client \"claud\"`},
		{"POST", "/api/policy/rule", `{"effect":"forbid","client":"claude"}`, 400, `it may be allow, ask or deny`},
		{"POST", "/api/policy/rule", `{"client":"claude"}`, 400, `the effect is missing`},
		{"POST", "/api/policy/rule", `{"effect":"deny"}`, 400, `tabhub pause`},
		{"POST", "/api/policy/rule", `{"effect":"deny","site":"*.co.uk"}`, 400, `wider than what one owner can have`},
		{"POST", "/api/policy/rule", `{"effect":"deny","client":"unnamed","until":"2020-01-01T00:00:00Z"}`, 400, `ended already`},
		{"DELETE", "/api/policy/rule?id=preset:careful", "", 404, `tabhub policy list`},
		{"DELETE", "/api/policy/rule", "", 404, `no such rule`},

		{"PUT", "/api/policy/mode", `{"mode":"read-only"}`, 200, `read-only`},
		{"GET", "/api/policy", "", 200, `"mode":"read-only"`},
		{"PUT", "/api/policy/mode", `{"mode":"strict"}`, 400, `it may be open, careful, ask or read-only`},
		{"PUT", "/api/policy/mode", `{}`, 400, `mode`},

		{"PUT", "/api/policy/private", `{"site":"mail.example.com","private":true}`, 200, ``},
		{"PUT", "/api/policy/private", `{"site":"mail.example.com","private":true}`, 200, ``},
		{"GET", "/api/policy", "", 200, `"private":["mail.example.com"]`},
		{"GET", "/api/site", "", 200, `{"domain":"mail.example.com","private":true}`},
		{"PUT", "/api/policy/private", `{"site":"mail.example.com"}`, 200, ``},
		{"GET", "/api/policy", "", 200, `"private":[]`},
		{"PUT", "/api/policy/private", `{"site":"https://mail.example.com"}`, 400, `did you mean mail.example.com?`},

		{"POST", "/api/pause", `{"site":"demo.tabhub"}`, 200, `"since"`},
		{"POST", "/api/pause", `{"site":"demo.tabhub"}`, 200, `"since"`},
		{"POST", "/api/call", search, 200, `PAUSED`},
		{"DELETE", "/api/pause?site=other.example", "", 404, `just this is not paused`},
		{"DELETE", "/api/pause?site=demo.tabhub", "", 200, ``},
		{"DELETE", "/api/pause", "", 404, `just this is not paused`},
		{"POST", "/api/pause", `{}`, 200, `"since"`},
		{"DELETE", "/api/pause", "", 200, ``},
		{"POST", "/api/pause", `{"site":"*.com"}`, 400, `wider`},
	} {
		status, body := d.askOwner(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %s: %d %s; want %d with %s", c.method, c.path, c.body, status, body, c.status, c.has)
		}
	}

	_, body := d.askOwner("GET", "/api/policy", "")
	var report admin.PolicyReport
	if err := json.Unmarshal([]byte(body), &report); err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rules {
		status, body := d.askOwner("DELETE", "/api/policy/rule?id="+r.ID, "")
		if own := r.By == "command"; own != (status == 200) {
			t.Errorf("remove rule %s of %s: %d %s", r.ID, r.By, status, body)
		}
	}
	if left := d.tenant.Hub.Rules.Policy().Document().Rules; len(left) > 0 {
		t.Errorf("%d rules are left", len(left))
	}
}
