package pack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
)

// A pack does nothing that its owner could not read in it: references, and what only a client's own steps do, are in none.
func TestPacksLackWhatIsAClientsOwn(t *testing.T) {
	for _, step := range []string{
		`{"hover":{"target":{"role":"button"}}}`, `{"select":{"target":{"role":"listbox"},"options":["a"]}}`, `{"scroll":{"pages":1}}`,
		`{"drag":{"target":{"role":"row"},"to":{"role":"row"}}}`, `{"upload":{"target":{"role":"button"},"files":[{"name":"a","data":""}]}}`,
		`{"dialog":{"accept":true}}`, `{"look":{}}`, `{"click":{"target":{"ref":"kfa3"}}}`,
		`{"click":{"target":{"role":"button"},"count":2}}`, `{"click":{"target":{"role":"button"},"button":"right"}}`,
	} {
		doc := `{"tabhubPack":1,"name":"p","match":["https://e.com/*"],"tools":[{"name":"t","description":"D","steps":[` + step + `]}]}`
		if _, err := Parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), "there is no member") {
			t.Errorf("%s: %v", step, err)
		}
	}
	doc := `{"tabhubPack":1,"name":"p","match":["https://e.com/*"],"tools":[{"name":"t","description":"D","steps":[{"press":{"key":"Control+A","target":{"role":"textbox"}}}]}]}`
	if _, err := Parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), "key: must be one of") {
		t.Errorf("%v", err)
	}
}

// The owner reads what a client is about to do in the page's words, and the client what was done.
func TestOwnWords(t *testing.T) {
	steps, err := OwnSteps(json.RawMessage(`[
		{"click":{"target":{"ref":"kfa3"},"count":2}}, {"fill":{"fields":[{"target":{"label":"Name"},"value":"Ann ${x}"},{"target":{"ref":"kfa4"},"value":true}]}},
		{"press":{"key":"Control+A"}}, {"select":{"target":{"role":"combobox","name":"Size"},"options":["Large"]}}, {"scroll":{"pages":-1}},
		{"drag":{"target":{"ref":"kfa3"},"to":{"role":"row","nth":2}}}, {"upload":{"target":{"ref":"kfa3"},"files":[{"name":"cv.pdf","data":"AAAAAA=="}]}},
		{"dialog":{"accept":false}}, {"open":{"path":"/cart"}}, {"wait":{"gone":{"role":"dialog"}}}, {"click":{"target":{"selector":"#x"},"button":"right"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	got := OwnWords(steps, map[string]string{"kfa3": `button "Order"`})
	want := []string{
		`double-click button "Order"`, `fill the field "Name" with "Ann ${x}", and kfa4 with true`, `press Control+A`, `select "Large" in combobox "Size"`,
		`scroll the page by -1 pages`, `drag button "Order" to the 2nd row`, `upload "cv.pdf" (4 bytes) to button "Order"`, `dismiss the dialog that a later step opens`,
		`open the page /cart`, `wait until there is no dialog`, `right-click the element "#x" (a selector: it does not say what the element is)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}

	r := &spec.RunResult{Steps: []spec.StepReport{
		{Verb: "click", Did: spec.DidYes, Words: "clicked it"}, {Verb: "read", Did: spec.DidYes}, {Verb: "fill", Did: spec.DidPerhaps, Words: "filled it"}, {Verb: "press", Did: spec.DidNo},
	}, Failed: &spec.StepFailure{Step: 2, Code: spec.StepScript, Message: "x is not defined"}}
	if words, acted := OwnOutcome(nil, r); words != "Done before: clicked it. Perhaps done: filled it." || !acted {
		t.Errorf("%s", words)
	}
	if words := OwnFailure(nil, r); words != "The script failed: x is not defined." {
		t.Errorf("%s", words)
	}
	if did := OwnReport(nil, r, true); !slices.Equal(did, []string{"clicked it", "perhaps: filled it", "not done: press"}) {
		t.Errorf("%q", did)
	}
	for did, want := range map[spec.Did]string{spec.DidNo: "Nothing was done.", spec.DidPerhaps: "It may have been done."} {
		r := &spec.RunResult{Steps: []spec.StepReport{{Verb: "click", Did: did}}, Failed: &spec.StepFailure{Code: spec.StepLost}}
		if words, acted := OwnOutcome(steps[:1], r); words != want || acted != (did != spec.DidNo) {
			t.Errorf("%s: %s", did, words)
		}
	}
}
