package browsertool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tabhub/hub"
	"tabhub/hub/builtin/browsertool"
	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/offer/pack"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// shop is a browser whose first tab shows a shop with a frame of a bank.
func (w *rig) shop() *fakeBrowser { return w.shopIn("b1") }

func (w *rig) shopIn(browser string) *fakeBrowser {
	b := w.browser(browser, append(everything[:len(everything):len(everything)], spec.CapLook, spec.CapHold), "https://shop.example/", "https://other.example/")
	b.register(1, "https://shop.example/", "search")
	b.own = func(req spec.Request) (any, error) {
		switch req := req.(type) {
		case *spec.Look:
			frames := []spec.LookFrame{{Origin: "https://shop.example", URL: "https://shop.example/", Title: "Shop"}, {Origin: "https://pay.example", URL: "https://pay.example/card", Ref: "kfb9"}}
			lines := []spec.LookLine{{Text: "main"}, {Text: `  button "Order" kfa1`}, {Text: `  frame "Payment" kfb9`}, {Frame: 1, Text: `    button "Pay" kfc1`}, {Text: `  link "Help" kfa2`}}
			if req.Scope != "" {
				frames, lines = frames[1:], []spec.LookLine{{Text: `button "Pay" kfc1`}}
			}
			return spec.LookResult{Frames: frames, Lines: lines, Left: 3, Changes: req.Changes}, nil
		case *spec.Refs:
			out := spec.RefsResult{FrameID: 0, Origin: "https://shop.example", URL: "https://shop.example/"}
			for _, ref := range req.Refs {
				e := spec.RefElement{Ref: ref, Words: `button "Order"`}
				switch ref {
				case "kfa2":
					e.Words, e.Leads = `link "Help"`, "https://help.example"
				case "kfb9":
					e.Words, e.Frame = `frame "Payment"`, &spec.RefFrame{FrameID: 3, Origin: "https://pay.example", URL: "https://pay.example/card"}
				case "kfc1":
					out.FrameID, out.Origin, e.Words = 3, "https://pay.example", `button "Pay"`
				case "kfa7":
					e = spec.RefElement{Ref: ref, Stale: "the element is gone", Near: []string{`button "Order now" kfa8`}}
				}
				out.Refs = append(out.Refs, e)
			}
			return out, nil
		case *spec.Run:
			var steps []spec.StepReport
			for i := range max(1, len(req.Steps)) {
				verb := "click"
				if i < len(req.Steps) {
					verb = pack.Verb(&req.Steps[i])
				}
				steps = append(steps, spec.StepReport{Verb: verb, Did: spec.DidYes, Words: `clicked button "Order"`})
			}
			return spec.RunResult{Steps: steps, Value: json.RawMessage(`{"total":7}`)}, nil
		}
		return nil, nil
	}
	return b
}

func (w *rig) rules(rules ...policy.Rule) {
	w.t.Helper()
	if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error {
		for i := range rules {
			rules[i].ID = fmt.Sprintf("t%d", len(d.Rules)+i)
		}
		d.Rules = append(d.Rules, rules...)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
}

// noRule removes the rules of an effect.
func (w *rig) noRule(effect policy.Effect) {
	w.t.Helper()
	if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error {
		d.Rules = slices.DeleteFunc(d.Rules, func(r policy.Rule) bool { return r.Effect == effect })
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
}

// actsAllowed allows what clients do by themselves at some sites.
func (w *rig) actsAllowed(sites ...string) {
	var rules []policy.Rule
	for _, s := range sites {
		rules = append(rules, policy.Rule{Effect: policy.Allow, Site: s, Class: "act"})
	}
	w.rules(rules...)
}

// A model sees what a page shows, and whose words it reads; a frame of another site only if its owner lets it read that.
func TestSnapshot(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	r := w.call("browser_page", `{"action":"snapshot","tabId":"1"}`)
	text := ""
	for _, c := range r.Content {
		text += c.Text + "\n"
	}
	for _, want := range []string{`Page "Shop" https://shop.example/ tab `, `  button "Order" kfa1`, `    button "Pay" kfc1`, "(3 lines left out"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	b.requests()

	// Not without a question.
	w.rules(policy.Rule{Effect: policy.Ask, Site: "pay.example"})
	r = w.call("browser_page", `{"action":"snapshot","tabId":"1"}`)
	if want := `(the frame kfb9 of pay.example is not shown: a snapshot with scope kfb9 asks the owner)`; len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, want) || strings.Contains(r.Content[0].Text, "Pay\"") {
		t.Errorf("%s", r.raw)
	}
	if got := b.requests(); len(got) != 1 || !strings.Contains(got[0], `"ifOrigin":"https://shop.example"`) || !strings.Contains(got[0], `"viewer":"`) {
		t.Errorf("asked for %q", got)
	}
}

// An act goes to the element of a reference, in its frame, and says what was done.
func TestAct(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	w.actsAllowed("shop.example", "pay.example")
	var done struct {
		Did   []string
		Value json.RawMessage
	}
	ada := &consent.Caller{Principal: &policy.Principal{ID: "ada", Name: "Ada"}, Session: "1"}
	bob := &consent.Caller{Principal: &policy.Principal{ID: "bob", Name: "Bob"}, Session: "2"}
	w.callBy(t.Context(), ada, "browser_page", `{"action":"click","tabId":"1","ref":"kfa1"}`).into(&done)
	if len(done.Did) != 1 || done.Did[0] != `clicked button "Order"` {
		t.Errorf("%+v", done)
	}
	got := b.requests()
	if want := `{"steps":[{"click":{"target":{"ref":"kfa1"}}}],"frameId":0,"origin":"https://shop.example"}`; len(got) != 2 || !strings.HasSuffix(got[1], want) {
		t.Errorf("sent %q, want %s", got, want)
	}
	lines := w.log.Entries(record.Query{})
	if e := lines[len(lines)-1]; e.Tool != "browser_page click" || e.Class != "act" || e.Domain != "shop.example" || e.Outcome != "ok" {
		t.Errorf("recorded %+v", e)
	}

	// With what has changed: the record is of the act.
	changed := w.callBy(t.Context(), ada, "browser_page", `{"action":"click","tabId":"1","ref":"button \"Order\"","changes":true}`)
	if len(changed.Content) < 2 || changed.Content[0].Text != `{"value":{"total":7},"did":["clicked button \"Order\""]}` || changed.Content[1].Text != "main\n  button \"Order\" kfa1\n  frame \"Payment\" kfb9" {
		t.Errorf("%s", changed.raw)
	}
	lines = w.log.Entries(record.Query{})
	if e := lines[len(lines)-1]; e.Class != "act" || string(e.Result) != `{"did":["clicked button \"Order\""]}` {
		t.Errorf("recorded %+v", e)
	}

	// It has leased the tab.
	w.callBy(t.Context(), bob, "browser_page", `{"action":"click","tabId":"1","ref":"kfa1"}`).fails(spec.FailTabLeased, "leased by Ada")
	w.callBy(t.Context(), bob, "browser_page", `{"action":"snapshot","tabId":"1"}`).fails(spec.FailTabLeased, "leased by Ada")
	b.requests()

	// Several fields, a script's steps, and the answer to a dialog that comes before the act.
	w.callBy(t.Context(), ada, "browser_page", `{"action":"fill","tabId":"1","fields":[{"ref":"kfa1","value":"Ann"},{"ref":"kfa3","value":true}]}`).into(&done)
	w.callBy(t.Context(), ada, "browser_page", `{"action":"dialog","tabId":"1","accept":true,"value":"yes"}`)
	w.callBy(t.Context(), ada, "browser_script", `{"tabId":"1","steps":[{"click":"button \"Order\""},{"fill":{"field \"Name\"":"Ann"}}]}`).into(&done)
	w.callBy(t.Context(), ada, "browser_script", `{"tabId":"1","frame":"kfb9","code":"return await page.text()"}`).into(&done)
	var runs []string
	for _, r := range b.requests() {
		if _, run, ok := strings.Cut(r, "browser/run "); ok {
			runs = append(runs, run)
		}
	}
	want := []string{
		`{"steps":[{"fill":{"fields":[{"target":{"ref":"kfa1"},"value":"Ann"},{"target":{"ref":"kfa3"},"value":true}]}}],"frameId":0,"origin":"https://shop.example"}`,
		`{"steps":[{"dialog":{"accept":true,"text":"yes"}},{"click":{"target":{"role":"button","name":"Order"}}},{"fill":{"fields":[{"target":{"label":"Name"},"value":"Ann"}]}}],"origin":"https://shop.example"}`,
		`{"frameId":3,"origin":"https://pay.example","script":"return await page.text()"}`,
	}
	if strings.Join(runs, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(runs, "\n"), strings.Join(want, "\n"))
	}

	// What stands for nothing any more; what leads to a site that is denied; what is no reference.
	w.callBy(t.Context(), ada, "browser_page", `{"action":"click","tabId":"1","ref":"kfa7"}`).fails("STALE_REF", `kfa7: the element is gone; nothing was done. Nearest now: button "Order now" kfa8.`)
	w.rules(policy.Rule{Effect: policy.Deny, Site: "help.example"})
	w.callBy(t.Context(), ada, "browser_page", `{"action":"click","tabId":"1","ref":"kfa2"}`).fails(spec.FailDenied, "help.example")
	w.callBy(t.Context(), ada, "browser_page", `{"action":"click","tabId":"1","ref":"#buy"}`).fails(spec.FailInvalidArguments, "write a reference (kfa3), or role and name")
	w.callBy(t.Context(), ada, "browser_page", `{"action":"upload","tabId":"1","ref":"kfa1","files":["cv.pdf"]}`).fails(spec.FailDenied, "--uploads DIR")
}

// A failure says what was done, and what to do.
func TestActFails(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	w.actsAllowed("shop.example")
	answer := b.own
	b.own = func(req spec.Request) (any, error) {
		if run, ok := req.(*spec.Run); ok {
			reports := []spec.StepReport{{Verb: "click", Did: spec.DidYes, Words: `clicked button "Order"`}, {Verb: "click", Did: spec.DidNo}}
			return spec.RunResult{Steps: reports[:len(run.Steps)], Failed: &spec.StepFailure{Step: len(run.Steps) - 1, Code: spec.StepNotFound, Message: `there is no button "Pay"`, Found: []string{`button "Buy" kfa4`}}}, nil
		}
		return answer(req)
	}
	w.call("browser_script", `{"tabId":"1","steps":[{"click":"kfa1"},{"click":"button \"Pay\""}]}`).fails("STEP_NOT_FOUND",
		`Step 2 of 2 (click button "Pay"): there is no button "Pay". The page has: button "Buy" kfa4. Step 1 was done; nothing after that was. Look at the page before you act again`)
	w.call("browser_script", `{"tabId":"1","steps":[{"tap":"kfa1"}]}`).fails(spec.FailInvalidArguments, `steps[0]: there is no member "tap"`)
	w.call("browser_script", `{"tabId":"1","steps":[{"click":"the button"}]}`).fails(spec.FailInvalidArguments, `steps[0]: click: the target "the button"`)
	w.call("browser_script", `{"tabId":"1"}`).fails(spec.FailInvalidArguments, "either steps or code")

	w.browser("b2", everything, "https://old.example/")
	w.call("browser_page", `{"action":"snapshot","tabId":"`+w.list().id(t, "https://old.example/")+`"}`).fails(spec.FailToolError, "does not offer look")
}

// With label-results each site's words stand between lines that name it, also those in a failure.
func TestLabels(t *testing.T) {
	h := hubtest.Open(t, hub.Options{LabelResults: true})
	w := &rig{t: t, hub: h.Hub, log: h.Recorded, peers: h.Tabs, tools: browsertool.New(h.Hub, nil, nil)}
	w.shop()
	w.actsAllowed("shop.example")
	var of []string
	for _, c := range w.call("browser_page", `{"action":"snapshot","tabId":"1"}`).Content {
		first, rest, _ := strings.Cut(c.Text, "\n")
		of = append(of, strings.Fields(first)[1])
		if !strings.HasPrefix(first, "<<<from ") || !strings.Contains(rest, "\n<<<end of what is from "+of[len(of)-1]) {
			t.Errorf("%s", c.Text)
		}
	}
	if want := []string{"shop.example", "pay.example", "shop.example"}; !slices.Equal(of, want) {
		t.Errorf("words of %q, want %q", of, want)
	}
	if r := w.call("browser_page", `{"action":"click","tabId":"1","ref":"kfa7"}`); !strings.HasPrefix(r.Content[0].Text, "<<<from a page ") {
		t.Errorf("%s", r.raw)
	}
	lines := w.log.Entries(record.Query{})
	if e := lines[len(lines)-1]; e.Outcome != "STALE_REF" {
		t.Errorf("recorded %+v", e)
	}
}

// What is lost on the way may have been done: the client is told so, and how far it had come. What is cancelled is
// cancelled in the browser.
func TestActIsLost(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	w.actsAllowed("shop.example")
	var told []string
	ada := caller("ada", "1")
	ada.Progress = func(p spec.Progress) { told = append(told, p.Message) }
	const steps = `{"tabId":"1","steps":[{"click":"kfa1"},{"click":"kfa3"}]}`
	b.onRun = func(_ context.Context, in tabtransport.Incoming, _ *spec.Run) (spec.Response, error) {
		in.Progress(1, nil, `step 1 of 2: clicked button "Order"`)
		b.local.Send(1, &spec.TabClosed{})
		<-t.Context().Done()
		return spec.Response{}, nil
	}
	w.callBy(t.Context(), ada, "browser_script", steps).fails(spec.FailTabClosed, "it may have done what was asked. The last that was heard of it: step 1 of 2 was done.")
	if !slices.Equal(told, []string{`step 1 of 2: clicked button "Order"`}) {
		t.Errorf("told %q", told)
	}
	begun := w.log.Entries(record.Query{Event: record.Begun})
	if len(begun) != 1 || begun[0].Tool != "browser_script" || begun[0].Class != "act" || begun[0].Call == "" {
		t.Errorf("it began as %+v", begun)
	}

	b2 := w.shopIn("b2")
	cancelled := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	b2.onRun = func(ctx context.Context, in tabtransport.Incoming, _ *spec.Run) (spec.Response, error) {
		cancel()
		<-ctx.Done()
		close(cancelled)
		return spec.Response{}, context.Cause(ctx)
	}
	w.callBy(ctx, ada, "browser_script", strings.Replace(steps, `"1"`, `"`+w.list().browser(t, "b2")+`:1"`, 1))
	<-cancelled
}

// A client uploads the files that the owner has named, and no others.
func TestUploads(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	dir := t.TempDir()
	file := filepath.Join(dir, "cv.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(out, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	w.tools = browsertool.New(w.hub, nil, []string{dir})
	w.actsAllowed("shop.example")
	w.call("browser_page", `{"action":"upload","tabId":"1","ref":"kfa1","files":["cv.txt"]}`)
	if got := b.requests(); len(got) != 2 || !strings.Contains(got[1], `"files":[{"name":"cv.txt","mimeType":"text/plain; charset=utf-8","data":"aGVsbG8="}]`) {
		t.Errorf("sent %q", got)
	}
	for _, name := range []string{"link.txt", "../secret", "none"} {
		w.call("browser_page", `{"action":"upload","tabId":"1","ref":"kfa1","files":["`+name+`"]}`).fails(spec.FailInvalidArguments, `there are "cv.txt"; nothing was done`)
	}
}

// While a person uses the tab that a client has leased, its acts wait or fail; its looks go on.
func TestActWaitsForThePerson(t *testing.T) {
	h := hubtest.Open(t, hub.Options{Handover: call.HandoverFail})
	w := &rig{t: t, hub: h.Hub, log: h.Recorded, peers: h.Tabs, tools: browsertool.New(h.Hub, nil, nil)}
	b := w.shop()
	w.actsAllowed("shop.example")
	ada := caller("ada", "1")
	if r := w.callBy(t.Context(), ada, "browser_page", clickOrder); r.IsError {
		t.Fatalf("%s", r.raw)
	}
	b.local.Send(1, &spec.TabState{InUse: new(true)})
	b.requests()
	w.callBy(t.Context(), ada, "browser_page", clickOrder).fails(spec.FailTabInUse, "nothing was sent")
	if n := b.ran(); n != 0 {
		t.Errorf("%d acts were done meanwhile", n)
	}
	if r := w.callBy(t.Context(), ada, "browser_page", `{"action":"snapshot","tabId":"1"}`); r.IsError {
		t.Errorf("%s", r.raw)
	}
	b.local.Send(1, &spec.TabState{InUse: new(false)})
	if r := w.callBy(t.Context(), ada, "browser_page", clickOrder); r.IsError {
		t.Errorf("%s", r.raw)
	}
}

// What a browser does not say of a step is not told as done, and what was not asked for is not told.
func TestActIsReportedInPart(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	w.actsAllowed("shop.example")
	reports := []spec.StepReport{{Verb: "click", Did: spec.DidYes, Words: `clicked button "Order"`}}
	b.onRun = func(context.Context, tabtransport.Incoming, *spec.Run) (spec.Response, error) {
		raw, err := json.Marshal(spec.RunResult{Steps: reports})
		return spec.Response{Result: raw}, err
	}
	for steps, want := range map[string]string{
		`[{"click":"kfa1"},{"press":"Enter"}]`: `{"did":["clicked button \"Order\"","perhaps: press"]}`,
		`[{"press":"Enter"}]`:                  `{"did":["perhaps: press"]}`,
		`[{"wait":"dialog"},{"click":"kfa1"}]`: `{"did":["perhaps: click"]}`,
	} {
		if r := w.call("browser_script", `{"tabId":"1","steps":`+steps+`}`); r.IsError || r.Content[0].Text != want {
			t.Errorf("%s: %s", steps, r.raw)
		}
	}
	reports = append(reports, spec.StepReport{Verb: "click", Did: spec.DidYes, Words: `clicked button "Pay"`})
	if r := w.call("browser_page", clickOrder); r.IsError || strings.Contains(r.Content[0].Text, "Pay") {
		t.Errorf("%s", r.raw)
	}
	lines := w.log.Entries(record.Query{})
	if e := lines[len(lines)-1]; strings.Contains(string(e.Result), "Pay") {
		t.Errorf("recorded %s", e.Result)
	}
}

// An answer to a dialog is for the session's next act at the same site alone, also if that act is lost.
func TestDialogIsForOneAct(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	ada := caller("ada", "1")
	var sent []int // the steps of each run
	lose := false
	b.onRun = func(_ context.Context, _ tabtransport.Incoming, run *spec.Run) (spec.Response, error) {
		sent = append(sent, len(run.Steps))
		if lose {
			return spec.Response{}, spec.Errorf(spec.CodeInternal, "it broke")
		}
		return spec.Response{Result: json.RawMessage(`{"steps":[]}`)}, nil
	}
	answer := func() {
		t.Helper()
		if r := w.callBy(t.Context(), ada, "browser_page", `{"action":"dialog","tabId":"1","accept":true}`); r.IsError {
			t.Fatalf("%s", r.raw)
		}
	}
	acts := func(steps int, what string) {
		t.Helper()
		sent = nil
		w.callBy(t.Context(), ada, "browser_page", clickOrder)
		if !slices.Equal(sent, []int{steps}) {
			t.Errorf("%s: runs of %d steps, want one of %d", what, sent, steps)
		}
	}
	answer()
	w.rules(policy.Rule{Effect: policy.Deny, Site: "shop.example"})
	w.callBy(t.Context(), ada, "browser_page", clickOrder).fails(spec.FailDenied, "")
	w.noRule(policy.Deny)
	lose = true
	acts(2, "after one that was not sent")
	lose = false
	acts(1, "after one that was lost")
	acts(1, "later")

	answer()
	b.register(1, "https://other.example/", "search")
	acts(1, "at another site")
}

// An error of the browser about an act does not say that nothing was done, unless it says so.
func TestActEndsInAnError(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	var answer error
	b.onRun = func(context.Context, tabtransport.Incoming, *spec.Run) (spec.Response, error) {
		return spec.Response{}, answer
	}
	answer = spec.Errorf(spec.CodeInternal, "it broke.")
	w.call("browser_page", clickOrder).fails(spec.FailToolError, "it broke; it may have been done: look at the page")
	answer = spec.Errorf(spec.CodeInvalidParams, "no step")
	if r := w.call("browser_page", clickOrder); !r.IsError || strings.Contains(string(r.raw), "may have been done") {
		t.Errorf("%s", r.raw)
	}

	// A browser's code is none of the hub's, and what it does not say of the step is in the record.
	b.onRun = func(context.Context, tabtransport.Incoming, *spec.Run) (spec.Response, error) {
		return spec.Response{Result: json.RawMessage(`{"steps":[],"failed":{"step":0,"code":"DENIED","message":"no"}}`)}, nil
	}
	w.call("browser_page", clickOrder).fails(spec.FailToolError, "no. It may have been done.")
	lines := w.log.Entries(record.Query{})
	if e := lines[len(lines)-1]; e.Outcome != string(spec.FailToolError) || string(e.Result) != `{"did":["perhaps: click"]}` {
		t.Errorf("recorded %s %s", e.Outcome, e.Result)
	}

	// More references than a browser says anything about.
	var fields []string
	for i := range 300 {
		fields = append(fields, fmt.Sprintf(`{"target":"kfa%d","value":"x"}`, i+1))
	}
	var steps []string
	for some := range slices.Chunk(fields, 60) {
		steps = append(steps, `{"fill":{"fields":[`+strings.Join(some, ",")+`]}}`)
	}
	w.call("browser_script", `{"tabId":"1","steps":[`+strings.Join(steps, ",")+`]}`).fails(spec.FailInvalidArguments, "300 references, and a call has at most 256")
}

// The record has the words of references, by which it knows fields that hold secrets.
func TestActIsRecordedInWords(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	answer := b.own
	b.own = func(req spec.Request) (any, error) {
		out, err := answer(req)
		if refs, ok := out.(spec.RefsResult); ok {
			refs.Refs[0].Words = `textbox "Password"`
		}
		return out, err
	}
	for _, call := range [][3]string{
		{"browser_page", `{"action":"fill","tabId":"1","ref":"kfa1","value":"kfa1"}`, `{"action":"fill","tabId":"1","ref":"textbox \"Password\" kfa1","value":"kfa1"}`},
		{"browser_script", `{"tabId":"1","steps":[{"fill":{"kfa1":"x"}},{"fill":{"fields":[{"target":{"ref":"kfa1"},"value":"x"}]}}]}`,
			`{"tabId":"1","steps":[{"fill":{"textbox \"Password\" kfa1":"x"}},{"fill":{"fields":[{"target":{"ref":"textbox \"Password\" kfa1"},"value":"x"}]}}]}`},
	} {
		if r := w.call(call[0], call[1]); r.IsError {
			t.Errorf("%s", r.raw)
		}
		lines := w.log.Entries(record.Query{})
		if e := lines[len(lines)-1]; !sameJSON(t, string(e.Args), call[2]) {
			t.Errorf("recorded %s, want %s", e.Args, call[2])
		}
	}
}

// sameJSON reports whether two texts of JSON have the same members.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// A browser cannot make a look larger than was asked for.
func TestSnapshotIsBounded(t *testing.T) {
	w := newRig(t)
	b := w.shop()
	answer := b.own
	b.own = func(req spec.Request) (any, error) {
		if _, ok := req.(*spec.Look); !ok {
			return answer(req)
		}
		out := spec.LookResult{Frames: []spec.LookFrame{{Origin: "https://shop.example", URL: "https://shop.example/"}}, Left: -5}
		for range 20_000 {
			out.Lines = append(out.Lines, spec.LookLine{Text: strings.Repeat("x", 1000)})
		}
		return out, nil
	}
	r := w.call("browser_page", `{"action":"snapshot","tabId":"1"}`)
	if text := r.Content[0].Text; len(text) > 33_000 || !strings.Contains(text, "lines left out") {
		t.Errorf("%d bytes, ending in %q", len(text), text[max(0, len(text)-100):])
	}
}

// A page that joins by itself cannot say that it looks: it could give its words to other sites.
func TestNoLooksByPages(t *testing.T) {
	w := newRig(t)
	conn := tabtransport.Conn{Origin: "https://evil.example", Dialect: spec.Subprotocol, Hello: &spec.Hello{
		ProtocolVersion: spec.ProtocolVersion, TabKey: "k", Capabilities: []spec.Capability{spec.CapLook, spec.CapTrustedInput},
	}}
	page := &fakeBrowser{t: t, own: func(req spec.Request) (any, error) {
		t.Errorf("it was asked for %T", req)
		return nil, nil
	}}
	var err error
	if page.local, err = w.peers.Join(t.Context(), conn, page.serve); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.local.Close)
	page.register(0, "https://evil.example/", "search")
	id := w.list().Browsers[0].BrowserID
	for _, call := range [][2]string{
		{"browser_page", `{"action":"snapshot","browserId":"` + id + `"}`},
		{"browser_page", `{"action":"click","ref":"kfa1","browserId":"` + id + `"}`},
		{"browser_script", `{"code":"return 1","browserId":"` + id + `"}`},
	} {
		w.call(call[0], call[1]).fails(spec.FailToolError, "does not offer look")
	}
}
