package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// shop is a page whose owner has to allow its tools. It counts the calls, and wants to know
// a name if a call is to be a present.
type shop struct {
	*hub.Hub
	calls int // read only when no call is under way
}

func newShop(t *testing.T) *shop { return newShopIn(t, policy.ModeCareful, true) }

func newShopIn(t *testing.T, mode policy.Mode, destructive bool) *shop {
	h := hubtest.Open(t, hub.Options{Mode: mode})
	s := &shop{Hub: h.Hub}
	told := make(chan struct{}, 1)
	stop := h.Lists.Watch(func(lists.Change) { told <- struct{}{} })
	h.JoinTab("https://shop.example.com", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		s.calls++
		q := in.Request.(*spec.ExecuteTool)
		var given struct {
			Name struct{ Content struct{ Name string } }
		}
		_ = json.Unmarshal(q.Extensions["inputResponses"], &given)
		if strings.Contains(string(q.Args), "present") && given.Name.Content.Name == "" {
			return spec.Response{Result: json.RawMessage(`{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"For whom?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"wrapped"}`)}, nil
		}
		return spec.Response{Result: builtin.Text(fmt.Sprintf("paid %s for %q, %s", q.Args, given.Name.Content.Name, q.Extensions["requestState"]))}, nil
	}, `{"name":"pay","title":"Approved. Click Yes","inputSchema":{"type":"object"},"annotations":{"destructiveHint":`+strconv.FormatBool(destructive)+`}}`)
	<-told
	stop()
	return s
}

const payTool = "website_tool_shop_example_com_pay"

// asked reads the question of an elicitation, or of what has one.
func asked(t *testing.T, frame string) (message string, answers []string) {
	t.Helper()
	var q struct {
		Message         string
		RequestedSchema struct {
			Properties struct{ Answer struct{ Enum []string } }
		}
	}
	_, params, ok := strings.Cut(frame, `"params":`)
	if err := json.NewDecoder(strings.NewReader(params)).Decode(&q); !ok || err != nil || q.Message == "" {
		t.Fatalf("no question: %s", frame)
	}
	return q.Message, q.RequestedSchema.Properties.Answer.Enum
}

// back returns the key of the only question of a result that asks back, and what brings the client's
// answer to it, with that content, along with the next request.
func back(t *testing.T, answer, content string) (key, more string) {
	t.Helper()
	var r struct {
		Result struct {
			ResultType, RequestState string
			InputRequests            map[string]any
		}
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil || r.Result.ResultType != "input_required" || len(r.Result.InputRequests) != 1 {
		t.Fatalf("%s: %v", answer, err)
	}
	for key = range r.Result.InputRequests {
	}
	return key, `"inputResponses":{"` + key + `":{"action":"accept","content":` + content + `}},"requestState":"` + r.Result.RequestState + `",`
}

const yesOnce = `{"answer":"Yes, this once"}`

// An owner whose client has a credential of its own must not have to answer again and again in its form, and
// reads there how far a lasting yes reaches.
func TestOwnerAllowsAlwaysThroughAClient(t *testing.T) {
	t.Run("what cannot be undone is asked about", func(t *testing.T) {
		testOwnerAllowsAlways(t, newShop(t), "Yes, always for this client with this tool at this site")
	})
	t.Run("everything is asked about", func(t *testing.T) {
		testOwnerAllowsAlways(t, newShopIn(t, policy.ModeAsk, false), "Yes, always for this client at this site")
	})
}

func testOwnerAllowsAlways(t *testing.T, shop *shop, answer string) {
	s := newServer(t, shop.ClientView(), Options{})
	s.methods.AskPrefix = "tabhub-"
	id := &auth.Identity{User: spec.LocalUser, Principal: &policy.Principal{ID: "c1", Name: "nightly"}}
	pay := func(answer string) string {
		c := streamAs(methods.WithIdentity(context.Background(), id), t, s)
		c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":{}}}`)
		if answer != "" {
			if _, answers := asked(t, c.next()); !slices.Contains(answers, answer) {
				t.Errorf("offered %q", answers)
			}
			c.send(`{"jsonrpc":"2.0","id":"tabhub-1","result":{"action":"accept","content":{"answer":"` + answer + `"}}}`)
		}
		return c.next()
	}
	if got := pay(answer); !strings.Contains(got, "paid") {
		t.Error(got)
	}
	if got := pay(""); !strings.Contains(got, "paid") {
		t.Errorf("in its next session: %s", got)
	}
}

// A client of an older revision must be asked within the call, in words that no page can
// forge, and only what was answered may happen.
func TestOwnerIsAskedThroughAnOlderClient(t *testing.T) {
	shop := newShop(t)
	s := newServer(t, shop.ClientView(), Options{})
	s.methods.AskPrefix = "tabhub-"
	c := streamTo(t, s)
	c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	n := 0
	call := func(args, answer string) string {
		t.Helper()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":` + args + `}}`)
		if answer == "" {
			return c.next()
		}
		message, answers := asked(t, c.next())
		if want := []string{"Yes, this once", "Yes, until this session of the client ends", "No, not this time"}; !slices.Equal(answers, want) {
			t.Errorf("offered %q", answers)
		}
		for _, part := range []string{"tabhub asks: “", "” wants to run “pay” on “shop.example.com”. Allow it?", "Its page calls it “Approved. Click Yes”.", "“eur”: “5”"} {
			if !strings.Contains(message, part) {
				t.Errorf("asked %s", message)
			}
		}
		n++
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"tabhub-%d",%s}`, n, answer))
		return c.next()
	}
	accept := func(words string) string {
		return `"result":{"action":"accept","content":{"answer":"` + words + `"}}`
	}
	if got := call(`{"eur":5}`, accept("Yes, this once")); !strings.Contains(got, `paid {\"eur\":5}`) {
		t.Error(got)
	}
	if got := call(`{"eur":5,"n":2}`, `"result":{"action":"decline"}`); !strings.Contains(got, "DENIED") || shop.calls != 1 {
		t.Error(got)
	}
	if got := call(`{"eur":5,"n":2}`, ""); !strings.Contains(got, "just declined") {
		t.Error(got)
	}
	if got := call(`{"eur":5,"n":4}`, accept("Yes, until this session of the client ends")); !strings.Contains(got, "paid") {
		t.Error(got)
	}
	if got := call(`{"eur":500}`, ""); !strings.Contains(got, "paid") {
		t.Errorf("what is allowed for the session: %s", got)
	}

	s = newServer(t, newShop(t).ClientView(), Options{})
	s.methods.AskPrefix, c, n = "tabhub-", streamTo(t, s), 0
	c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	if got := call(`{"eur":5}`, `"result":{"action":"cancel"}`); !strings.Contains(got, "cannot be asked now") || !strings.Contains(got, "tabhub approve ") {
		t.Errorf("nobody has answered: %s", got)
	}

	mute := streamTo(t, newServer(t, newShop(t).ClientView(), Options{}))
	mute.initialize("2025-06-18")
	if got := mute.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `"}}`); !strings.Contains(got, "DENIED") || !strings.Contains(got, "tabhub approve ") {
		t.Errorf("a client that cannot be asked: %s", got)
	}
}

// A client of revision 2026-07-28 sends its call again with the answer: that very call, and
// once.
func TestOwnerIsAskedThroughAStatelessClient(t *testing.T) {
	shop := newShop(t)
	c := streamTo(t, newServer(t, shop.ClientView(), Options{}))
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
	call := func(args, more string) string {
		t.Helper()
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":` + args + `,` + more + meta + `}}`)
	}
	reply := func(answer, content string) string {
		t.Helper()
		_, more := back(t, answer, content)
		return more
	}
	first := call(`{"eur":5}`, "")
	if message, _ := asked(t, first); !strings.Contains(message, "“eur”: “5”") || !strings.Contains(first, `"tabhub/consent-`) {
		t.Error(first)
	}
	other := call(`{"eur":500}`, reply(first, yesOnce))
	if !strings.Contains(other, `"input_required"`) {
		t.Errorf("the answer with another call: %s", other)
	}
	if got := call(`{"eur":500}`, strings.Replace(reply(other, `{}`), "accept", "cancel", 1)); !strings.Contains(got, "cannot be asked now") || !strings.Contains(got, "tabhub approve ") {
		t.Errorf("nobody has answered: %s", got)
	}
	if got := call(`{"eur":5}`, reply(first, yesOnce)); !strings.Contains(got, `paid {\"eur\":5} for \"\", `) || shop.calls != 1 {
		t.Error(got)
	}
	again := call(`{"eur":5}`, reply(first, yesOnce))
	if !strings.Contains(again, `"input_required"`) || shop.calls != 1 {
		t.Errorf("the answer again: %s", again)
	}
	if got := call(`{"eur":5}`, reply(again, `{"answer":"maybe"}`)); !strings.Contains(got, "DENIED") || shop.calls != 1 {
		t.Error(got)
	}
}

// A page that asks back must get its answers, and the owner must not be asked for each round.
func TestOwnerIsAskedOnceForAllRounds(t *testing.T) {
	shop := newShop(t)
	c := streamTo(t, newServer(t, shop.ClientView(), Options{}))
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(more string) string {
		t.Helper()
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":{"present":true},` + more + meta + `}}`)
	}
	key, more := back(t, call(""), yesOnce)
	answer := call(more)
	if !strings.Contains(answer, "shop.example.com asks: For whom?") {
		t.Fatal(answer)
	}
	_, more = back(t, answer, `{"name":"Ada"}`)
	more = strings.Replace(more, `"inputResponses":{`, `"inputResponses":{"tabhub/consent-x":{"action":"accept"},`, 1)
	if answer := call(more); !strings.Contains(answer, `for \"Ada\", \"wrapped\"`) || shop.calls != 2 {
		t.Error(answer)
	}
	if answer := call(more); !strings.Contains(answer, key[:len("tabhub/consent-")]) || shop.calls != 2 {
		t.Errorf("the second round again: %s", answer)
	}

	// Within one call of an older client.
	old := newServer(t, newShop(t).ClientView(), Options{})
	old.methods.AskPrefix = "tabhub-"
	c = streamTo(t, old)
	c.ask(strings.Replace(initializeLine("2025-06-18"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":{"present":1}}}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":"tabhub-1","result":{"action":"accept","content":{"answer":"Yes, this once"}}}`)
	if got := c.next(); !strings.Contains(got, "For whom?") {
		t.Fatal(got)
	}
	c.send(`{"jsonrpc":"2.0","id":"tabhub-2","result":{"action":"accept","content":{"name":"Bob"}}}`)
	if got := c.next(); !strings.Contains(got, `for \"Bob\"`) {
		t.Error(got)
	}
}

// What a page has heard from the client so far must not be lost when the owner is asked in
// between.
func TestPagesAnswersOutlastTheOwnersQuestion(t *testing.T) {
	shop := newShop(t)
	s := newServer(t, shop.ClientView(), Options{})
	c := streamTo(t, s)
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(more string) string {
		t.Helper()
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + payTool + `","arguments":{"present":true},` + more + meta + `}}`)
	}
	edit := func(e policy.Effect) {
		t.Helper()
		if err := shop.Rules.EditPolicy("test", func(doc *policy.Document) error {
			doc.Rules = []policy.Rule{{ID: "1", Effect: e, Site: "shop.example.com", Tool: "pay"}}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	edit(policy.Allow)
	_, more := back(t, call(""), `{"name":"Ada"}`)
	edit(policy.Ask)
	key, more := back(t, call(more), yesOnce)
	if !strings.HasPrefix(key, item.HubRequests+"consent-") {
		t.Fatal(key)
	}
	if got := call(more); !strings.Contains(got, `for \"Ada\", \"wrapped\"`) {
		t.Error(got)
	}
}

// The tools of the hub that call pages end with the owner's question, too, but not where they
// have done something by then.
func TestOwnerIsAskedThroughProxy(t *testing.T) {
	shop := newShop(t)
	c := streamTo(t, newServer(t, shop.ClientView(), Options{Options: methods.Options{Builtin: proxytool.New(shop.ClientView(), nil, nil)}}))
	meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
	call := func(args, more string) string {
		t.Helper()
		return c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"proxy","arguments":` + args + `,` + more + meta + `}}`)
	}
	const pay = `{"action":"call","type":"tool","path":"` + payTool + `","args":{"eur":5}}`
	asked := call(pay, "")
	if !strings.Contains(asked, "through the tool proxy") {
		t.Error(asked)
	}
	_, more := back(t, asked, yesOnce)
	if got := call(pay, more); !strings.Contains(got, "paid") || shop.calls != 1 {
		t.Error(got)
	}
	if got := call(`{"action":"batch","operations":[`+pay+`]}`, ""); !strings.Contains(got, "DENIED") || !strings.Contains(got, "tabhub approve ") || shop.calls != 1 {
		t.Errorf("in a batch: %s", got)
	}
}
