package httpd

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
)

// An export of the record must have each line that the filter finds, however many the page
// shows.
func TestExportLog(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	const count = admin.MaxLog + 2000
	for i := range count {
		d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Refused, Said: `=HYPERLINK("http://evil.example")`, Tool: "a,\"b\"\nc", Outcome: "unknown"})
		if i%4000 == 0 { // more than that would not all be kept
			if _, err := d.tenant.Record.Read(t.Context(), record.Query{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, body, _ := d.ask("GET", "/api/log?event=refused&outcome=failed&text=hyperlink&limit=1&format=jsonl", "")
	lines := slices.Collect(strings.Lines(body))
	var first record.Line
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != count || !strings.HasPrefix(first.Said, "=HYPERLINK") {
		t.Errorf("%d lines, the first %s: %v", len(lines), lines[0], err)
	}
	if status, body, _ := d.ask("GET", "/api/log?format=xml", ""); status != http.StatusBadRequest || !strings.Contains(body, "jsonl or raw") {
		t.Errorf("%d %s", status, body)
	}
}

// With a noted head one can check the record without believing the hub: it gives out the bytes that
// were hashed, and all of them.
func TestExportRaw(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Refused, Tool: "a <& b", Outcome: "unknown"})
	_, body, _ := d.ask("GET", "/api/log?format=raw", "")
	noted, err := record.VerifyLines(strings.NewReader(body))
	if err != nil || noted.Last.N < 2 || len(noted.Problems) > 0 {
		t.Fatalf("%+v, %v", noted, err)
	}
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Refused, Tool: "later", Outcome: "unknown"})
	_, body, _ = d.ask("GET", "/api/log?format=raw", "")
	if r, err := record.VerifyLines(strings.NewReader(body), noted.Last); err != nil || r.Last.N != noted.Last.N+1 || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if status, body, _ := d.ask("GET", "/api/log?format=raw&tool=later", ""); status != http.StatusBadRequest || !strings.Contains(body, "all lines") {
		t.Errorf("%d %s", status, body)
	}
}

// A hub that ends does not wait until an export has been read, however long that is.
func TestExportEndsWithTheHub(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	for range 3 { // more at once would not all be kept
		for range 500 {
			d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Refused, Outcome: "unknown", Reason: strings.Repeat("x", 8000)})
		}
		if _, err := d.tenant.Record.Read(t.Context(), record.Query{Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+d.addr+"/api/log?format=jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.server.api.Close() // as Shutdown does
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("all %d bytes of the export were sent", n)
	}
}

// What a call has carried is told to its owner, and that it is not known.
func TestCarriedByACall(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	if err := d.tenant.Hub.Rules.EditPolicy("test", func(doc *policy.Document) error { doc.Private = []string{"mail.example"}; return nil }); err != nil {
		t.Fatal(err)
	}
	d.call("claude", "search_products", `{"query":"mug"}`)
	lines, err := d.tenant.Record.Read(t.Context(), record.Query{Event: record.Call})
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	for call, want := range map[string]string{lines[0].Call: `{"kept":true,"texts":[]}`, "nothing": `{"kept":false,"texts":[]}`} {
		if status, body := d.askOwner("GET", "/api/log/carried?call="+call, ""); status != http.StatusOK || strings.TrimSpace(body) != want {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
}

// The owner finds the sites that were used, and what they were given.
func TestSitesOfTheRecord(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	d.call("claude", "search_products", `{"query":"mug"}`)
	if status, body := d.askOwner("GET", "/api/log/sites", ""); status != http.StatusOK || !strings.Contains(body, `"calls":1`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := d.askOwner("GET", "/api/log/payloads?event=call&of=brief", ""); status != http.StatusOK || !strings.Contains(body, `"args":{"query":"mug"}`) || !strings.Contains(body, `"result":{`) {
		t.Errorf("%d %s", status, body)
	}
}

// What was said in a call is told to its owner, where it is kept.
func TestPayloadsOfACall(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	d.call("claude", "search_products", `{"query":"mug"}`)
	lines, err := d.tenant.Record.Read(t.Context(), record.Query{Event: record.Call})
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	if status, body := d.askOwner("GET", "/api/log/payloads?call="+lines[0].Call, ""); status != http.StatusOK || !strings.Contains(body, `"args":{"query":"mug"}`) || !strings.Contains(body, `"result":{`) {
		t.Errorf("%d %s", status, body)
	}
	for path, want := range map[string]string{
		"?call=nothing": "[]", "?site=shop.example&of=brief": "[]", "?class=read": `"result":{`, "?event=register": "[]",
		"?of=results": "it may be brief", "?class=x": "class is",
	} {
		if _, body := d.askOwner("GET", "/api/log/payloads"+path, ""); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
}
