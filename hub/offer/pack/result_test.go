package pack

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// A call that is told as done when half of it was, or as not done when it may have been, makes a model
// order twice.
func TestResultSaysWhatWasDone(t *testing.T) {
	order := parse(t, read(t, "shop.json")).Tool("order")
	find := parse(t, read(t, "shop.json")).Tool("find_products")
	said := func(verb string, did spec.Did, words string) spec.StepReport {
		return spec.StepReport{Verb: verb, Did: did, Words: words}
	}
	opened, readIt := said("open", spec.DidYes, "opened /cart"), said("read", spec.DidYes, "")
	filled, clicked := said("fill", spec.DidYes, `filled textbox "Note"`), said("click", spec.DidYes, `clicked button "Order"`)
	fail := func(step int, code spec.StepCode, found ...string) *spec.StepFailure {
		return &spec.StepFailure{Step: step, Code: code, Message: "there is no such element", Found: found}
	}
	for _, test := range []struct {
		name   string
		tool   *Tool
		result spec.RunResult
		says   []string
		not    string
	}{
		{"the page has changed", order, spec.RunResult{Steps: []spec.StepReport{opened, readIt, filled}, Failed: fail(3, spec.StepNotFound, `button "Buy"`)},
			[]string{`Step 4 of 6 (clicks button "Order" in form "Checkout") failed with STEP_NOT_FOUND`, `The page has: button "Buy".`, "Steps 1-3 were done; step 4 may have been done; nothing after that was.", "`tabhub pack test shop-tools --act`"}, ""},
		{"the step says that it was not done", order, spec.RunResult{Steps: []spec.StepReport{opened, readIt, filled, said("click", spec.DidNo, "")}, Failed: fail(3, spec.StepNotFound)},
			[]string{"Steps 1-3 were done; nothing after that was."}, "may have"},
		{"the first step was not done", order, spec.RunResult{Steps: []spec.StepReport{said("open", spec.DidNo, "")}, Failed: fail(0, spec.StepRefused)}, []string{"Nothing was done."}, "may have"},
		{"reading failed", find, spec.RunResult{Failed: fail(0, spec.StepAnswer)}, []string{"Nothing was done."}, "may have"},
		{"only reading was done", order, spec.RunResult{Steps: []spec.StepReport{said("open", spec.DidNo, ""), readIt}, Failed: fail(1, spec.StepNotFound)}, []string{"Nothing was done."}, "may have"},
		{"the document is lost", order, spec.RunResult{Steps: []spec.StepReport{opened, readIt, filled, said("click", spec.DidPerhaps, "")}, Failed: fail(3, spec.StepLost)},
			[]string{"Steps 1-3 were done; step 4 may have been done; nothing after that was."}, "Nothing was done"},
		{"it failed after all that acts", order, spec.RunResult{Steps: []spec.StepReport{opened, readIt, filled, clicked, said("wait", spec.DidYes, "")}, Failed: fail(5, spec.StepTimeout)},
			[]string{"Steps 1-5 were done; nothing after that was.", "Look at the page before"}, "may have"},
		{"reports are missing", order, spec.RunResult{Failed: fail(5, spec.StepTimeout)}, []string{"Steps 1, 3-4 may have been done; nothing after that was."}, "Nothing was done"},
		{"the failure is of no step", order, spec.RunResult{Failed: fail(99, spec.StepStopped)}, []string{"The call failed with STEP_STOPPED", "may have been done"}, "Nothing was done"},
		{"a report is of another step", order, spec.RunResult{Steps: []spec.StepReport{said("read", spec.DidNo, "")}, Failed: fail(0, spec.StepStopped)}, []string{"Step 1 may have been done"}, "Nothing was done"},
		{"it misfits after acts", find, spec.RunResult{Steps: []spec.StepReport{said("request", spec.DidYes, "")}, Value: json.RawMessage(`{"products":[{"price":1}]}`)},
			[]string{`does not fit the tool's outputSchema: /products/0`, "Nothing was changed.", "`tabhub pack test shop-tools`", `{"products":[{"price":1}]}`}, "Done"},
		{"it is no object", find, spec.RunResult{Value: json.RawMessage(`[1]`)}, []string{"it is no object"}, ""},
		{"there is none", find, spec.RunResult{}, []string{"there is none"}, ""},
	} {
		payload, failed := test.tool.Result(&test.result)
		text := string(payload)
		if !failed || string(rawjson.Get(payload, "isError")) != "true" {
			t.Errorf("%s: it has not failed: %s", test.name, text)
		}
		for e := range rawjson.Elements(rawjson.Get(payload, "content")) {
			text, _ = rawjson.String(rawjson.Get(e, "text"))
		}
		for _, words := range test.says {
			if !strings.Contains(text, words) {
				t.Errorf("%s: %q is not in\n%s", test.name, words, text)
			}
		}
		if test.not != "" && strings.Contains(text, test.not) {
			t.Errorf("%s: %q is in\n%s", test.name, test.not, text)
		}
	}
}

func TestResultGivesTheValue(t *testing.T) {
	p := parse(t, read(t, "shop.json"))
	payload, failed := p.Tool("find_products").Result(&spec.RunResult{Steps: []spec.StepReport{{Verb: "request", Did: spec.DidYes}}, Value: json.RawMessage(`{"products":[]}`)})
	if want := `{"content":[{"type":"text","text":"{\"products\":[]}"}],"structuredContent":{"products":[]}}`; failed || string(payload) != want {
		t.Errorf("%s", payload)
	}
	payload, failed = p.Tool("add_to_cart").Result(&spec.RunResult{Steps: []spec.StepReport{{Verb: "request", Did: spec.DidYes, Words: "sent POST /api/cart/m1\n\u202e"}}, Value: json.RawMessage(`"ok"`)})
	if want := `{"content":[{"type":"text","text":"ok"},{"type":"text","text":"Done: 1. sent POST /api/cart/m1"}]}`; failed || string(payload) != want {
		t.Errorf("%s", payload)
	}
	payload, _ = p.Tool("add_to_cart").Result(&spec.RunResult{Steps: []spec.StepReport{{Verb: "request", Did: spec.DidPerhaps}}})
	if !strings.Contains(string(payload), "whether it was done is not known") {
		t.Errorf("%s", payload)
	}
}

func TestLossWords(t *testing.T) {
	p := parse(t, read(t, "shop.json"))
	order := p.Tool("order")
	did := []spec.StepReport{{Verb: "open", Did: spec.DidYes}, {Verb: "read", Did: spec.DidYes}}
	for _, test := range []struct{ got, want string }{
		{order.LossWords(nil), "It may have taken effect."},
		{order.LossWords(did), "Steps 1-2 were done; steps 3-4 may have been done."},
		{p.Tool("find_products").LossWords(nil), "Nothing was changed: it only reads."},
		{parse(t, read(t, "script.json")).Tool("count_words").LossWords(did), "It may have taken effect."},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

// What a script's tool gives is the answer of MCP as it is, but for what its outputSchema does not let through.
func TestResultOfAScript(t *testing.T) {
	script := parse(t, []byte(`{"tabhubPack": 1, "name": "counter", "match": ["https://blog.example.net/*"], "script": "0", "tools": [
		{"name": "count_words", "description": "Counts.", "outputSchema": {"type": "object", "properties": {"words": {"type": "integer"}}}}]}`))
	registered := &Tool{PackTool: spec.PackTool{Name: "shown"}, Pack: script} // by the script alone
	for _, test := range []struct {
		tool   *Tool
		result string // RunResult
		want   string // of the payload, its beginning or "!" and a part of a failure
	}{
		{registered, `{"steps":[],"value":{"content":[{"type":"text","text":"a"}]}}`, `{"content":[{"type":"text","text":"a"}]}`},
		{registered, `{"steps":[],"value":{"content":[],"isError":true}}`, `{"content":[],"isError":true}`},
		{registered, `{"steps":[]}`, "!do not repeat the call"},
		{registered, `{"steps":[],"failed":{"step":0,"code":"STEP_SCRIPT","message":"no such note"}}`, "!The pack's script failed with STEP_SCRIPT: no such note. What the script had done"},
		{script.Tool("count_words"), `{"steps":[],"value":{"content":[],"structuredContent":{"words":"many"}}}`, "!does not fit the tool's outputSchema: /words"},
	} {
		var r spec.RunResult
		if err := json.Unmarshal([]byte(test.result), &r); err != nil {
			t.Fatal(err)
		}
		payload, failed := test.tool.Result(&r)
		words, fails := strings.CutPrefix(test.want, "!")
		if failed != fails || !fails && string(payload) != words || !strings.Contains(string(payload), words) {
			t.Errorf("%s: %v, %s", test.result, failed, payload)
		}
	}
}
